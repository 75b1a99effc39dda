"""Where the score was lost: to the order of items, to the order of rows, or to what was chosen.

For every page S is its 2DCG, S1 the best with items free inside their rows, S2 the best with rows free too (the
displayed ideal), S3 the best of what is judged (the judged ideal): S <= S1 <= S2 <= S3, unless a page does what no
ideal page may.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import ParameterError
from carouseval.evaluation import ideals, schema
from carouseval.evaluation.evaluate import Evaluator, Grids, OneSystem
from carouseval.evaluation.explanation import LOSSES, Explanation, PageView
from carouseval.evaluation.first_occurrence import first_shown_ideals
from carouseval.evaluation.found import Found
from carouseval.evaluation.layouts import Progress, ShownPages
from carouseval.evaluation.opened import Opened
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring import Scorer
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import RECGAZE, Array
from carouseval.metrics.names import MetricLike
from carouseval.tables import TableLike, in_memory


def explain(
    layouts: TableLike,
    judgments: TableLike,
    items: TableLike | None = None,
    metric: MetricLike = "N2DCG_cat",
    grid: Grids = RECGAZE,
    gain: Gain = "exp2",
    candidates: str = "judged",
    duplicates: str = "best",
    missing_pages: str = "zero",
    no_relevant: str = "skip",
    unjudged: str = "zero",
    invalid: str = "error",
    by: str | Sequence[str] | None = None,
    columns: schema.ColumnNames = None,
    *,
    weight: str | None = None,
    memory: float = 4.0,
    progress: Progress = None,
) -> Explanation:
    """Say what a system's pages lost, and where. Takes what :func:`carouseval.evaluate` takes, and one metric.

    >>> import carouseval as cv
    >>> layouts = {"user_id": [1, 1, 1], "row": [1, 1, 2], "col": [1, 2, 1], "item_id": [10, 11, 12],
    ...            "category": ["new", "new", "drama"]}
    >>> judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
    >>> {name: round(share, 4) for name, share in cv.explain(layouts, judgments).shares.items()}
    {'score': 0.8715, 'item_order': 0.0217, 'row_order': 0.1068, 'choice': 0.0}
    """
    evaluator = OneSystem(
        judgments, items, [metric], grid, gain, candidates, duplicates, missing_pages, no_relevant, unjudged, invalid,
        by, columns, weight=weight, memory=memory,
    )  # fmt: skip
    ((name, one),) = evaluator.metrics.items()
    if one.discount is None or one.ideal != "category":
        raise ParameterError(f"explain works with N2DCG_cat, of any discount and cutoff, found {name}.")
    layouts = in_memory(layouts, "layouts")
    with evaluator.open(layouts, progress) as opened:
        found, losses = Found(opened), _Losses(opened, name)
        for shown in opened.shown():
            found.add(shown)
            losses.add(shown)
        return losses.explanation(found.evaluation(), layouts)


@dataclass(frozen=True)
class _Steps:
    """S, S1, S2 and S3 of some pages, and where the items of pages stand when only rows are fixed, and ideally."""

    values: Array  # (pages, 4)
    inside: ideals.IdealCells
    ideal: ideals.IdealCells
    counted: Array  # what every hit weighs

    @property
    def losses(self) -> Array:
        """Item order, row order, choice; none negative, and with S they make S3 unless the page is better than that."""
        s, s1, s2, s3 = self.values.T
        s1, s2 = np.maximum(s, np.minimum(s1, s3)), np.maximum(s, np.minimum(s2, s3))
        s2 = np.maximum(s2, s1)
        losses: Array = np.maximum(0.0, np.stack([s1 - s, s2 - s1, s3 - s2], axis=1))
        return losses


def steps(scorer: Scorer, shown: ShownPages, truths: Any, users: Any, opened: Opened) -> _Steps:
    """What each freedom would be worth on each page."""
    policies = opened.evaluator.policies
    dcg, counted = scorer.counted(shown)
    displayed = scorer.displayed_problems(shown).spread(policies.once)
    fixed = ideals.rows_fixed(displayed)
    (s1, inside), (s2, free) = (_best(scorer, shown, problems, policies.duplicates) for problems in (fixed, displayed))
    if policies.candidates == "judged":
        judged = scorer.judged_problems(shown, truths, users).spread(policies.once)
        best = judged.solve(scorer.weights, True)
        s3, ideal = best.bound, ideals.ideal_cells(judged, best, scorer.weights)
    else:
        s3, ideal = s2, free
    return _Steps(np.stack([dcg, s1, s2, s3], axis=1), inside, ideal, counted)


def _best(
    scorer: Scorer, shown: ShownPages, problems: ideals.Problems, duplicates: str
) -> tuple[Array, ideals.IdealCells]:
    solution = problems.solve(scorer.weights, True)
    if duplicates == "first":
        first = first_shown_ideals(shown, scorer.gain, scorer.weights, problems, solution)
        return first.best, first.cells
    return solution.best, ideals.ideal_cells(problems, solution, scorer.weights)


class _Losses:
    """Losses of all pages of a system, added up batch by batch."""

    def __init__(self, opened: Opened, name: str) -> None:
        self._opened, self._name = opened, name
        self._truths, self._users = opened.layouts.truths(), opened.layouts.user()
        self._values = np.full((len(opened.layouts), 4), np.nan)
        self._losses = np.full((len(opened.layouts), 3), np.nan)
        self._shares = opened.shares()
        self._grids, self._grid_of = opened.grid_of()
        self._cells: list[pl.DataFrame] = []
        self._rows: list[pl.DataFrame] = []

    def add(self, shown: ShownPages) -> None:
        """What some pages lost."""
        for at, grid in enumerate(self._grids):
            scored = (self._grid_of[shown.pages] == at) & (self._shares[shown.pages] > 0)
            if scored.any():
                scorer = self._opened.evaluator.scorer(self._name, grid, self._opened.membership)
                self._add(scorer, shown if scored.all() else shown.take(np.flatnonzero(scored)))

    def explanation(self, evaluation: Evaluation, layouts: TableLike) -> Explanation:
        opened, by = self._opened, self._opened.evaluator.by
        pages = np.flatnonzero(~np.isnan(self._values[:, 0]))
        lost = dict(zip(LOSSES, self._losses[pages].T, strict=True))
        found = opened.names(pages).with_columns(
            pl.Series("dcg", self._values[pages, 0]),
            *(pl.Series(name, values) for name, values in lost.items()),
            pl.Series("ideal", self._values[pages, 3]),
        )
        keys = [key for key in ("user_id", "page_id") if key in found.columns]
        kept = [name for name in (*keys, *by, "weight", "status") if name in evaluation.per_page.columns]
        frame = evaluation.per_page.select(*kept, pl.col(self._name).alias("score")).join(found, on=keys, how="left")
        return Explanation(
            metric=self._name,
            per_page=frame,
            cells=_summed(self._cells, [*by, "row", "col"], ["loss", "gain", "ideal_gain"]),
            rows=_summed(self._rows, [*by, "row"], ["item_order"]),
            by=by,
            evaluation=evaluation,
            grid=self._grids[0],
            source=(opened.evaluator, layouts),
        )

    def _add(self, scorer: Scorer, shown: ShownPages) -> None:
        pages = shown.pages
        found = steps(scorer, shown, self._truths[pages], self._users[pages], self._opened)
        self._values[pages], self._losses[pages] = found.values, found.losses
        top = found.values[:, 3]
        share = self._shares[pages]
        worth = np.where(top > 0, share / np.where(top > 0, top, 1.0), 0.0)
        by = self._opened.evaluator.by
        segment = {name: self._opened.segment_values(name, self._opened.segment(name)[pages]) for name in by}
        counts = found.counted > 0
        row, col = (places[counts] for places in shown.cells())
        page, gain = shown.hit_page[counts], scorer.gain[shown.hits[counts, 0]]
        weighed = scorer.weights[row, col] * worth[page] * gain
        ideal, inside = found.ideal, found.inside
        nothing, none = np.zeros(len(ideal.row)), np.zeros(len(row))
        cells = _places(segment, np.concatenate([page, ideal.problem]), np.concatenate([row, ideal.row])).with_columns(
            pl.Series("col", np.concatenate([col, ideal.col]) + 1),
            pl.Series("gain", np.concatenate([gain * share[page], nothing])),
            pl.Series("ideal_gain", np.concatenate([none, ideal.gain * share[ideal.problem]])),
            pl.Series("loss", np.concatenate([-weighed, _weighed(ideal, scorer.weights, worth)])),
        )
        self._cells.append(_summed([cells], [*by, "row", "col"], ["loss", "gain", "ideal_gain"]))
        rows = _places(segment, np.concatenate([page, inside.problem]), np.concatenate([row, inside.row]))
        lost = pl.Series("item_order", np.concatenate([-weighed, _weighed(inside, scorer.weights, worth)]))
        self._rows.append(_summed([rows.with_columns(lost)], [*by, "row"], ["item_order"]))


def _places(segment: dict[str, pl.Series], page: NDArray[np.int64], row: NDArray[np.int64]) -> pl.DataFrame:
    return pl.DataFrame({name: values.gather(page) for name, values in segment.items()} | {"row": row + 1})


def _weighed(cells: ideals.IdealCells, weights: Array, worth: Array) -> Array:
    weighed: Array = cells.gain * weights[cells.row, cells.col] * worth[cells.problem]
    return weighed


def _summed(parts: list[pl.DataFrame], keys: list[str], values: list[str]) -> pl.DataFrame:
    if not parts:
        return pl.DataFrame(schema=dict.fromkeys(keys, pl.Int64) | dict.fromkeys(values, pl.Float64))
    return pl.concat(parts).group_by(keys).agg(pl.col(values).sum()).sort(keys)


def page_view(explanation: Explanation, user_id: Any, page_id: Any = None) -> PageView:
    """One page beside its ideal; its lines are read again."""
    if explanation.source is None:
        raise ParameterError("an explanation that was loaded has no tables to read pages from; explain anew.")
    evaluator, layouts = explanation.source
    table = evaluator.tables(layouts)["layouts"]
    keep = [("user_id", user_id)] + ([] if page_id is None else [("page_id", page_id)])
    for column, value in keep:
        if column not in table:
            raise ParameterError(f"layouts have no column {column}.")
        kind, word = (Integral, "an integer") if table.id_types[column] == pl.Int64 else (str, "text")
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ParameterError(f"{column} must be {word} here, found {value!r}.")
    with table.readable():
        lines = table.frame().filter(*(pl.col(column) == value for column, value in keep)).collect(engine="streaming")
    who = " ".join(f"{column}={value!r}" for column, value in keep)
    if lines.is_empty():
        judged = explanation.per_page.filter(pl.col("user_id") == user_id).height
        raise ParameterError(f"layouts: there is no page of {who}{', who has judgments' if judged else ''}.")
    if page_id is None and "page_id" in lines.columns:
        page_id = lines["page_id"].sort()[0]
        lines = lines.filter(pl.col("page_id") == page_id)
    with evaluator.open(lines, canonical=True) as opened:
        (name,) = evaluator.metrics
        grids, grid_of = opened.grid_of()
        shown = next(shown for shown in opened.shown() if len(shown))
        scorer = evaluator.scorer(name, grids[grid_of[shown.pages[0]]], opened.membership)
        truths, users = opened.layouts.truths()[shown.pages], opened.layouts.user()[shown.pages]
        found = steps(scorer, shown, truths, users, opened)
        return PageView(
            user_id=user_id,
            page_id=page_id,
            grid=scorer.grid,
            weights=scorer.weights,
            values=dict(zip(("dcg", "item_order", "row_order", "ideal"), found.values[0].tolist(), strict=True)),
            shown=_shown_cells(lines, evaluator, scorer, shown, found.counted),
            ideal=_ideal_cells(found.ideal, evaluator, scorer),
        )


def _shown_cells(
    lines: pl.DataFrame, evaluator: Evaluator, scorer: Scorer, shown: ShownPages, counted: Array
) -> pl.DataFrame:
    row, col = shown.cells()
    hits = pl.DataFrame(
        {
            "row": row + 1,
            "col": col + 1,
            "relevance": evaluator.truth.relevance[shown.hits[:, 0]],
            "gain": scorer.gain[shown.hits[:, 0]],
            "counts": counted > 0,
        }
    )
    kept = [name for name in ("row", "col", "item_id", "category") if name in lines.columns]
    joined = lines.select(kept).join(hits, on=["row", "col"], how="left").sort("row", "col")
    weight = pl.Series("weight", scorer.weights[joined["row"].to_numpy() - 1, joined["col"].to_numpy() - 1])
    return joined.with_columns(weight, pl.col("gain").fill_null(0.0), pl.col("counts").fill_null(False))


def _ideal_cells(cells: ideals.IdealCells, evaluator: Evaluator, scorer: Scorer) -> pl.DataFrame:
    truth = evaluator.truth
    categories = truth.categories.values()
    known: NDArray[np.bool_] = cells.category < len(categories)
    label = pl.Series(cells.category).set(pl.Series(~known), None)
    return pl.DataFrame(
        {
            "row": cells.row + 1,
            "col": cells.col + 1,
            "item_id": truth.items.values().gather(truth.item[cells.judgment]),
            "category": categories.gather(label)
            if len(categories)
            else pl.Series([None] * len(label), dtype=pl.String),
            "gain": cells.gain,
            "weight": scorer.weights[cells.row, cells.col],
        }
    ).sort("row", "col")
