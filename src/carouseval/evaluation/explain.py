"""Where the score was lost: to the order of items, to the order of rows, or to what was chosen.

For every page S is its 2DCG, S1 the best with items free inside their rows, S2 the best with rows free too (the
displayed ideal), S3 the best of what is judged (the judged ideal): S <= S1 <= S2 <= S3.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import ParameterError
from carouseval.evaluation import ideals, schema
from carouseval.evaluation.evaluate import Evaluator, Grids, MetricLike
from carouseval.evaluation.explanation import Explanation, PageView
from carouseval.evaluation.first_shown import first_shown_ideals
from carouseval.evaluation.opened import Opened
from carouseval.evaluation.pages import Progress, ShownPages
from carouseval.evaluation.scoring import Scorer
from carouseval.metric.gains import Gain
from carouseval.metric.grid import RECGAZE, Array
from carouseval.tables import TableLike


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
    memory: float = 2.0,
    progress: Progress = None,
) -> Explanation:
    """Say what a system's pages lost, and where. Takes what :func:`carouseval.evaluate` takes, and one metric.

    >>> import carouseval as cv
    >>> layouts = {"user_id": [1, 1, 1], "row": [1, 1, 2], "col": [1, 2, 1], "item_id": [10, 11, 12],
    ...            "category": ["new", "new", "drama"]}
    >>> judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
    >>> {name: round(share, 4) for name, share in cv.explain(layouts, judgments).shares.items()}
    {'score': 0.8715, 'item_order': 0.0236, 'row_order': 0.1048, 'choice': 0.0}
    """
    evaluator = Evaluator(
        judgments, items, [metric], grid, gain, candidates, duplicates, missing_pages, no_relevant, unjudged, invalid,
        by, columns, weight=weight, memory=memory,
    )  # fmt: skip
    evaluator._items_from_layouts = True
    ((name, one),) = evaluator.metrics.items()
    if one.discount is None or one.ideal != "category":
        raise ParameterError(
            f"explain needs a metric whose ideal is one of categories, such as N2DCG_cat, found {name}."
        )
    with evaluator.open(layouts, progress) as opened:
        return _Losses(opened, name).explanation(layouts)


@dataclass(frozen=True)
class _Steps:
    """S, S1, S2 and S3 of some pages, and where the ideal pages' items stand."""

    values: Array  # (pages, 4)
    row_order_free: Array  # (pages, rows): S1 of each row
    shown_rows: Array  # (pages, rows): S of each row
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
    inside, free = fixed.solve(scorer.weights, True), displayed.solve(scorer.weights, True)
    s1, s2 = inside.best, free.best
    if policies.duplicates == "first":
        pinned = replace(shown, pinned=np.ones_like(shown.pinned))
        s1 = first_shown_ideals(pinned, scorer.gain, scorer.weights, inside)[0]
        s2 = first_shown_ideals(shown, scorer.gain, scorer.weights, free)[0]
    if policies.candidates == "judged":
        judged = scorer.judged_problems(shown, truths, users).spread(policies.once)
        best = judged.solve(scorer.weights, True)
    else:
        judged, best = displayed, free
    values = np.stack([dcg, s1, s2, best.bound if policies.candidates == "judged" else s2], axis=1)
    rows, _ = shown.cells()
    by_row = np.zeros(shown.length.shape)
    np.add.at(by_row, (shown.hit_page, rows), scorer.gain[shown.hits[:, 0]] * counted)
    cells = ideals.ideal_cells(fixed, inside, scorer.weights)
    free_by_row = np.zeros(shown.length.shape)
    np.add.at(free_by_row, (cells.problem, cells.row), cells.gain * scorer.weights[cells.row, cells.col])
    return _Steps(values, free_by_row, by_row, ideals.ideal_cells(judged, best, scorer.weights), counted)


