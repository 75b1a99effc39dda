// The door from Python into what reads tables: ids, pages from lines, candidates of ideals. As in module.cpp, what
// could make a kernel read past its arrays is checked here. Numbers of users, items and judgments may be unknown ones.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "arrow.h"
#include "candidate_gatherer.h"
#include "hits.h"
#include "ids.h"
#include "interrupts.h"
#include "json_scan.h"
#include "page_reader.h"
#include "parallel.h"
#include "unlocked.h"

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
    for (size_t at = 0; at < column.texts().size(); ++at) {
      if (at % 1024 == 0) interrupts.poll();
      if (scan.may_repeat_key(column.texts()[at])) suspects.push_back(int64_t(at));
      depths[at] = int64_t(scan.depth());
    }
  }
  return nb::make_tuple(to_numpy(std::move(suspects)), to_numpy(std::move(depths)));
}

const Line* lines_of(const In<uint32_t, 2>& lines) {
  require(lines.shape(1) == 4, "a line has four numbers: page, item, category and place");
  return reinterpret_cast<const Line*>(lines.data());
}

void require_pages(size_t pages) { require(pages <= kNone, "pages must be at most 4,294,967,295"); }

constexpr size_t kLineStep = 1 << 20;  // lines, between two looks at signals

nb::object page_runs(In<uint32_t, 2> lines, size_t pages) {
  const Line* line = lines_of(lines);
  const size_t count = lines.shape(0);
  require_pages(pages);
  std::vector<int64_t> begin(pages, 0), end(pages, 0);
  bool together = true;
  {
    const Unlocked unlocked;
    Interrupts interrupts;
    for (size_t at = 0, runs = 0; at < count && together; ++runs) {
      if (runs % 64 == 0) interrupts.poll();
      const uint32_t page = line[at].page;
      require(page < pages, "a line's page must be below pages");
      if (end[page] != 0) together = false;
      begin[page] = int64_t(at);
      while (at < count && line[at].page == page) ++at;
      end[page] = int64_t(at);
    }
  }
  if (!together) return nb::none();
  return nb::make_tuple(to_numpy(std::move(begin)), to_numpy(std::move(end)));
}

nb::tuple sorted_lines(In<uint32_t, 2> lines, size_t pages) {
  const Line* line = lines_of(lines);
  const size_t count = lines.shape(0);
  require_pages(pages);
  std::vector<int64_t> begin(pages, 0), end(pages, 0);
  Uninitialized<uint32_t> sorted(count * 4);
  {
    const Unlocked unlocked;
    Interrupts interrupts;
    for (size_t at = 0; at < count; ++at) {
      if (at % kLineStep == 0) interrupts.poll();
      require(line[at].page < pages, "a line's page must be below pages");
      ++end[line[at].page];
    }
    int64_t total = 0;
    for (size_t page = 0; page < pages; ++page) {
      const int64_t size = end[page];
      begin[page] = end[page] = total;
      total += size;
    }
    Line* out = reinterpret_cast<Line*>(sorted.data());
    for (size_t at = 0; at < count; ++at) {
      if (at % kLineStep == 0) interrupts.poll();
      out[end[line[at].page]++] = line[at];
    }
  }
  return nb::make_tuple(to_numpy(std::move(sorted), {count, 4}), to_numpy(std::move(begin)), to_numpy(std::move(end)));
}

Lists lists_of(const In<int64_t, 1>& offsets, size_t size, const char* name) {
  require_offsets(offsets, size, name);
  return {offsets.data(), int64_t(offsets.shape(0)) - 1};
}

using MembershipArrays = std::tuple<In<int64_t, 1>, In<uint32_t, 1>, In<int64_t, 1>, In<uint64_t, 1>>;

