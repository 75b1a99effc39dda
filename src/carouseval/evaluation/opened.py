"""A system's pages, packed, with all that they are judged by."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import DataError
from carouseval.evaluation import ideals
from carouseval.evaluation import page_defects as flaws
from carouseval.evaluation.ids import NONE, Codes
from carouseval.evaluation.layouts import Layouts, Progress, ShownPages
from carouseval.evaluation.membership import Membership
from carouseval.evaluation.results import page_shares
from carouseval.metrics.grid import RECGAZE, Array, Grid
from carouseval.table_columns import Defect

if TYPE_CHECKING:
    from carouseval.evaluation.evaluate import Evaluator


@dataclass(frozen=True)
class Opened:
    """A system's pages, packed, with what they are judged by."""

    evaluator: "Evaluator"
    layouts: Layouts
    membership: Membership | None
    progress: Progress

    def relevant(self) -> NDArray[np.bool_]:
        """Whether each truth has a judged item that gains; with room for pages that have no truth."""
        truth = self.evaluator.truth
        sums = np.concatenate([[0], np.cumsum(self.counts(), dtype=np.int64)])
        found = sums[truth.offsets[1:]] > sums[truth.offsets[:-1]]
        return np.concatenate([found, np.zeros(max(0, len(self.layouts) - len(found)) + len(truth.users), bool)])

    def counts(self) -> NDArray[np.uint8]:
        """Which judgments gain something, by any of the metrics."""
        counts = np.zeros(len(self.evaluator.truth.relevance), np.uint8)
        for one in self.evaluator.metrics.values():
            counts |= (self.evaluator.gains(one) > 0).astype(np.uint8)
        return counts

    def uncategorised(self) -> int:
        """How many judgments gain something but have no category to be shown in."""
        if self.membership is None:
            return 0
        truth, (offsets, *_) = self.evaluator.truth, self.membership.arrays
        if not self.membership.personal:
            homes = np.diff(offsets)
            known = truth.item < len(homes)
            return int(((~known | (homes[np.where(known, truth.item, 0)] == 0)) & (self.counts() > 0)).sum())
        all_truths = np.arange(len(truth))
        gathered = ideals.judged_problems(
            truth,
            all_truths.astype(np.uint32),
            truth.user_of(all_truths),
            self.counts().astype(np.float64),
            self.membership,
            RECGAZE,
        )
        return int(gathered.strays.sum())

    def shares(self) -> Array:
        """What every page adds to the mean over users of means over pages; with what missing pages do, 1 in all."""
        policies, truth = self.evaluator.policies, self.evaluator.truth
        truths, present, relevant = self.layouts.truths(), self.layouts.present, self.relevant()
        keeps_zero = policies.no_relevant == "zero"
        scored = np.flatnonzero(present & (relevant[truths] | keeps_zero))
        seen = np.zeros(len(relevant), bool)
        seen[truths[present]] = True
        absent = np.flatnonzero(truth.judged & ~seen[: len(truth)] & (relevant[: len(truth)] | keeps_zero))
        absent = absent if policies.missing_pages == "zero" else absent[:0]
        weights, nobody = self.weights(), np.full(len(absent), np.nan)
        all_weights = None
        if weights is not None:
            all_weights = np.concatenate([weights[scored], nobody if truth.weights is None else truth.weights[absent]])
        owner = np.concatenate([self.layouts.user()[scored], truth.user_of(absent)])
        shares = np.zeros(len(truths))
        shares[scored] = page_shares(owner, all_weights)[: len(scored)]
        return shares

    def weights(self) -> Array | None:
        """Every page's weight: as its own lines say, else as its judgments do; NaN where neither does."""
        if self.layouts.weights is not None:
            return self.layouts.weights
        weights = self.evaluator.truth.weights
        return None if weights is None else _of_truths(weights, self.layouts.truths(), np.nan)

    def segment_values(self, name: str, codes: Codes) -> pl.Series:
        """A segment's values by their codes; null where there is none."""
        values = self.evaluator.segment_ids[name].values()
        return values.gather(pl.Series(codes).set(pl.Series(codes == NONE), None)).alias(name)

    def grid_of(self) -> tuple[list[Grid], NDArray[np.uint8]]:
        """The grids in use, and which of them every page has."""
        grids = self.evaluator.grids
        if None in grids:
            return [grids[None]], np.zeros(len(self.layouts), np.uint8)
        segment = self.segment(self.evaluator.by[0])
        values = self.evaluator.segment_ids[self.evaluator.by[0]].values().to_list()
        index = {name: at for at, name in enumerate(grids)}
        unknown = sorted({values[code] for code in np.unique(segment) if code != NONE} - index.keys())
        if unknown:
            raise DataError(
                f"layouts: {self.evaluator.by[0]} has {', '.join(map(repr, unknown[:5]))}, for which grid names no "
                f"screen; it has {', '.join(map(repr, index))}."
            )
        of_code = np.array([*(index.get(value, 0) for value in values), len(grids)], np.uint8)
        known = list(grids.values())
        if (segment == NONE).any():  # pages of nobody's segment have room for whatever they show
            known.append(Grid(max(grid.rows for grid in known), max(grid.cols for grid in known)))
        return known, of_code[np.where(segment == NONE, len(values), segment)]

    def segment(self, name: str) -> Codes:
        """Every page's segment: as its own lines say, else as its judgments do."""
        if name in self.layouts.segments:
            return self.layouts.segments[name]
        codes: Codes = _of_truths(self.evaluator.truth.segments[name], self.layouts.truths(), NONE)
        return codes

    def shown(self) -> Iterator[ShownPages]:
        """All pages; what the policies refuse is raised."""
        grids, grid_of = self.grid_of()
        for shown in self.read():
            self._refuse(shown, grids, grid_of)
            yield shown

    def read(self) -> Iterator[ShownPages]:
        """All pages, with whatever is wrong with them."""
        return self.layouts.shown(self.counts(), self.membership, *self.grid_of(), self.progress)

    def no_category(self, count: int) -> str:
        """What to say of judged items that no carousel can show."""
        items = "item that gains has" if count == 1 else "items that gain have"
        where = "items" if self.membership is None else self.membership.source
        return (
            f"judgments: {count:,} judged {items} no category in {where}, so no ideal page shows "
            f"{'it' if count == 1 else 'them'}. Give items (item_id, category) for all that are judged."
        )

    def mismatches(self, unjudged: int, missing: int) -> list[Defect]:
        """Tables that hardly meet: ids that look alike but are written in different ways score 0 without a word."""
        truth, table = self.evaluator.truth, self.layouts.table
        found: list[Defect] = []
        for column, nothing, ids, what in (
            ("user_id", missing == int(truth.judged.sum()), truth.users, "no user of the layouts has a judgment"),
            ("item_id", unjudged == self.layouts.lines, truth.items, "no item shown has a judgment of its user"),
        ):
            if nothing and not found:
                theirs, ours = truth.table.frame().select(column).head(1), table.frame().select(column).head(1)
                message = (
                    f"layouts: {what}, so every score is 0. Are ids written alike? {table.names[column]} is "
                    f"{ours.collect().item()!r} in layouts and {theirs.collect().item()!r} in judgments."
                )
                found.append(Defect("layouts", table.names[column], len(ids), message, "warning"))
        return found

    def _refuse(self, shown: ShownPages, grids: list[Grid], grid_of: NDArray[np.uint8]) -> None:
        policies = self.evaluator.policies
        for flaw in flaws.FLAWS:
            refused = flaw.severity == "error" or (flaw.severity == "invalid" and policies.invalid == "error")
            marked = shown.pages[(shown.flaws & flaw.bit) > 0]
            if refused and len(marked):
                raise DataError(str(self.describe(flaw, marked, grids, grid_of)))
        unknown = self.pinned_unknown(shown)
        if self.evaluator.needs_categories and len(unknown):
            raise DataError(str(self.describe(flaws.PINNED_UNKNOWN, unknown, grids, grid_of)))
        for policy, count, flaw in (
            (policies.duplicates, shown.duplicates, flaws.TWICE_ON_PAGE),
            (policies.unjudged, shown.unjudged, flaws.UNJUDGED),
        ):
            if policy == "error" and count.any():
                raise DataError(str(self.describe(flaw, shown.pages[count > 0], grids, grid_of)))

    def pinned_unknown(self, shown: ShownPages) -> NDArray[np.int64]:
        """Pages with a pinned row of which no table tells the category."""
        pages: NDArray[np.int64] = shown.pages[((shown.pinned > 0) & (shown.category == NONE)).any(axis=1)]
        return pages

    def describe(
        self, flaw: flaws.Flaw, pages: NDArray[np.int64], grids: list[Grid], grid_of: NDArray[np.uint8]
    ) -> Defect:
        """What some pages have wrong, with the first line where it shows."""
        return flaws.describe(flaw, self.layouts, pages, self.membership, lambda page: grids[grid_of[page]])

    def names(self, pages: NDArray[np.int64]) -> pl.DataFrame:
        """The ids of pages."""
        users = self.evaluator.truth.users.values().gather(self.layouts.user()[pages]).alias("user_id")
        if self.layouts.pages is None or self.layouts.page_ids is None:
            return pl.DataFrame([users])
        page = self.layouts.page_ids.values().gather(self.layouts.pages.pairs()[1][pages]).alias("page_id")
        return pl.DataFrame([users, page])


def _of_truths(values: Any, truths: Codes, nothing: Any) -> Any:
    """A truth's value for every page; pages may have no truth."""
    known = truths < len(values)
    out = np.full(len(truths), nothing, dtype=values.dtype)
    out[known] = values[truths[known]]
    return out
