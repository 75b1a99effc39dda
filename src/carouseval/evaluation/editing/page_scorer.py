"""Scores versions of one page: what does not change with them is prepared once, what does is a few kernel calls."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from carouseval.errors import DataError, ParameterError
from carouseval.evaluation.defects import page_defects
from carouseval.evaluation.editing.page_rows import Fillers, IdealCell, PageRow, arrange, lines_of_rows
from carouseval.evaluation.explanation import LOSSES
from carouseval.evaluation.outcomes import REFUSE, SCORE, SKIP, MetricOutcomes, PageOutcomes
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.inputs import NO_CATEGORY, Inputs
from carouseval.evaluation.reading.judged_data import JudgedData, metric_gains
from carouseval.evaluation.reading.judgments import Judgments
from carouseval.evaluation.reading.layouts import Layouts
from carouseval.evaluation.reading.page_batch import PageBatch, read_batch
from carouseval.evaluation.scoring.ideal_problems import IdealCells
from carouseval.evaluation.scoring.loss_steps import loss_steps
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.page_scores import gaps
from carouseval.evaluation.scoring.scoring_step import score
from carouseval.evaluation.settings import Settings
from carouseval.messages import nested, setting
from carouseval.metrics.grid import Array, Grid


@dataclass(frozen=True)
class VersionScore:
    """What becomes of a page."""

    score: float | None  # None where the page is not part of the mean
    status: str  # as in ``per_page``
    value: float  # 2DCG, or whatever the metric adds up
    ideal: float | None  # what the score is divided by, if anything
    gap: float  # by what share the score is too low at most: above 0 if the ideal is a bound rather than a page
    losses: dict[str, float] | None  # shares of the ideal, for metrics with a category ideal
    ideal_cells: tuple[IdealCell, ...]
    defects: tuple[str, ...]  # what is wrong with the page, in words
    outside: tuple[tuple[int, int], ...]  # row and column, from 0, of items outside their row's category


class PageScorer:
    """Scores versions of one page, by one metric on one grid.

    Its numbers are those of ``evaluate(..., invalid="count")`` and ``explain`` for a table of layouts that holds the
    version, to the last digit. The judged ideal is solved with the first of them.
    """

    def __init__(self, inputs: Inputs, page: int, settings: Settings) -> None:
        one_thread = replace(settings, by=None, weight=None, invalid="count", threads=1)
        self.plan: ScoringPlan = ScoringPlan.of(one_thread)
        (self._name,) = self.plan.names
        if self._name not in self.plan.metrics:
            raise ParameterError(
                f"{setting('metrics')}: {self._name} is a number of a whole system; single pages have none."
            )
        if self.plan.needs_categories and inputs.judged.membership is None:
            raise DataError(NO_CATEGORY)
        self._layouts = _one_page(inputs.layouts, page)
        self._judged = _judged_page(inputs, page, self.plan)
        self._ideals = PageIdeals(self._judged, self.plan, keeps_cells=True)

    @property
    def grid(self) -> Grid:
        """The screen."""
        return self.plan.grids[0]

    @property
    def weights(self) -> Array:
        """The weight of every cell."""
        return self.plan.weights(self._name, 0)

    @property
    def has_ideal_page(self) -> bool:
        """Whether the ideal is a page of carousels, which :meth:`ideal_rows` gives."""
        return self.plan.metrics[self._name].ideal == "category"

    def score(self, rows: Sequence[PageRow]) -> VersionScore:
        """Score a version of the page."""
        layouts, page = self._read(rows)
        outcome = PageOutcomes.of(self._judged, layouts, self.plan).by_metric[self._name]
        ideals = self._ideals.for_layouts(self._judged, None)  # a version's own ideals are not those of the next
        scores = score(self._judged, page, self.plan, ideals).metrics[self._name]
        losses, cells = self._steps(page, ideals) if self.has_ideal_page else (None, ())
        return VersionScore(
            score=_page_score(outcome, float(scores.score[0])),
            status=str(outcome.status[0]),
            value=float(scores.value[0]),
            ideal=None if np.isnan(scores.ideal[0]) else float(scores.ideal[0]),
            gap=float(gaps(scores.best, scores.bound)[0]),
            losses=losses,
            ideal_cells=cells,
            defects=tuple(_defects(page)),
            outside=tuple(self._outside(page, rows)),
        )

    def ideal_rows(self, rows: Sequence[PageRow]) -> list[PageRow]:
        """The ideal page: its relevant items where they belong, and items without gain in the other cells.

        The latter are those of the version, where they fit.
        """
        if not self.has_ideal_page:
            raise ParameterError(
                f"{setting('metrics')}: the ideal of {self._name} is not a page of carousels; use N2DCG_cat."
            )
        _, page = self._read(rows)
        _, cells = self._steps(page, self._ideals.for_layouts(self._judged, None))
        cells = tuple(cell for cell in cells if self.weights[cell.row, cell.col] > 0)  # others may stand anywhere
        categories = [None if code == NONE else int(code) for code in page.category[0, : len(rows)].tolist()]
        if self.plan.settings.candidates == "displayed":
            return arrange(rows, categories, cells, self.grid)
        outside = set(self._outside(page, rows))  # the ideal page shows nothing that its rows may not
        rows = [
            row._replace(items=tuple(None if (number, col) in outside else item for col, item in enumerate(row.items)))
            for number, row in enumerate(rows)
        ]
        return arrange(rows, categories, cells, self.grid, self._fillers)

    def _read(self, rows: Sequence[PageRow]) -> tuple[Layouts, PageBatch]:
        lines = lines_of_rows(rows)
        if not len(lines):
            raise DataError("layouts: the page has no items; it must show at least one.")
        layouts = replace(self._layouts, parts=[lines], lines=len(lines))
        page = read_batch(lines, layouts, self._judged, self.plan, mark_lines=True)
        for defect, marked in page_defects.refused(page, self.plan):
            if len(marked):
                raise DataError(f"layouts: at least one {defect.one}. {nested(defect.remedy)}")
        return layouts, page

    def _steps(self, page: PageBatch, ideals: PageIdeals) -> tuple[dict[str, float], tuple[IdealCell, ...]]:
        """The losses as shares of the ideal, and the relevant items of the ideal page."""
        steps = loss_steps(self._name, 0, page, ideals)
        ideal = float(steps.values[0, 3])
        shares = [loss / ideal if ideal > 0 else 0.0 for loss in steps.losses[0].tolist()]
        return dict(zip(LOSSES, shares, strict=True)), self._cells(steps.ideal)

    def _cells(self, cells: IdealCells) -> tuple[IdealCell, ...]:
        item = self._judged.judgments.item[cells.judgment]
        columns = (cells.row.tolist(), cells.col.tolist(), item.tolist(), cells.category.tolist())
        return tuple(
            IdealCell(row, col, code, None if category == NONE else category)
            for row, col, code, category in sorted(zip(*columns, strict=True))
        )

    def _outside(self, page: PageBatch, rows: Sequence[PageRow]) -> Iterator[tuple[int, int]]:
        """The cells whose items are outside their row's category, if any are."""
        for place in page.lines[(page.marks & page_defects.OUTSIDE_CATEGORY.bit) > 0, 3].tolist():
            row, col = (place >> 16 & 0x7FFF) - 1, (place & 0xFFFF) - 1
            if rows[row].category is not None:
                yield row, col

    def _fillers(self, category: int) -> Fillers:
        """The items of a category that have no gain, as the page's user has them."""
        membership, judgments = self._judged.membership, self._judged.judgments
        assert membership is not None
        user, gaining = int(judgments.user[0]), judgments.item[self._judged.gains[self._name] > 0]
        members = np.setdiff1d(membership.members(user, category), gaining)
        return Fillers([int(item) for item in members], self._judged.carousels.declared_capacity(user, category))