Membership membership_of(const MembershipArrays& arrays, const Carousels& carousels) {
  const auto& [offsets, categories, personal_offsets, personal] = arrays;
  require(offsets.is_valid() && categories.is_valid() && personal_offsets.is_valid() && personal.is_valid(),
          "membership must have four arrays");
  return {lists_of(offsets, categories.shape(0), "membership"), categories.data(),
          lists_of(personal_offsets, personal.shape(0), "personal membership"), personal.data(), carousels};
}

using CarouselArrays = std::tuple<In<int32_t, 1>, In<uint8_t, 1>, In<int64_t, 1>, In<uint64_t, 1>>;

Carousels carousels_of(const std::optional<CarouselArrays>& arrays) {
  if (!arrays) return {};
  const auto& [capacity, restricted, own_offsets, own] = *arrays;
  require(capacity.is_valid() && restricted.is_valid() && own_offsets.is_valid() && own.is_valid(),
          "carousels must have four arrays");
  require(capacity.shape(0) == restricted.shape(0), "every category must have a capacity");
  for (size_t k = 0; k < capacity.shape(0); ++k) require(capacity.data()[k] >= 0, "capacities must be 0 or more");
  return {capacity.data(), restricted.data(), uint32_t(capacity.shape(0)),
          lists_of(own_offsets, own.shape(0), "own carousels"), own.data()};
}

constexpr uint32_t kSeveral = kNone - 1;  // users

// What lines show of every category: its only user (kNone: nobody, kSeveral: several), and on each grid the last
// occupied column and that of pinned rows.
nb::tuple shown_carousels(In<uint32_t, 2> lines, In<uint32_t, 1> user, In<uint8_t, 1> grid, size_t grids,
                          size_t categories) {
  const Line* line = lines_of(lines);
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
      const size_t at = grid.data()[line->page] * categories + line->category;
      longest[at] = std::max(longest[at], line->col());
      if (line->pinned()) longest_pinned[at] = std::max(longest_pinned[at], line->col());
    }
  }
  return nb::make_tuple(to_numpy(std::move(owner)), to_numpy(std::move(longest), {grids, categories}),
                        to_numpy(std::move(longest_pinned), {grids, categories}));
}

