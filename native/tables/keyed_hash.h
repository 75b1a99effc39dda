// Hashes under a random key of this process, so that nobody can choose ids that collide. They only say where to look:
// no result depends on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace {

class KeyedHash {
 public:
  // The key is drawn from the operating system when first needed.
  static const KeyedHash& of_process() {
    static const KeyedHash hash;
    return hash;
  }

  // Codes of ids are chosen too, by the order of ids. One step is enough for so few bits.
  uint64_t operator()(uint32_t code) const { return folded(code ^ key_[0], key_[1]); }

  uint64_t operator()(int64_t id) const { return folded(folded(uint64_t(id) ^ key_[0], key_[1]) ^ key_[2], key_[3]); }

  // SipHash-1-3 (Aumasson and Bernstein), but in the byte order of the machine.
  uint64_t operator()(std::string_view id) const {
    uint64_t a = key_[0] ^ 0x736f6d6570736575u, b = key_[1] ^ 0x646f72616e646f6du;
    uint64_t c = key_[0] ^ 0x6c7967656e657261u, d = key_[1] ^ 0x7465646279746573u;
    const auto round = [&] {
      a += b, c += d;
      b = rotated(b, 13) ^ a, d = rotated(d, 16) ^ c;
      a = rotated(a, 32);
      c += b, a += d;
      b = rotated(b, 17) ^ c, d = rotated(d, 21) ^ a;
      c = rotated(c, 32);
    };
    const auto add = [&](uint64_t word) {
      d ^= word;
      round();
      a ^= word;
    };
    const char *next = id.data(), *last = next + id.size() / 8 * 8;
    for (uint64_t word; next < last; next += 8) {
      std::memcpy(&word, next, 8);
      add(word);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, next, id.size() % 8);
    add(rest ^ uint64_t(id.size()) << 56);
    c ^= 0xff;
    round(), round(), round();
    return a ^ b ^ c ^ d;
  }

 private:
  KeyedHash() {
    std::random_device system;
    for (uint64_t& word : key_) word = uint64_t(system()) << 32 | system();
    key_[1] |= 1;
    key_[3] |= 1;
  }

  // Both halves of a product, one over the other.
  static uint64_t folded(uint64_t x, uint64_t y) {
#if defined(_MSC_VER) && !defined(__clang__)
    return x * y ^ __umulh(x, y);
#else
    const unsigned __int128 product = static_cast<unsigned __int128>(x) * y;
    return uint64_t(product) ^ uint64_t(product >> 64);
#endif
  }

  static uint64_t rotated(uint64_t x, int by) { return x << by | x >> (64 - by); }

  uint64_t key_[4];
};

}  // namespace
