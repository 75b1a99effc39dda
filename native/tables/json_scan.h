// Texts of JSON that readers cannot be trusted with: objects that may have a key twice, of which every reader takes
// another value, and nesting so deep that some take very long or overflow the stack.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace {

class JsonScan {
 public:
  // How deeply the text scanned last is nested.
  size_t depth() const { return depth_; }

  // Whether an object has two keys with the same bytes, or one with an escape, which may be any other key. A text that
  // is not JSON gives either answer.
  bool may_repeat_key(std::string_view text) {
    depth_ = 0;
    keys_.clear();
    open_.clear();
    bool key_follows = false, found = false;
    for (size_t i = 0; i < text.size(); ++i) {
      switch (text[i]) {
        case '"': {
          const size_t begin = i + 1;
          bool escaped = false;
          for (++i; i < text.size() && text[i] != '"'; ++i) {
            if (text[i] == '\\') escaped = true, ++i;
          }
          if (key_follows) {
            found |= escaped;
            keys_.push_back(text.substr(begin, std::min(i, text.size()) - begin));
          }
          key_follows = false;
          break;
        }
        case '{':
          open(keys_.size());
          key_follows = true;
          break;
        case '[':
          open(kList);
          key_follows = false;
          break;
        case '}':
        case ']': found |= close(); break;
        case ',': key_follows = !open_.empty() && open_.back() != kList; break;
        default: break;
      }
    }
    while (!open_.empty()) found |= close();
    return found;
  }

 private:
  static constexpr size_t kList = size_t(-1);

  void open(size_t begin) {
    open_.push_back(begin);
    depth_ = std::max(depth_, open_.size());
  }

  // Ends the innermost list or object; whether the object has a key twice.
  bool close() {
    if (open_.empty()) return false;
    const size_t begin = open_.back();
    open_.pop_back();
    if (begin == kList) return false;
    const auto first = keys_.begin() + ptrdiff_t(begin);
    std::sort(first, keys_.end());
    const bool twice = std::adjacent_find(first, keys_.end()) != keys_.end();
    keys_.resize(begin);
    return twice;
  }

  std::vector<std::string_view> keys_;  // of all objects that are open, one after the other
  std::vector<size_t> open_;            // where the keys of each begin, or kList
  size_t depth_ = 0;
};

}  // namespace