nb::tuple read_pages(In<uint32_t, 2> lines, In<int64_t, 1> begin, In<int64_t, 1> end, In<int64_t, 1> pages,
                     In<uint32_t, 1> judgments, In<uint32_t, 1> user, In<uint8_t, 1> grid, In<int32_t, 2> grids,
                     In<int64_t, 1> judged_offsets, In<uint32_t, 1> judged_item, In<uint8_t, 1> gaining,
                     std::optional<MembershipArrays> membership, std::optional<CarouselArrays> carousels, bool labelled,
                     bool mark_lines, int threads) {
  const Line* line = lines_of(lines);
  const size_t count = pages.shape(0), all = begin.shape(0);
  require(end.shape(0) == all && judgments.shape(0) == all && user.shape(0) == all && grid.shape(0) == all,
          "every page must have lines, judgments, a user and a grid");
  require(judged_item.shape(0) == gaining.shape(0), "every judgment must have an item");
  require(judged_item.shape(0) <= kNone, "judgments must be at most 4,294,967,295");
  require(grids.shape(1) == 2, "a grid has rows and cols");
  int stride = 0;
  for (size_t g = 0; g < grids.shape(0); ++g) {
    const int32_t *size = grids.data() + 2 * g, rows = size[0], cols = size[1];
    require(rows >= 1 && rows < 1 << 15 && cols >= 1 && cols < 1 << 16, "a grid has 1..32767 rows and 1..65535 cols");
    stride = std::max(stride, rows);
  }
  for (size_t at = 0; at < count; ++at) {
    const int64_t page = pages.data()[at];
    require(page >= 0 && page < int64_t(all) && grid.data()[page] < grids.shape(0), "pages must exist and have a grid");
    require(begin.data()[page] >= 0 && begin.data()[page] <= end.data()[page] &&
                end.data()[page] <= int64_t(lines.shape(0)),
            "pages must begin and end among the lines");
  }
  const Judgments judged = {lists_of(judged_offsets, judged_item.shape(0), "judged_offsets"), judged_item.data(),
                            gaining.data()};
  const Carousels declared = carousels_of(carousels);
  const Membership known = membership ? membership_of(*membership, declared) : Membership{};

  const size_t rows = size_t(stride);
  std::vector<uint16_t> length(count * rows);
  std::vector<uint32_t> category(count * rows, kNone), duplicates(count), unjudged(count);
  std::vector<uint8_t> pinned(count * rows);
  std::vector<uint16_t> defects(count), marks(mark_lines ? lines.shape(0) : 0);
  const PageTable table = {length.data(),   category.data(), pinned.data(), duplicates.data(),
                           unjudged.data(), defects.data(),  stride};
  constexpr int64_t kPiece = 512;
  std::vector<std::vector<Hit>> hits_by_piece((count + kPiece - 1) / kPiece);
  std::vector<int64_t> offsets(count + 1, 0);
  parallel_for(int64_t(count), kPiece, threads, [&](Pieces& pieces) {
    PageReader reader(judged, membership ? &known : nullptr, declared, labelled);
    for_each(pieces, [&](int64_t at) {
      std::vector<Hit>& hits = hits_by_piece[size_t(at / kPiece)];
      const int64_t page = pages.data()[at], first = begin.data()[page];
      const int32_t* size = grids.data() + 2 * grid.data()[page];
      const size_t before = hits.size();
      reader.read(line + first, end.data()[page] - first, judgments.data()[page], user.data()[page], size[0], size[1],
                  table, at, hits, mark_lines ? marks.data() + first : nullptr);
      offsets[size_t(at) + 1] = int64_t(hits.size() - before);
    });
  });
  for (size_t at = 0; at < count; ++at) offsets[at + 1] += offsets[at];
  std::vector<uint32_t> hits;
  hits.reserve(size_t(offsets[count]) * 3);
  for (std::vector<Hit>& piece : hits_by_piece) {
    for (const Hit& hit : piece) hits.insert(hits.end(), {hit.judgment, hit.place, hit.rank});
    std::vector<Hit>().swap(piece);
  }
  const size_t hit_count = hits.size() / 3;
  return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(hits), {hit_count, 3}),
                        to_numpy(std::move(length), {count, rows}), to_numpy(std::move(category), {count, rows}),
                        to_numpy(std::move(pinned), {count, rows}), to_numpy(std::move(duplicates)),
                        to_numpy(std::move(unjudged)), to_numpy(std::move(defects)), to_numpy(std::move(marks)));
}

nb::tuple score_hits(In<int64_t, 1> offsets, In<uint32_t, 2> hits, In<double, 1> gain, In<double, 2> weights,
                     bool as_list, Repeats repeats, int threads) {
  require_offsets(offsets, hits.shape(0), "offsets");
  require(hits.shape(1) == 3, "a hit has three numbers: judgment, place and rank");
  const size_t count = offsets.shape(0) - 1;
  const Hit* hit = reinterpret_cast<const Hit*>(hits.data());
  Uninitialized<double> score(count);
  Uninitialized<double> counted(hits.shape(0));
  const int64_t bad = parallel_for(int64_t(count), 1024, threads, [&](Pieces& pieces) {
    HitScorer scorer({gain.data(), gain.shape(0)}, {weights.data(), weights.shape(0), weights.shape(1)}, as_list,
                     repeats);
    return for_each(pieces, [&](int64_t at) {
      const int64_t first = offsets.data()[at], size = offsets.data()[at + 1] - first;
      if (!scorer.accepts(hit + first, size)) return at;
      score.data()[at] = scorer.score(hit + first, size, counted.data() + first);
      return kNoAnswer;
    });
  });
  require(bad == kNoAnswer, "hits must have a gain and a weight");
  return nb::make_tuple(to_numpy(std::move(score), {count}), to_numpy(std::move(counted), {hits.shape(0)}));
}

