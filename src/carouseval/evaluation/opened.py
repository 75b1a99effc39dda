"""A system's pages, packed, with all that they are judged by."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import DataError
from carouseval.evaluation import flaws, ideals
from carouseval.evaluation.ids import NONE, Codes
from carouseval.evaluation.membership import Membership
from carouseval.evaluation.pages import Layouts, Progress, ShownPages
from carouseval.metric.grid import RECGAZE, Array, Grid
from carouseval.tables import Defect

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

    def shares(self) -> tuple[Array, float]:
        """What every page adds to the mean over users of means over pages, and what missing pages do; together 1."""
        policies, truth = self.evaluator.policies, self.evaluator.truth
        truths, users, present, relevant = (
            self.layouts.truths(),
            self.layouts.user(),
            self.layouts.present,
            self.relevant(),
        )
        keeps_zero = policies.no_relevant == "zero"
        scored = present & (relevant[truths] | keeps_zero)
        weights = self.weights()
        page_weight = np.where(scored, 1.0 if weights is None else np.nan_to_num(weights), 0.0)
        seen = np.zeros(len(relevant), bool)
        seen[truths[present]] = True
        absent = np.flatnonzero(truth.judged & ~seen[: len(truth)] & (relevant[: len(truth)] | keeps_zero))
        if policies.missing_pages != "zero":
            absent = absent[:0]
        missing_weight = np.ones(len(absent)) if truth.weights is None else truth.weights[absent]
        owner = np.concatenate([users, truth.user_of(absent)])
        weight = np.concatenate([page_weight, missing_weight])
        counted = np.concatenate([scored, np.ones(len(absent), bool)])
        total, count = np.bincount(owner, weight), np.bincount(owner, counted)
        per_user = np.divide(total, count, out=np.zeros_like(total), where=count > 0)  # a user weighs what its pages do
        inside = np.divide(weight, total[owner], out=np.zeros_like(weight), where=total[owner] > 0)
        shares = inside * per_user[owner]
        shares /= max(shares.sum(), np.finfo(float).tiny)
        return shares[: len(users)], float(shares[len(users) :].sum())

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
        of_code = np.array([index.get(value, 0) for value in values], np.uint8)
        return list(grids.values()), np.where(segment == NONE, 0, of_code[np.where(segment == NONE, 0, segment)])

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
                raise DataError(
                    str(flaws.describe(flaw, self.layouts, marked, self.membership, lambda page: grids[grid_of[page]]))
                )
        for policy, found, what, remedy in (
            ("duplicates", shown.duplicates, "an item twice", "Drop the repeats, or use duplicates='best'."),
            ("unjudged", shown.unjudged, "an item without a judgment", "Judge it, or use unjudged='zero'."),
        ):
            if getattr(policies, policy) == "error" and found.any():
                pages = shown.pages[found > 0]
                raise DataError(
                    f"layouts: {len(pages):,} page{'s show' if len(pages) > 1 else ' shows'} {what}, "
                    f"first {self.name(pages)}. {remedy}"
                )

    def name(self, pages: NDArray[np.int64]) -> str:
        """The first of some pages, in the order of ids."""
        names = self.names(pages).sort(pl.all()).row(0, named=True)
        return " ".join(f"{key}={value!r}" for key, value in names.items() if value is not None)

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
