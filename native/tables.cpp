// The door from Python into what reads tables: ids, pages from lines, candidates of ideals. Arguments have been checked
// on the Python side (evaluation/).
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "arrow.h"
#include "gather.h"
#include "ids.h"
#include "parallel.h"
#include "shown.h"

using namespace nb::literals;

namespace {

template <class T>
Out<T> handed_over(std::vector<T>&& values, size_t width = 0) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  if (width) return Out<T>(kept->data(), {kept->size() / width, width}, owner);
  return Out<T>(kept->data(), {kept->size()}, owner);
}

class Ids {
 public:
  nb::tuple add_ints(In<int64_t, 1> ids, int threads) {
    if (texts_.size()) throw nb::type_error("ids are all integers or all text");
    return add(ints_, ids.data(), int64_t(ids.shape(0)), threads);
  }

  nb::tuple add_texts(nb::capsule stream, int threads) {
    auto* source = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(stream.ptr(), "arrow_array_stream"));
    if (!source) throw nb::python_error();
    if (ints_.size()) throw nb::type_error("ids are all integers or all text");
    const TextColumn column(source);
    return add(texts_, column.texts().data(), int64_t(column.texts().size()), threads);
  }

  size_t size() const { return ints_.size() + texts_.size(); }

 private:
  template <class Id>
  nb::tuple add(Codes<Id>& codes, const Id* ids, int64_t count, int threads) {
    nb::capsule owner;
    uint32_t* out = fresh<uint32_t>(size_t(count), owner);
    std::vector<int64_t> firsts;
    codes.add(ids, count, out, firsts, threads);
    return nb::make_tuple(Out<uint32_t>(out, {size_t(count)}, owner), handed_over(std::move(firsts)));
  }

  Codes<int64_t> ints_;
  Codes<std::string_view> texts_;
};

// FNV-1a, 64 bits, of every text's bytes: published, and the same on every machine and in every language.
Out<uint64_t> text_hashes(nb::capsule stream) {
  auto* source = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(stream.ptr(), "arrow_array_stream"));
  if (!source) throw nb::python_error();
  const TextColumn column(source);
  std::vector<uint64_t> hashes;
  hashes.reserve(column.texts().size());
  for (const std::string_view text : column.texts()) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char letter : text) hash = (hash ^ uint8_t(letter)) * 0x100000001b3u;
    hashes.push_back(hash);
  }
  return handed_over(std::move(hashes));
}

// Where each page's lines begin and end, if those of every page stand together; else nothing.
nb::object page_runs(In<uint32_t, 2> lines, size_t pages) {
  const Line* line = reinterpret_cast<const Line*>(lines.data());
  const size_t count = lines.shape(0);
  std::vector<int64_t> begin(pages, 0), end(pages, 0);
  bool together = true;
  {
    nb::gil_scoped_release unlocked;
    for (size_t at = 0; at < count && together;) {
      const uint32_t page = line[at].page;
      if (end[page] != 0) together = false;
      begin[page] = int64_t(at);
      while (at < count && line[at].page == page) ++at;
      end[page] = int64_t(at);
    }
  }
  if (!together) return nb::none();
  return nb::make_tuple(handed_over(std::move(begin)), handed_over(std::move(end)));
}

// Lines sorted by page, otherwise in their order, and where each page's begin and end.
nb::tuple sorted_lines(In<uint32_t, 2> lines, size_t pages) {
  const Line* line = reinterpret_cast<const Line*>(lines.data());
  const size_t count = lines.shape(0);
  std::vector<int64_t> begin(pages, 0), end(pages, 0);
  nb::capsule owner;
  uint32_t* sorted = fresh<uint32_t>(count * 4, owner);
  {
    nb::gil_scoped_release unlocked;
    for (size_t at = 0; at < count; ++at) ++end[line[at].page];
    int64_t total = 0;
    for (size_t page = 0; page < pages; ++page) {
      const int64_t size = end[page];
      begin[page] = end[page] = total;
      total += size;
    }
    Line* out = reinterpret_cast<Line*>(sorted);
    for (size_t at = 0; at < count; ++at) out[end[line[at].page]++] = line[at];
  }
  return nb::make_tuple(Out<uint32_t>(sorted, {count, 4}, owner), handed_over(std::move(begin)), handed_over(std::move(end)));
}