nb::tuple gather_candidates(In<uint32_t, 1> judgments, In<uint32_t, 1> user, In<int64_t, 1> judged_offsets,
                            In<uint32_t, 1> judged_item, In<double, 1> gain, MembershipArrays membership,
                            In<uint32_t, 1> sizes, std::optional<CarouselArrays> carousels, In<int64_t, 1> pin_offsets,
                            In<uint32_t, 2> pins, int rows, int cols) {
  const Membership known = membership_of(membership, carousels_of(carousels));
  const Lists judged = lists_of(judged_offsets, judged_item.shape(0), "judged_offsets");
  const Lists pinned = lists_of(pin_offsets, pins.shape(0), "pin_offsets");
  const size_t count = judgments.shape(0);
  require(user.shape(0) == count && pin_offsets.shape(0) == count + 1, "every problem must have a user and pins");
  require(judged_item.shape(0) == gain.shape(0), "every judgment must have a gain");
  require(pins.shape(1) == 3, "a pin has a row, a category and room");
  require(rows >= 0 && cols >= 0, "rows and cols must be 0 or more");
  require(sizes.shape(0) <= kSeveral, "sizes must be of at most 4,294,967,294 categories");
  CandidateLists out;
  {
    const Unlocked unlocked;
    CandidateGatherer gatherer(known, sizes.data(), uint32_t(sizes.shape(0)), rows, cols);
    Interrupts interrupts;
    for (size_t at = 0; at < count; ++at) {
      if (at % 64 == 0) interrupts.poll();
      const uint32_t group = judgments.data()[at];
      const int64_t first = pinned.offsets[at];
      gatherer.gather(judged.begin(group), judged.end(group), judged_item.data(), gain.data(), user.data()[at],
                      reinterpret_cast<const Pin*>(pins.data()) + first, pinned.offsets[at + 1] - first, out);
    }
  }
  return nb::make_tuple(
      to_numpy(std::move(out.gain)), to_numpy(std::move(out.judgment)), to_numpy(std::move(out.item_offsets)),
      to_numpy(std::move(out.item_categories)), to_numpy(std::move(out.item_category_offsets)),
      to_numpy(std::move(out.slots)), to_numpy(std::move(out.pinned)), to_numpy(std::move(out.category)),
      to_numpy(std::move(out.category_offsets)), to_numpy(std::move(out.open)), to_numpy(std::move(out.uncategorised)));
}

Out<double> largest_first(In<int64_t, 1> offsets, In<double, 1> gain, In<int32_t, 1> copies, In<double, 1> weights,
                          int threads) {
  require_offsets(offsets, gain.shape(0), "offsets");
  require(copies.shape(0) == gain.shape(0), "every gain must have copies");
  const size_t count = offsets.shape(0) - 1;
  Uninitialized<double> best(count);
  parallel_for(int64_t(count), 1024, threads, [&](Pieces& pieces) {
    std::vector<double> sorted;
    for_each(pieces, [&](int64_t at) {
      sorted.clear();
      for (int64_t j = offsets.data()[at]; j < offsets.data()[at + 1]; ++j)
        if (gain.data()[j] > 0)
          sorted.insert(sorted.end(), std::min(size_t(std::max(0, copies.data()[j])), weights.shape(0)),
                        gain.data()[j]);
      std::sort(sorted.begin(), sorted.end(), std::greater<double>());
      double total = 0.0;
      for (size_t r = 0; r < sorted.size() && r < weights.shape(0); ++r) total += sorted[r] * weights.data()[r];
      best.data()[at] = total;
    });
  });
  return to_numpy(std::move(best), {count});
}