class _Losses:
    """Losses of all pages of a system, added up batch by batch."""

    def __init__(self, opened: Opened, name: str) -> None:
        self._opened, self._name = opened, name
        self._truths, self._users = opened.layouts.truths(), opened.layouts.user()
        self._values = np.full((len(opened.layouts), 4), np.nan)
        self._losses = np.full((len(opened.layouts), 3), np.nan)
        self._shares, self._missing = opened.shares()
        self._parts: list[pl.DataFrame] = []
        self._rows: list[pl.DataFrame] = []

    def explanation(self, layouts: TableLike) -> Explanation:
        opened, by = self._opened, self._opened.evaluator.by
        grids, grid_of = opened.grid_of()
        for shown in opened.shown():
            for at, grid in enumerate(grids):
                scored = (grid_of[shown.pages] == at) & (self._shares[shown.pages] > 0)
                if scored.any():
                    scorer = opened.evaluator.scorer(self._name, grid, opened.membership)
                    self._add(scorer, shown if scored.all() else shown.take(np.flatnonzero(scored)))
        pages = np.flatnonzero(~np.isnan(self._values[:, 0]))
        frame = opened.names(pages).with_columns(
            *(opened.segment_values(name, opened.segment(name)[pages]) for name in by),
            pl.Series("share", self._shares[pages]),
            *(
                pl.Series(column, values)
                for column, values in zip(
                    ("dcg", "item_order", "row_order", "choice", "ideal"),
                    (self._values[pages, 0], *self._losses[pages].T, self._values[pages, 3]),
                    strict=True,
                )
            ),
        )
        score = pl.when(pl.col("ideal") > 0).then(pl.col("dcg") / pl.col("ideal")).otherwise(0.0).alias("score")
        keys = [key for key in ("user_id", "page_id") if key in frame.columns]
        frame = frame.with_columns(score).sort(keys)
        cells = _summed(self._parts, [*by, "row", "col"], ["loss", "gain", "ideal_gain"])
        rows = _summed(self._rows, [*by, "row"], ["item_order"])
        return Explanation(
            metric=self._name,
            per_page=frame,
            cells=cells,
            rows=rows,
            missing=self._missing,
            by=by,
            config=opened.evaluator.config(opened.membership),
            grid=grids[0],
            source=(opened.evaluator, layouts),
        )

    def _add(self, scorer: Scorer, shown: ShownPages) -> None:
        pages = shown.pages
        found = steps(scorer, shown, self._truths[pages], self._users[pages], self._opened)
        self._values[pages], self._losses[pages] = found.values, found.losses
        top = found.values[:, 3]
        worth = np.where(top > 0, self._shares[pages] / np.where(top > 0, top, 1.0), 0.0)
        by = self._opened.evaluator.by
        segment = {name: self._opened.segment_values(name, self._opened.segment(name)[pages]) for name in by}
        row, col = shown.cells()
        page = shown.hit_page
        counts = found.counted > 0
        page, row, col, hit_gain = page[counts], row[counts], col[counts], scorer.gain[shown.hits[counts, 0]]
        ideal = found.ideal
        both = np.concatenate([page, ideal.problem])
        cells = pl.DataFrame(
            {name: values.gather(both) for name, values in segment.items()}
            | {
                "row": np.concatenate([row, ideal.row]) + 1,
                "col": np.concatenate([col, ideal.col]) + 1,
                "gain": np.concatenate([hit_gain * self._shares[pages][page], np.zeros(len(ideal.row))]),
                "ideal_gain": np.concatenate([np.zeros(len(row)), ideal.gain * self._shares[pages][ideal.problem]]),
                "loss": np.concatenate(
                    [
                        -hit_gain * scorer.weights[row, col] * worth[page],
                        ideal.gain * scorer.weights[ideal.row, ideal.col] * worth[ideal.problem],
                    ]
                ),
            }
        )
        self._parts.append(_summed([cells], [*by, "row", "col"], ["loss", "gain", "ideal_gain"]))
        at, row = np.nonzero(shown.length)
        lost = (found.row_order_free - found.shown_rows)[at, row] * worth[at]
        rows = {name: values.gather(at) for name, values in segment.items()} | {"row": row + 1, "item_order": lost}
        self._rows.append(_summed([pl.DataFrame(rows)], [*by, "row"], ["item_order"]))


def _summed(parts: list[pl.DataFrame], keys: list[str], values: list[str]) -> pl.DataFrame:
    if not parts:
        return pl.DataFrame(schema=dict.fromkeys(keys, pl.Int64) | dict.fromkeys(values, pl.Float64))
    return pl.concat(parts).group_by(keys).agg(pl.col(values).sum()).sort(keys)


def page_view(explanation: Explanation, user_id: Any, page_id: Any = None) -> PageView:
    """One page beside its ideal; its lines are read again."""
    evaluator, layouts = explanation.source
    opened_table = schema.open_tables({"layouts": layouts} | evaluator._sources, evaluator.columns, evaluator.by)[
        "layouts"
    ]
    keep = pl.col("user_id") == user_id
    if page_id is not None:
        keep = keep & (pl.col("page_id") == page_id)
    lines = opened_table.frame().filter(keep).collect()
    who = f"user_id={user_id!r}" + ("" if page_id is None else f" page_id={page_id!r}")
    if lines.is_empty():
        raise ParameterError(f"layouts: there is no page of {who}.")
    if page_id is None and "page_id" in lines.columns:
        page_id = lines["page_id"].sort()[0]
        lines = lines.filter(pl.col("page_id") == page_id)
    with evaluator.open(lines) as opened:
        ((name, _),) = evaluator.metrics.items()
        grids, grid_of = opened.grid_of()
        shown = next(opened.shown())
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