Membership membership_of(const nb::tuple& arrays) {
  const auto offsets = nb::cast<In<int64_t, 1>>(arrays[0]);
  const auto categories = nb::cast<In<uint32_t, 1>>(arrays[1]);
  const auto personal_offsets = nb::cast<In<int64_t, 1>>(arrays[2]);
  const auto personal = nb::cast<In<uint64_t, 1>>(arrays[3]);
  return {offsets.data(),          categories.data(), int64_t(offsets.shape(0)) - 1,
          personal_offsets.data(), personal.data(),   int64_t(personal_offsets.shape(0)) - 1};
}

nb::tuple read_pages(In<uint32_t, 2> lines, In<int64_t, 1> begin, In<int64_t, 1> end, In<int64_t, 1> pages,
                     In<uint32_t, 1> truth, In<uint32_t, 1> user, In<uint8_t, 1> grid, In<int32_t, 2> grids,
                     In<int64_t, 1> judged_offsets, In<uint32_t, 1> judged_item, In<uint8_t, 1> counts,
                     std::optional<nb::tuple> membership, bool labelled, int threads) {
  const Judgments judgments = {judged_offsets.data(), judged_item.data(), counts.data(), int64_t(judged_offsets.shape(0)) - 1};
  Membership known{};
  if (membership) known = membership_of(*membership);
  int stride = 0;
  for (size_t g = 0; g < grids.shape(0); ++g) stride = std::max(stride, int(grids.data()[2 * g]));
  const size_t count = pages.shape(0);
  std::vector<uint16_t> length(count * size_t(stride));
  std::vector<uint32_t> category(count * size_t(stride), kNone), duplicates(count), unjudged(count);
  std::vector<uint8_t> pinned(count * size_t(stride)), flaws(count);
  const Shown shown = {length.data(), category.data(), pinned.data(), duplicates.data(), unjudged.data(), flaws.data(), stride};
  constexpr int64_t kPiece = 512;
  std::vector<std::vector<Hit>> found((count + kPiece - 1) / kPiece);
  std::vector<int64_t> offsets(count + 1, 0);
  in_parallel(int64_t(count), kPiece, threads, [&](Pieces& pieces) {
    PageReader reader(judgments, membership ? &known : nullptr, labelled);
    for (int64_t at, last; pieces.next(at, last);) {
      std::vector<Hit>& hits = found[size_t(at / kPiece)];
      for (; at < last; ++at) {
        const int64_t page = pages.data()[at];
        const int32_t* size = grids.data() + 2 * grid.data()[page];
        const int64_t first = begin.data()[page];
        const size_t before = hits.size();
        reader.read(reinterpret_cast<const Line*>(lines.data()) + first, end.data()[page] - first, truth.data()[page],
                    user.data()[page], size[0], size[1], shown, at, hits);
        offsets[size_t(at) + 1] = int64_t(hits.size() - before);
      }
    }
    return int64_t(-1);
  });
  for (size_t at = 0; at < count; ++at) offsets[at + 1] += offsets[at];
  std::vector<uint32_t> hits;
  hits.reserve(size_t(offsets[count]) * 3);
  for (std::vector<Hit>& piece : found) {
    for (const Hit& hit : piece) hits.insert(hits.end(), {hit.judgment, hit.place, hit.rank});
    std::vector<Hit>().swap(piece);
  }
  return nb::make_tuple(handed_over(std::move(offsets)), handed_over(std::move(hits), 3),
                        handed_over(std::move(length), size_t(stride)), handed_over(std::move(category), size_t(stride)),
                        handed_over(std::move(pinned), size_t(stride)), handed_over(std::move(duplicates)),
                        handed_over(std::move(unjudged)), handed_over(std::move(flaws)));
}

