// Columns of text as the Arrow C stream interface hands them over: read in place, whatever library holds them.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/interpreter.h"

namespace {

// The ABI of the Arrow C data and stream interfaces, which is fixed.
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

// Released when they go out of scope.
template <class T>
struct Released : T {
  Released() { this->release = nullptr; }
  Released(const Released&) = delete;
  ~Released() {
    if (this->release) this->release(this);
  }
};

// All texts of a stream without nulls, as views into its memory: UTF-8 with 32- or 64-bit offsets, or string views.
class TextColumn {
 public:
  explicit TextColumn(ArrowArrayStream* stream) {
    if (!stream->release) throw std::invalid_argument("the stream has been read");
    Released<ArrowSchema> schema;
    if (stream->get_schema(stream, &schema)) throw std::runtime_error("the stream has no schema");
    const std::string_view format = schema.format;
    if (format != "vu" && format != "u" && format != "U") throw std::invalid_argument("a column of text is wanted");
    for (;;) {
      chunks_.push_back(std::make_unique<Released<ArrowArray>>());
      if (stream->get_next(stream, chunks_.back().get())) throw std::runtime_error("the stream broke off");
      const ArrowArray& chunk = *chunks_.back();
      if (!chunk.release) break;
      if (format == "vu") add_views(chunk);
      else if (format == "u") add_offsets<int32_t>(chunk);
      else add_offsets<int64_t>(chunk);
    }
  }

  const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  template <class Offset>
  void add_offsets(const ArrowArray& chunk) {
    const Offset* offsets = static_cast<const Offset*>(chunk.buffers[1]) + chunk.offset;
    const char* bytes = static_cast<const char*>(chunk.buffers[2]);
    for (int64_t row = 0; row < chunk.length; ++row)
      add({bytes + offsets[row], size_t(offsets[row + 1] - offsets[row])});
  }

  // 16 bytes each: the length, then the text itself up to 12 bytes, or 4 bytes of it, a buffer's number and an offset.
  void add_views(const ArrowArray& chunk) {
    const char* views = static_cast<const char*>(chunk.buffers[1]) + chunk.offset * 16;
    for (int64_t row = 0; row < chunk.length; ++row, views += 16) {
      int32_t part[4];
      std::memcpy(part, views, 16);
      const char* text = part[0] <= 12 ? views + 4 : static_cast<const char*>(chunk.buffers[2 + part[2]]) + part[3];
      add({text, size_t(part[0])});
    }
  }

  void add(std::string_view text) {
    if (texts_.size() % 4096 == 0) interrupts_.poll();
    texts_.push_back(text);
  }

  Interrupts interrupts_;

  std::vector<std::unique_ptr<Released<ArrowArray>>> chunks_;
  std::vector<std::string_view> texts_;
};

}  // namespace