Out<int64_t> order_within(In<int64_t, 1> offsets, In<uint32_t, 1> item, In<uint32_t, 1> rank, int threads) {
  require_offsets(offsets, item.shape(0), "offsets");
  for (size_t j = 0; j < item.shape(0); ++j) require(item.data()[j] < rank.shape(0), "every item must have a rank");
  Uninitialized<int64_t> order(item.shape(0));
  parallel_for(int64_t(offsets.shape(0)) - 1, 4096, threads, [&](Pieces& pieces) {
    for_each(pieces, [&](int64_t at) {
      const int64_t begin = offsets.data()[at], end = offsets.data()[at + 1];
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
  require_offsets(offsets, item.shape(0), "offsets");
  std::vector<int64_t> groups;
  CodeMap counts;
  Interrupts interrupts;
  for (size_t at = 0; at + 1 < offsets.shape(0); ++at) {
    if (at % 64 == 0) interrupts.poll();
    const int64_t begin = offsets.data()[at], end = offsets.data()[at + 1];
    counts.clear(size_t(end - begin));
    bool twice = false;
    for (int64_t j = begin; j < end; ++j) twice |= counts.at(item.data()[j], 0)++ > 0;
    if (twice) groups.push_back(int64_t(at));
  }
  return to_numpy(std::move(groups));
}

}  // namespace

void bind_tables(nb::module_& m) {
  m.attr("NONE") = kNone;
  m.attr("SEVERAL") = kSeveral;
  m.attr("UNLIMITED") = Carousels::kUnlimited;
  nb::enum_<Repeats>(m, "Repeats", "How an item counts that a page shows more than once.")
      .value("BEST", Repeats::kBest)
      .value("FIRST", Repeats::kFirst)
      .value("EVERY", Repeats::kEvery);
  nb::enum_<Defect>(m, "Defect", nb::is_flag(), nb::is_arithmetic(), "What may be wrong with a page, one bit each.")
      .value("CELL_TWICE", kCellTwice)
      .value("OUTSIDE_GRID", kOutsideGrid)
      .value("GAP", kGap)
      .value("SKIPPED_ROW", kSkippedRow)
      .value("REPEATED_CATEGORY", kRepeatedCategory)
      .value("OUTSIDE_CATEGORY", kOutsideCategory)
      .value("PINNED_IN_PART", kPinnedInPart)
      .value("OVER_CAPACITY", kOverCapacity)
      .value("REPEATED_ITEM", kRepeatedItem)
      .value("UNJUDGED", kUnjudged)
      .value("PINNED_UNKNOWN", kPinnedUnknown);
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
  m.def("read_pages", &read_pages, "lines"_a, "begin"_a, "end"_a, "pages"_a, "judgments"_a, "user"_a, "grid"_a,
        "grids"_a, "judged_offsets"_a, "judged_item"_a, "gaining"_a, "membership"_a.none(), "carousels"_a.none(),
        "labelled"_a, "mark_lines"_a, "threads"_a,
        "Hits of pages, the length, category and pin of every row, and what is wrong with each page; and with each "
        "line, where lines are to be marked.");
  m.def("score_hits", &score_hits, "offsets"_a, "hits"_a, "gain"_a, "weights"_a, "as_list"_a, "repeats"_a, "threads"_a,
        "2DCG of every page from its hits, and what each hit weighs.");
  m.def("gather_candidates", &gather_candidates, "judgments"_a, "user"_a, "judged_offsets"_a, "judged_item"_a, "gain"_a,
        "membership"_a, "sizes"_a, "carousels"_a.none(), "pin_offsets"_a, "pins"_a, "rows"_a, "cols"_a,
        "The items and categories that each ideal page may show, as candidate_ideals takes them.");
  m.def("largest_first", &largest_first, "offsets"_a, "gain"_a, "copies"_a, "weights"_a, "threads"_a,
        "The largest gains on the largest weights (which come sorted), list by list; each gain `copies` times.");
  m.def("order_within", &order_within, "offsets"_a, "item"_a, "rank"_a, "threads"_a,
        "An order by the rank of items inside each list, so that no result depends on the order of lines.");
  m.def("judged_twice", &judged_twice, "offsets"_a, "item"_a, "The lists that hold an item more than once.");
}
