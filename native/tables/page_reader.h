// What pages show: lines of a layout table, grouped by page, become the cells that hold a judged item, and every rule
// that a page can break is checked on the way.
#pragma once

#include <cstdint>
#include <vector>

#include "tables/code_map.h"
#include "tables/hits.h"
#include "tables/membership.h"

namespace {

struct Line {
  static constexpr const char* kNumbers = "a line has four numbers: page, item, category and place";

  uint32_t page, item, category;
  uint32_t place;  // pinned << 31 | row << 16 | col, counted from 1

  int row() const { return place >> 16 & 0x7fff; }
  int col() const { return place & 0xffff; }
  bool pinned() const { return place >> 31; }
};
static_assert(sizeof(Line) == 16, "lines are an array of four 32-bit numbers on the Python side");

struct Judgments {
  Offsets groups;  // of judgments that pages are judged by together
  const uint32_t* item;
  const uint8_t* gains;  // whether it gains anything
};

// What may be wrong with a page, one bit each.
enum Defect : uint8_t {
  kCellTwice = 1,
  kOutsideGrid = 2,
  kGap = 4,
  kSkippedRow = 8,
  kRepeatedCategory = 16,
  kOutsideCategory = 32,
  kPinnedInPart = 64,
  kOverCapacity = 128
};

// Per page; rows are `stride` apart.
struct PageTable {
  uint16_t* length;    // the column of the row's last item
  uint32_t* category;  // the row's category, kNone where it is not known
  uint8_t* pinned;
  uint32_t *duplicates, *unjudged;
  uint8_t* defects;
  int stride;
};

class PageReader {
 public:
  PageReader(const Judgments& judgments, const Membership* membership, const Carousels& carousels, bool labelled)
      : judgments_(judgments), membership_(membership), carousels_(carousels), labelled_(labelled) {}

  // Reads page number `page` of the output; its hits are appended.
  void read(const Line* lines, int64_t count, uint32_t group, uint32_t user, int rows, int cols, const PageTable& out,
            int64_t page, std::vector<Hit>& hits) {
    rows_ = rows;
    cols_ = cols;
    user_ = user;
    defects_ = 0;
    fill(lines, count, out, page);
    find_judgments(group);
    counts_.clear(size_t(count));
    uint32_t occupied = 0, distinct = 0, unjudged = 0;
    int last_row = 0;
    for (int i = 0; i < rows; ++i)
      if (out.length[page * out.stride + i]) last_row = i + 1;
    for (int i = 0; i < last_row; ++i) {
      const int length = out.length[page * out.stride + i];
      if (length == 0) defects_ |= kSkippedRow;
      for (int j = 0; j < length; ++j) {
        const Cell& cell = cells_[size_t(i) * cols + j];
        if (cell.item == kNone) {
          defects_ |= kGap;
          continue;
        }
        distinct += counts_.at(cell.item, 0)++ == 0;
        const uint32_t judgment = judged_.get(cell.item);
        if (judgment == kNone) ++unjudged;
        else if (judgments_.gains[judgment])
          hits.push_back({judgment, uint32_t(i + 1) << 16 | uint32_t(j + 1), occupied});
        ++occupied;
      }
      const uint32_t category = length ? category_of_row(i, length) : kNone;
      out.category[page * out.stride + i] = category;
      if (category != kNone && uint32_t(length) > carousels_.room(user, category)) defects_ |= kOverCapacity;
    }
    check_repeats(out.category + page * out.stride, last_row);
    out.duplicates[page] = occupied - distinct;
    out.unjudged[page] = unjudged;
    out.defects[page] = defects_;
  }

 private:
  struct Cell {
    uint32_t item = kNone, category = kNone;
  };

  void fill(const Line* lines, int64_t count, const PageTable& out, int64_t page) {
    cells_.assign(size_t(rows_) * cols_, Cell{});
    uint16_t* length = out.length + page * out.stride;
    uint8_t* pinned = out.pinned + page * out.stride;
    for (const Line* line = lines; line < lines + count; ++line) {
      const int row = line->row(), col = line->col();
      if (row < 1 || row > rows_ || col < 1 || col > cols_) {
        defects_ |= kOutsideGrid;
        continue;
      }
      Cell& cell = cells_[size_t(row - 1) * cols_ + (col - 1)];
      if (cell.item != kNone) defects_ |= kCellTwice;
      if (length[row - 1] > 0 && pinned[row - 1] != line->pinned()) defects_ |= kPinnedInPart;
      cell = {line->item, line->category};
      pinned[row - 1] = line->pinned();
      if (col > length[row - 1]) length[row - 1] = uint16_t(col);
    }
  }

  // The judgments of a group, by item; pages of one group often follow each other.
  void find_judgments(uint32_t group) {
    if (has_group_ && group == group_) return;
    has_group_ = true;
    group_ = group;
    const int64_t begin = judgments_.groups.begin(group), end = judgments_.groups.end(group);
    judged_.clear(size_t(end - begin));
    for (int64_t j = begin; j < end; ++j) judged_.at(judgments_.item[j], uint32_t(j));
  }

  // The label of the leftmost cell, to which all others must conform; without labels the one category they share.
  uint32_t category_of_row(int i, int length) {
    const Cell* row = cells_.data() + size_t(i) * cols_;
    const Cell* end = row + length;
    while (row < end && row->item == kNone) ++row;
    if (row == end) return kNone;
    if (labelled_) {
      if (!carousels_.open(user_, row->category)) defects_ |= kOutsideCategory;
      for (const Cell* cell = row; cell < end; ++cell)
        if (cell->item != kNone &&
            (cell->category != row->category || (membership_ && !membership_->holds(user_, cell->item, row->category))))
          defects_ |= kOutsideCategory;
      return row->category;
    }
    if (!membership_) return kNone;
    common_.clear();
    membership_->each(user_, row->item, [&](uint32_t category) { common_.push_back(category); });
    for (const Cell* cell = row + 1; cell < end; ++cell) {
      if (cell->item == kNone) continue;
      size_t kept = 0;
      for (uint32_t category : common_)
        if (membership_->holds(user_, cell->item, category)) common_[kept++] = category;
      common_.resize(kept);
    }
    if (common_.empty()) defects_ |= kOutsideCategory;
    return common_.size() == 1 ? common_[0] : kNone;
  }

  void check_repeats(const uint32_t* category, int rows) {
    counts_.clear(size_t(rows));
    for (int i = 0; i < rows; ++i)
      if (category[i] != kNone && counts_.at(category[i], 0)++) defects_ |= kRepeatedCategory;
  }

  const Judgments judgments_;
  const Membership* membership_;
  const Carousels carousels_;  // with what is declared of them
  const bool labelled_;
  int rows_ = 0, cols_ = 0;
  uint32_t user_ = kNone, group_ = kNone;
  bool has_group_ = false;
  uint8_t defects_ = 0;
  std::vector<Cell> cells_;
  std::vector<uint32_t> common_;
  CodeMap judged_, counts_;
};

}  // namespace
