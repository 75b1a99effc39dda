// Sums over users who are drawn a Poisson(1) number of times, for the bootstrap. A draw is keyed by (seed, user,
// resample) and values are integers in floats whose sums stay below 2^53, so that every sum is exact: neither order nor
// pieces nor threads change it, and sums over parts of the users add up.
#pragma once

#include <cstdint>

#include "buffer.h"
#include "kernels.h"
#include "signs.h"

namespace {

constexpr int kDrawsPerWord = 4;  // of 16 bits each

// A draw is the number of these that 16 random bits reach: Poisson(1), each probability rounded to 2^-16, at most 8.
constexpr uint16_t kPoissonBounds[] = {24109, 48218, 60273, 64291, 65296, 65497, 65530, 65535};

class ResampledSums {
 public:
  ResampledSums(const Resamples& resamples, Pieces& pieces)
      : pieces_(pieces), resamples_(resamples), bits_(kDrawsPerWord * kResampleWords),
        times_(kDrawsPerWord * kResampleWords), sums_(kDrawsPerWord * kResampleWords * int64_t(resamples.columns)) {}

  // The sums of the resamples of words [begin, end), at most kResampleWords.
  void add_up(int64_t begin, int64_t end, double* out) {
    const int columns = resamples_.columns, count = kDrawsPerWord * int(end - begin);
    for (int64_t at = 0; at < int64_t(count) * columns; ++at) sums_[at] = 0;
    for (int64_t user = 0; user < resamples_.users; ++user) {
      if (user % kCheckEvery == 0) pieces_.check_stop();
      draw(stream_of(resamples_.seed, resamples_.user[user]), begin, end);
      for (int column = 0; column < columns; ++column)
        add(resamples_.values[user * columns + column], sums_.at(int64_t(column) * count), count);
    }
    for (int at = 0; at < count; ++at) {
      const int64_t resample = kDrawsPerWord * begin + at;
      if (resample >= resamples_.count) break;
      for (int column = 0; column < columns; ++column)
        out[resample * columns + column] = sums_[int64_t(column) * count + at];
    }
  }

 private:
  void draw(uint64_t stream, int64_t begin, int64_t end) {
    uint16_t* __restrict bits = bits_.at(0);
    double* __restrict times = times_.at(0);
    const int count = kDrawsPerWord * int(end - begin);
    for (int64_t w = begin; w < end; ++w) {
      const uint64_t word = sign_word(stream, w);
      for (int j = 0; j < kDrawsPerWord; ++j) bits[kDrawsPerWord * (w - begin) + j] = uint16_t(word >> (16 * j));
    }
    for (int at = 0; at < count; ++at) {
      int reached = 0;
      for (const uint16_t bound : kPoissonBounds) reached += bits[at] >= bound;
      times[at] = reached;
    }
  }

  void add(double value, double* __restrict sums, int count) {
    const double* __restrict times = times_.at(0);
    for (int at = 0; at < count; ++at) sums[at] += times[at] * value;
  }

  Pieces& pieces_;
  Resamples resamples_;
  Buffer<uint16_t> bits_;
  Buffer<double> times_, sums_;
};

}  // namespace
