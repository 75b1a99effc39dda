// The door from Python to what tables are read by: ids, texts, and lines brought together by page. Numbers of users,
// items and judgments may be unknown ones, here and in pages.cpp.
#include <algorithm>
#include <string_view>
#include <vector>

#include "core/arrays.h"
#include "core/interpreter.h"
#include "core/parallel.h"
#include "tables/arrow.h"
#include "tables/code_map.h"
#include "tables/ids.h"
#include "tables/json_scan.h"
#include "tables/membership.h"
#include "tables/page_reader.h"

using namespace nb::literals;

namespace {

TextColumn text_column(const nb::capsule& stream) {
  auto* source = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(stream.ptr(), "arrow_array_stream"));
  if (!source) throw nb::python_error();
  return TextColumn(source);
}

class Ids {
 public:
  nb::tuple add_ints(In<int64_t, 1> ids, int threads) {
    if (texts_.size()) throw nb::type_error("ids are all integers or all text");
    return add(ints_, ids.data(), ids.shape(0), threads);
  }

  nb::tuple add_texts(nb::capsule stream, int threads) {
    const TextColumn column = text_column(stream);
    if (ints_.size()) throw nb::type_error("ids are all integers or all text");
    return add(texts_, column.texts().data(), column.texts().size(), threads);
  }

  size_t size() const { return ints_.size() + texts_.size(); }

 private:
  template <class Id>
  nb::tuple add(Codes<Id>& codes, const Id* ids, size_t count, int threads) {
    const InUse in_use(in_use_);
    Uninitialized<uint32_t> out(count);
    std::vector<int64_t> firsts;
    codes.add(ids, int64_t(count), out.data(), firsts, threads);
    return nb::make_tuple(to_numpy(std::move(out), {count}), to_numpy(std::move(firsts)));
  }

  // Other threads and signal handlers may come by while a call waits for its threads or looks at signals.
  struct InUse {
    explicit InUse(bool& flag) : flag(flag) {
      if (flag) throw std::runtime_error("another call is adding ids");
      flag = true;
    }
    ~InUse() { flag = false; }
    bool& flag;
  };

  bool in_use_ = false;
  Codes<int64_t> ints_;
  Codes<std::string_view> texts_;
};

// FNV-1a, 64 bits, of every text's bytes: published, and the same on every machine and in every language. It keys what
// is drawn for a user; tables are keyed otherwise (keyed_hash.h).
Out<uint64_t> text_hashes(nb::capsule stream) {
  const TextColumn column = text_column(stream);
  std::vector<uint64_t> hashes;
  hashes.reserve(column.texts().size());
  Interrupts interrupts;
  for (const std::string_view text : column.texts()) {
    if (hashes.size() % 64 == 0) interrupts.poll();
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char letter : text) hash = (hash ^ uint8_t(letter)) * 0x100000001b3u;
    hashes.push_back(hash);
  }
  return to_numpy(std::move(hashes));
}

nb::tuple scan_json(nb::capsule stream) {
  const TextColumn column = text_column(stream);
  std::vector<int64_t> suspects, depths(column.texts().size());
  {
    const Unlocked unlocked;
    Interrupts interrupts;
    JsonScan scan;
    for (size_t text = 0; text < column.texts().size(); ++text) {
      if (text % 1024 == 0) interrupts.poll();
      if (scan.may_repeat_key(column.texts()[text])) suspects.push_back(int64_t(text));
      depths[text] = int64_t(scan.depth());
    }
  }
  return nb::make_tuple(to_numpy(std::move(suspects)), to_numpy(std::move(depths)));
}

void require_pages(size_t pages) { require(pages <= kNone, "pages must be at most 4,294,967,295"); }

constexpr size_t kLineStep = 1 << 20;  // lines, between two looks at signals

nb::object page_runs(In<uint32_t, 2> lines, size_t pages) {
  const Line* line = records_of<Line>(lines);
  const size_t count = lines.shape(0);
  require_pages(pages);
  std::vector<int64_t> begin(pages, 0), end(pages, 0);
  bool together = true;
  {
    const Unlocked unlocked;
    Interrupts interrupts;
    for (size_t n = 0, runs = 0; n < count && together; ++runs) {
      if (runs % 64 == 0) interrupts.poll();
      const uint32_t page = line[n].page;
      require(page < pages, "a line's page must be below pages");
      if (end[page] != 0) together = false;
      begin[page] = int64_t(n);
      while (n < count && line[n].page == page) ++n;
      end[page] = int64_t(n);
    }
  }
  if (!together) return nb::none();
  return nb::make_tuple(to_numpy(std::move(begin)), to_numpy(std::move(end)));
}

nb::tuple sorted_lines(In<uint32_t, 2> lines, size_t pages) {
  const Line* line = records_of<Line>(lines);
  const size_t count = lines.shape(0);
  require_pages(pages);
  std::vector<int64_t> begin(pages, 0), end(pages, 0);
  Uninitialized<uint32_t> sorted(count * 4);
  {
    const Unlocked unlocked;
    Interrupts interrupts;
    for (size_t n = 0; n < count; ++n) {
      if (n % kLineStep == 0) interrupts.poll();
      require(line[n].page < pages, "a line's page must be below pages");
      ++end[line[n].page];
    }
    int64_t total = 0;
    for (size_t page = 0; page < pages; ++page) {
      const int64_t size = end[page];
      begin[page] = end[page] = total;
      total += size;
    }
    Line* out = reinterpret_cast<Line*>(sorted.data());
    for (size_t n = 0; n < count; ++n) {
      if (n % kLineStep == 0) interrupts.poll();
      out[end[line[n].page]++] = line[n];
    }
  }
  return nb::make_tuple(to_numpy(std::move(sorted), {count, 4}), to_numpy(std::move(begin)), to_numpy(std::move(end)));
}