nb::tuple score_hits(In<int64_t, 1> offsets, In<uint32_t, 2> hits, In<double, 1> gain, In<double, 2> weights, bool as_list,
                     const char* repeats, int threads) {
  const std::string rule = repeats;
  const Repeats how = rule == "every" ? Repeats::kEvery : rule == "first" ? Repeats::kFirst : Repeats::kBest;
  const size_t count = offsets.shape(0) - 1;
  nb::capsule owner, counted_owner;
  double* score = fresh<double>(count, owner);
  double* counted = fresh<double>(hits.shape(0), counted_owner);
  in_parallel(int64_t(count), 1024, threads, [&](Pieces& pieces) {
    HitScorer scorer(gain.data(), weights.data(), int(weights.shape(1)), as_list, how);
    for (int64_t at, last; pieces.next(at, last);)
      for (; at < last; ++at) {
        const int64_t first = offsets.data()[at];
        score[at] = scorer.score(reinterpret_cast<const Hit*>(hits.data()) + first, offsets.data()[at + 1] - first, counted + first);
      }
    return int64_t(-1);
  });
  return nb::make_tuple(Out<double>(score, {count}, owner), Out<double>(counted, {size_t(hits.shape(0))}, counted_owner));
}

nb::tuple gather_candidates(In<uint32_t, 1> truth, In<uint32_t, 1> user, In<int64_t, 1> judged_offsets,
                            In<uint32_t, 1> judged_item, In<double, 1> gain, nb::tuple membership, In<uint32_t, 1> sizes,
                            In<int64_t, 1> pin_offsets, In<uint32_t, 2> pins, int rows, int cols) {
  const Membership known = membership_of(membership);
  Gathered out;
  {
    nb::gil_scoped_release unlocked;
    Gatherer gatherer(known, sizes.data(), uint32_t(sizes.shape(0)), rows, cols);
    const int64_t truths = int64_t(judged_offsets.shape(0)) - 1;
    for (size_t at = 0; at < truth.shape(0); ++at) {
      const uint32_t t = truth.data()[at];
      const bool any = t < truths;
      const int64_t first = pin_offsets.data()[at];
      gatherer.gather(any ? judged_offsets.data()[t] : 0, any ? judged_offsets.data()[t + 1] : 0, judged_item.data(),
                      gain.data(), user.data()[at], reinterpret_cast<const Pin*>(pins.data()) + first,
                      pin_offsets.data()[at + 1] - first, out);
    }
  }
  return nb::make_tuple(handed_over(std::move(out.gain)), handed_over(std::move(out.judgment)),
                        handed_over(std::move(out.item_offsets)), handed_over(std::move(out.homes)),
                        handed_over(std::move(out.home_offsets)), handed_over(std::move(out.slots)),
                        handed_over(std::move(out.pinned)), handed_over(std::move(out.category)),
                        handed_over(std::move(out.category_offsets)), handed_over(std::move(out.open)),
                        handed_over(std::move(out.strays)));
}

// The largest values on the largest weights (which come sorted), group by group; each value `copies` times.
Out<double> largest_first(In<int64_t, 1> offsets, In<double, 1> gain, In<int32_t, 1> copies, In<double, 1> weights, int threads) {
  const size_t count = offsets.shape(0) - 1;
  nb::capsule owner;
  double* best = fresh<double>(count, owner);
  in_parallel(int64_t(count), 1024, threads, [&](Pieces& pieces) {
    std::vector<double> sorted;
    for (int64_t at, last; pieces.next(at, last);)
      for (; at < last; ++at) {
        sorted.clear();
        for (int64_t j = offsets.data()[at]; j < offsets.data()[at + 1]; ++j)
          if (gain.data()[j] > 0) sorted.insert(sorted.end(), size_t(copies.data()[j]), gain.data()[j]);
        std::sort(sorted.begin(), sorted.end(), std::greater<double>());
        double total = 0.0;
        for (size_t r = 0; r < sorted.size() && r < weights.shape(0); ++r) total += sorted[r] * weights.data()[r];
        best[at] = total;
      }
    return int64_t(-1);
  });
  return Out<double>(best, {count}, owner);
}

