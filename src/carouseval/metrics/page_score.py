"""One page in detail: its scores, the weights of its cells, and the ideal page of its items."""

import html
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from carouseval.errors import DataError, ParameterError
from carouseval.metrics.array_functions import dcg2d
from carouseval.metrics.discount_base import Discount
from carouseval.metrics.gain_names import IdealName
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import Array, Grid, IntArray
from carouseval.metrics.ideal import ideal_dcg2d, ideal_layout, rearranged
from carouseval.metrics.metric_base import Metric
from carouseval.metrics.names import MetricLike, metric
from carouseval.metrics.page_stack import stack_pages
from carouseval.metrics.relevance import Relevance
from carouseval.results import Result, plain
from carouseval.text_tables import frame_html

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, repr=False)
class PageAnalysis:
    """A page, its weights and its ideal page under one metric.

    Attributes
    ----------
    metric : Metric
        The metric.
    discount : Discount
        Its discount.
    weights : ndarray of shape (rows, cols)
        The weights of the grid, 0 beyond the metric's cutoff.
    ideal : {"category", "unconstrained"}
        The kind of ideal page.
    source : ndarray of int64, shape (rows, cols, 2)
        Where each cell of the ideal page comes from, as in :func:`carouseval.ideal_layout`.
    ideal_page : ndarray of shape (rows, cols)
        The relevances of the ideal page.
    dcg : float
        2DCG of the page.
    ideal_dcg : float
        2DCG of the ideal page.
    """

    metric: Metric
    discount: Discount
    weights: Array
    ideal: IdealName
    source: IntArray
    ideal_page: Array
    dcg: float
    ideal_dcg: float

    @property
    def summary(self) -> str:
        """The 2DCG of the page and its share of the ideal page's, in words."""
        share = f", {self.dcg / self.ideal_dcg:.1%} of the ideal page" if self.ideal_dcg > 0 else ""
        return f"{self.metric.full_name}: 2DCG {self.dcg:.4g}{share}"

    def __repr__(self) -> str:
        return f"<PageAnalysis {self.summary}>"


@dataclass(frozen=True, repr=False)
class PageScore(Result):
    """Scores of one page under several metrics.

    Attributes
    ----------
    grid : Grid
        The screen.
    page : ndarray of shape (rows, cols)
        The relevances, NaN in empty cells.
    scores : dict of str to float
        The score under each metric, by name.
    discounts : dict of str to str
        The discount of each metric that has one.
    analysis : PageAnalysis or None
        The page under the first metric that has a discount.
    """

    grid: Grid
    page: Array
    scores: dict[str, float]
    discounts: dict[str, str]
    analysis: PageAnalysis | None

    def __repr__(self) -> str:
        rows, cols = self.page.shape
        scores = ", ".join(f"{name} {score:.4f}" for name, score in self.scores.items())
        return f"<PageScore of a {rows}x{cols} page: {scores}>"

    def _repr_html_(self) -> str:
        rows, cols = self.page.shape
        summary = "" if self.analysis is None else f" {html.escape(self.analysis.summary)}."
        return f"<p>Scores of a {rows}x{cols} page.{summary}</p>{frame_html(self.to_frame())}"

    def to_frame(self) -> "pl.DataFrame":
        """One line per metric, with the columns metric and score."""
        import polars as pl

        return pl.DataFrame({"metric": list(self.scores), "score": list(self.scores.values())})

    def to_dict(self) -> dict[str, Any]:
        """Scores, grid, page, weights and ideal page. Rows and columns of ``source`` are counted from 1."""
        content: dict[str, Any] = {
            "metrics": self.scores,
            "discounts": self.discounts,
            "grid": asdict(self.grid),
            "page": self.page.tolist(),
        }
        if self.analysis is not None:
            source = self.analysis.source.tolist()
            content["weights"] = {"discount": str(self.analysis.discount), "table": self.analysis.weights.tolist()}
            content["ideal"] = {
                "kind": self.analysis.ideal,
                "page": self.analysis.ideal_page.tolist(),
                "source": [[[i + 1, j + 1] if i >= 0 else None for i, j in row] for row in source],
                "2DCG": self.analysis.ideal_dcg,
            }
        return plain(content)


def score_page(
    relevance: Relevance,
    metrics: Sequence[MetricLike] = ("N2DCG_cat",),
    grid: Grid | None = None,
    gain: Gain = "exp2",
) -> PageScore:
    """Score one page under several metrics and analyse it under the first that has a discount.

    >>> score_page([[0, 0, 1], [2, 0, 1]], ["N2DCG_cat", "Precision"])
    <PageScore of a 2x3 page: N2DCG_cat 0.8556, Precision 0.5000>
    """
    stack = stack_pages(relevance, gain)
    if stack.leading:
        raise DataError(
            f"relevance: one page has shape (rows, cols), found {(*stack.leading, *stack.relevance.shape[1:])}."
        )
    page = stack_pages(relevance, "linear").relevance[0].astype(np.float64)
    named = [metric(name) for name in metrics]
    for name, count in Counter(map(str, dict.fromkeys(named))).items():
        if count > 1:
            raise ParameterError(f"{count} different metrics are named {name!r}; give them names of their own.")
    scores = {str(each): each(page, grid, gain) for each in named}
    discounted = [each for each in named if each.has_discount]
    discounts = {str(each): str(each.discount) for each in discounted}
    analysis = _analysis(page, discounted[0], grid, gain) if discounted else None
    return PageScore(grid or Grid(*page.shape), page, scores, discounts, analysis)


def _analysis(page: Array, metric: Metric, grid: Grid | None, gain: Gain) -> PageAnalysis:
    assert metric.discount is not None
    assert not isinstance(metric.cutoff, int)
    ideal: IdealName = "unconstrained" if metric.ideal == "unconstrained" else "category"
    gain = gain if metric.gain is None else metric.gain
    source = ideal_layout(page, metric.discount, grid, gain, ideal, cutoff=metric.cutoff)
    return PageAnalysis(
        metric=metric,
        discount=metric.discount,
        weights=metric.weights(grid or Grid(*page.shape)),
        ideal=ideal,
        source=source,
        ideal_page=rearranged(page, source),
        dcg=dcg2d(page, metric.discount, grid, gain, cutoff=metric.cutoff),
        ideal_dcg=ideal_dcg2d(page, metric.discount, grid, gain, ideal, cutoff=metric.cutoff),
    )