// What lines show of every category: its only user (kNone: nobody, kSeveral: several), and on each grid the last
// occupied column and that of pinned rows.
nb::tuple shown_carousels(In<uint32_t, 2> lines, In<uint32_t, 1> user, In<uint8_t, 1> grid, size_t grids,
                          size_t categories) {
  const Line* line = records_of<Line>(lines);
  require(user.shape(0) == grid.shape(0), "every page must have a user and a grid");
  for (size_t page = 0; page < grid.shape(0); ++page) require(grid.data()[page] < grids, "pages must have a grid");
  require(grids <= 256, "grids must be at most 256");
  require(categories <= kSeveral, "categories must be at most 4,294,967,294");
  std::vector<uint32_t> owner(categories, kNone);
  std::vector<int32_t> longest(grids * categories), longest_pinned(grids * categories);
  {
    const Unlocked unlocked;
    Interrupts interrupts;
    for (const Line *begin = line, *end = line + lines.shape(0); line < end; ++line) {
      if (size_t(line - begin) % kLineStep == 0) interrupts.poll();
      require(line->page < user.shape(0), "a line's page must have a user");
      if (line->category >= categories) continue;
      const uint32_t shown_to = user.data()[line->page];
      uint32_t& only = owner[line->category];
      only = only == kNone || only == shown_to ? shown_to : kSeveral;
      const size_t entry = grid.data()[line->page] * categories + line->category;
      longest[entry] = std::max(longest[entry], line->col());
      if (line->pinned()) longest_pinned[entry] = std::max(longest_pinned[entry], line->col());
    }
  }
  return nb::make_tuple(to_numpy(std::move(owner)), to_numpy(std::move(longest), {grids, categories}),
                        to_numpy(std::move(longest_pinned), {grids, categories}));
}

Out<int64_t> order_within(In<int64_t, 1> offsets, In<uint32_t, 1> item, In<uint32_t, 1> rank, int threads) {
  const Offsets lists = checked_offsets(offsets, item.shape(0), "offsets");
  for (size_t j = 0; j < item.shape(0); ++j) require(item.data()[j] < rank.shape(0), "every item must have a rank");
  Uninitialized<int64_t> order(item.shape(0));
  parallel_for(lists.count, 4096, threads, [&](WorkQueue& queue) {
    for_each(queue, [&](int64_t list) {
      const int64_t begin = lists.begin(list), end = lists.end(list);
      for (int64_t j = begin; j < end; ++j) order.data()[j] = j;
      std::sort(order.data() + begin, order.data() + end, [&](int64_t a, int64_t b) {
        const uint32_t left = rank.data()[item.data()[a]], right = rank.data()[item.data()[b]];
        return left < right || (left == right && a < b);
      });
    });
  });
  return to_numpy(std::move(order), {item.shape(0)});
}

Out<int64_t> judged_twice(In<int64_t, 1> offsets, In<uint32_t, 1> item) {
  const Offsets lists = checked_offsets(offsets, item.shape(0), "offsets");
  std::vector<int64_t> groups;
  CodeMap counts;
  Interrupts interrupts;
  for (int64_t list = 0; list < lists.count; ++list) {
    if (list % 64 == 0) interrupts.poll();
    counts.clear(size_t(lists.size(list)));
    bool twice = false;
    for (int64_t j = lists.begin(list), end = lists.end(list); j < end; ++j)
      twice |= counts.at(item.data()[j], 0)++ > 0;
    if (twice) groups.push_back(list);
  }
  return to_numpy(std::move(groups));
}

}  // namespace

void bind_tables(nb::module_& m) {
  m.attr("NONE") = kNone;
  m.attr("SEVERAL") = kSeveral;
  m.attr("UNLIMITED") = Carousels::kUnlimited;
  nb::class_<Ids>(m, "Ids", "Dense codes for integers or texts, in order of first appearance.")
      .def(nb::init<>())
      .def("add_ints", &Ids::add_ints, "ids"_a, "threads"_a, "Codes of integers, and where each new one first stands.")
      .def("add_texts", &Ids::add_texts, "stream"_a, "threads"_a,
           "Codes of an Arrow stream of texts, and where each new one first stands.")
      .def("__len__", &Ids::size);
  m.def("scan_json", &scan_json, "stream"_a,
        "Texts of JSON, by number, in which an object has a key twice, or one with an escape; and how deeply each text "
        "is nested.");
  m.def("text_hashes", &text_hashes, "stream"_a, "64-bit hashes of an Arrow stream of texts (FNV-1a).");
  m.def("page_runs", &page_runs, "lines"_a, "pages"_a,
        "Where each page's lines begin and end; None unless those of every page stand together.");
  m.def("sorted_lines", &sorted_lines, "lines"_a, "pages"_a,
        "Lines sorted by page, otherwise in their order, and where each page's begin and end.");
  m.def(
      "shown_carousels", &shown_carousels, "lines"_a, "user"_a, "grid"_a, "grids"_a, "categories"_a,
      "Per category: its only user (NONE, SEVERAL), and on each grid the last column of its rows, and of pinned ones.");
  m.def("order_within", &order_within, "offsets"_a, "item"_a, "rank"_a, "threads"_a,
        "An order by the rank of items inside each list, so that no result depends on the order of lines.");
  m.def("judged_twice", &judged_twice, "offsets"_a, "item"_a, "The lists that hold an item more than once.");
}
