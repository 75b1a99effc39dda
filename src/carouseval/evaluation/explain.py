"""Where the score was lost: to the order of items, to the order of rows, or to the choice of items.

For every page S is its 2DCG, S1 the best with items free inside their rows, S2 the best with rows free too (the
displayed ideal), S3 the best of all judged items (the judged ideal): S <= S1 <= S2 <= S3, unless the page shows what no
ideal page may, such as a repeated item (``loss_steps.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, SupportsIndex, TypeAlias, Unpack

import polars as pl

from carouseval.errors import warn
from carouseval.evaluation import result_columns
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.evaluate import evaluate_inputs
from carouseval.evaluation.explained_pages import ChosenPages, look_up_page
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.losses import Losses, LossPart, LossScale, as_floats, explained_metric, loss_columns
from carouseval.evaluation.notices import rows_not_proven
from carouseval.evaluation.page_view import PageView
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.settings import Settings, SettingsDict
from carouseval.progress import Progress
from carouseval.settings import checked_settings, takes
from carouseval.tables.table import TableLike, in_memory

View: TypeAlias = Callable[[SupportsIndex | str, SupportsIndex | str | None], PageView]
"""Looks up a page by its ids."""


@takes(Settings)
def explain(
    layouts: TableLike,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    pages: Sequence[Any] = (),
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Explanation:
    """Split what a system's pages lose into item order, row order and the choice of items.

    Takes one metric with a category ideal: ``N2DCG_cat``, with any discount and cutoff.

    Parameters
    ----------
    layouts : table
        The pages, as in :func:`carouseval.evaluate`.
    judgments : table
        Lines of ``user_id, item_id, relevance``, as in :func:`carouseval.evaluate`.
    items : table, optional
        Lines of ``item_id, category``. By default, the (item, category) pairs in layouts.
    pages : sequence, default ()
        Pages to hold besides the worst and a typical one, for charts and reports: each a ``user_id``, or a tuple of
        ``user_id`` and ``page_id``.
    progress : callable, optional
        Called with (what, done, total) while tables are read and scored.

    Returns
    -------
    Explanation
        The losses overall, by segment, cell and page.

    Examples
    --------
    >>> import carouseval as cv
    >>> layouts = {"user_id": [1, 1, 1], "row": [1, 1, 2], "col": [1, 2, 1], "item_id": [10, 11, 12],
    ...            "category": ["new", "new", "drama"]}
    >>> judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
    >>> {name: round(share, 4) for name, share in cv.explain(layouts, judgments).shares.items()}
    {'score': 0.8715, 'item_order': 0.0217, 'row_order': 0.1068, 'choice': 0.0}
    """
    plan = ScoringPlan.of(checked_settings("explain", settings, Settings))
    name = explained_metric(plan)
    layouts = in_memory(layouts, "layouts")
    with JudgedSources(judgments, items, plan).open(layouts, progress) as inputs:
        ideals = PageIdeals(inputs.judged, plan, inputs.shown, keeps_cells=True, progress=progress)
        losses = Losses(inputs, name, ideals)
        evaluation = evaluate_inputs(inputs, ideals, progress, [losses.begin])
        return explain_scored(inputs, losses, evaluation, layouts, warn, pages)


def explain_scored(
    inputs: Inputs,
    losses: Losses,
    evaluation: Evaluation,
    layouts: TableLike,
    notify: Callable[[str], None],
    pages: Sequence[Any] = (),
) -> Explanation:
    """Explain pages that were scored on this machine, with some that are named."""
    name, scored = losses.metric, evaluation.pages.collect()
    chosen = ChosenPages.of(scored.frame, name, pages)
    frame, part = losses.part(scored, chosen)
    view = partial(look_up_page, inputs.judged_tables, losses.ideals, layouts, name)
    return finish_explanation(name, frame, part, chosen, losses.scale, evaluation, inputs.plan, notify, view)


def finish_explanation(
    name: str,
    frame: pl.DataFrame,
    part: LossPart,
    chosen: ChosenPages,
    scale: LossScale,
    evaluation: Evaluation,
    plan: ScoringPlan,
    notify: Callable[[str], None],
    view: View | None,
) -> Explanation:
    """Make an explanation of the sum of all parts and the losses of all pages; ``view`` looks other pages up."""
    if part.unproven:
        notify(rows_not_proven(part.unproven, part.largest_gap, plan.settings))
    by = plan.settings.by_columns
    present = loss_columns(frame.columns, by)
    scales = {Columns.LOSS: 1.0, Columns.GAIN: scale.top, Columns.IDEAL_GAIN: scale.top}
    keys = [key for key in (Columns.USER, Columns.PAGE) if key in frame.columns]
    views = {(view.user_id, view.page_id)[: len(keys)]: view for view in part.shown}
    return Explanation(
        metric=name,
        per_page=frame,
        cells=result_columns.CELLS.arranged(as_floats(part.cells, scales), present),
        rows=result_columns.ROWS.arranged(as_floats(part.rows, {Columns.ITEM_ORDER: 1.0}), present),
        by=by,
        evaluation=evaluation,
        grid=plan.grid_by_segment or plan.grids[0],
        pages=tuple(views[ids] for ids in chosen.worst),
        view=view,
        typical=None if chosen.typical is None else views[chosen.typical],
        named=tuple(views[ids] for ids in chosen.named),
    )