// The order of judgments inside each truth by the rank of their item, so that no result depends on the order of lines.
Out<int64_t> order_within(In<int64_t, 1> offsets, In<uint32_t, 1> item, In<uint32_t, 1> rank, int threads) {
  std::vector<int64_t> order(item.shape(0));
  in_parallel(int64_t(offsets.shape(0)) - 1, 4096, threads, [&](Pieces& pieces) {
    for (int64_t at, last; pieces.next(at, last);)
      for (; at < last; ++at) {
        const int64_t begin = offsets.data()[at], end = offsets.data()[at + 1];
        for (int64_t j = begin; j < end; ++j) order[size_t(j)] = j;
        std::sort(order.begin() + begin, order.begin() + end, [&](int64_t a, int64_t b) {
          const uint32_t left = rank.data()[item.data()[a]], right = rank.data()[item.data()[b]];
          return left < right || (left == right && a < b);
        });
      }
    return int64_t(-1);
  });
  return handed_over(std::move(order));
}

// Truths that judge an item more than once.
Out<int64_t> judged_twice(In<int64_t, 1> offsets, In<uint32_t, 1> item) {
  std::vector<int64_t> found;
  Scratch seen;
  for (size_t at = 0; at + 1 < offsets.shape(0); ++at) {
    const int64_t begin = offsets.data()[at], end = offsets.data()[at + 1];
    seen.start(size_t(end - begin));
    bool twice = false;
    for (int64_t j = begin; j < end; ++j) twice |= seen.at(item.data()[j], 0)++ > 0;
    if (twice) found.push_back(int64_t(at));
  }
  return handed_over(std::move(found));
}

}  // namespace

void bind_tables(nb::module_& m) {
  nb::class_<Ids>(m, "Ids", "Dense codes for integers or texts, in order of first appearance.")
      .def(nb::init<>())
      .def("add_ints", &Ids::add_ints, "ids"_a, "threads"_a)
      .def("add_texts", &Ids::add_texts, "stream"_a, "threads"_a)
      .def("__len__", &Ids::size);
  m.attr("NONE") = kNone;
  m.def("text_hashes", &text_hashes, "stream"_a);
  m.def("page_runs", &page_runs, "lines"_a, "pages"_a);
  m.def("sorted_lines", &sorted_lines, "lines"_a, "pages"_a);
  m.def("read_pages", &read_pages, "lines"_a, "begin"_a, "end"_a, "pages"_a, "truth"_a, "user"_a, "grid"_a, "grids"_a,
        "judged_offsets"_a, "judged_item"_a, "counts"_a, "membership"_a.none(), "labelled"_a, "threads"_a);
  m.def("score_hits", &score_hits, "offsets"_a, "hits"_a, "gain"_a, "weights"_a, "as_list"_a, "repeats"_a, "threads"_a);
  m.def("gather_candidates", &gather_candidates, "truth"_a, "user"_a, "judged_offsets"_a, "judged_item"_a, "gain"_a,
        "membership"_a, "sizes"_a, "pin_offsets"_a, "pins"_a, "rows"_a, "cols"_a);
  m.def("largest_first", &largest_first, "offsets"_a, "gain"_a, "copies"_a, "weights"_a, "threads"_a);
  m.def("order_within", &order_within, "offsets"_a, "item"_a, "rank"_a, "threads"_a);
  m.def("judged_twice", &judged_twice, "offsets"_a, "item"_a);
}