def _page_score(outcome: MetricOutcomes, score: float) -> float | None:
    """The score as ``per_page`` has it."""
    decision = int(outcome.decision[0])
    return None if decision in (SKIP, REFUSE) else score if decision == SCORE else 0.0


def _defects(page: PageBatch) -> Iterator[str]:
    """What is wrong with a page that is scored nevertheless."""
    for defect in page_defects.PAGE_DEFECTS:
        if int(page.defects[0]) & defect.bit:
            yield f"At least one {defect.one}."


def _one_page(layouts: Layouts, page: int) -> Layouts:
    """Layouts of this page alone, whose code becomes 0, as yet without lines."""
    return Layouts(
        parts=[],
        lines=0,
        labelled=layouts.labelled,
        page_ids=None,
        present=np.ones(1, bool),
        user=layouts.user[[page]],
        judgment_set=np.zeros(1, np.uint32),
        grid=np.zeros(1, np.uint8),
        segments={},
        weights=None,
        pairs=None,
    )


def _judged_page(inputs: Inputs, page: int, plan: ScoringPlan) -> JudgedData:
    """What one page is judged by: its judgments alone, as set 0, and the categories and carousels of all."""
    layouts, judged = inputs.layouts, inputs.judged
    judgments = judged.judgments
    lines = judgments.of_set(int(layouts.judgment_set[page]))
    of_page = Judgments(
        offsets=np.array([0, lines.stop - lines.start]),
        item=judgments.item[lines],
        relevance=judgments.relevance[lines],
        user=layouts.user[[page]],
        per_page=judgments.per_page,
        segments={},
        weights=None,
    )
    carousels, grid = judged.carousels, slice(int(layouts.grid[page]), int(layouts.grid[page]) + 1)
    carousels = replace(
        carousels,
        limits=np.ascontiguousarray(carousels.limits[grid]),
        pinned=None if carousels.pinned is None else np.ascontiguousarray(carousels.pinned[grid]),
    )
    return JudgedData(of_page, metric_gains(of_page, plan, inputs.tables["judgments"]), judged.membership, carousels)
