"""One page looked at closely: its scores, the weights of its cells, and the best page its items allow."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from carouseval.errors import DataError, ParameterError
from carouseval.metrics.array_functions import dcg2d
from carouseval.metrics.discounts import Discount
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.ideal import ideal_dcg2d, ideal_layout, rearranged
from carouseval.metrics.metric_base import Metric
from carouseval.metrics.names import MetricLike, metric
from carouseval.metrics.page_stack import Relevance, stack_pages
from carouseval.result_base import Result, plain

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class PageAnalysis:
    """A page as one page metric sees it."""

    metric: Metric
    discount: Discount
    weights: Array
    ideal: str  # "category" or "unconstrained"
    source: NDArray[np.int64]  # where each cell of the ideal page comes from, see ideal_layout
    best: Array  # the ideal page's relevances
    dcg: float
    best_dcg: float


@dataclass(frozen=True)
class PageScore(Result):
    """Scores of one page, by metric name in the order asked for, and a closer view of the first that has weights."""

    grid: Grid
    page: Array
    scores: dict[str, float]
    discounts: dict[str, str]  # of each metric that has one
    view: PageAnalysis | None

    def to_frame(self) -> "pl.DataFrame":
        """One line per metric."""
        import polars as pl

        return pl.DataFrame({"metric": list(self.scores), "score": list(self.scores.values())})

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON; rows and columns of ``source`` count from 1, NaN is None."""
        content: dict[str, Any] = {
            "metrics": self.scores,
            "discounts": self.discounts,
            "grid": asdict(self.grid),
            "page": self.page.tolist(),
        }
        if self.view is not None:
            content["weights"] = {"discount": str(self.view.discount), "table": self.view.weights.tolist()}
            content["ideal"] = {
                "kind": self.view.ideal,
                "page": self.view.best.tolist(),
                "source": [[[i + 1, j + 1] if i >= 0 else None for i, j in row] for row in self.view.source.tolist()],
                "2DCG": self.view.best_dcg,
            }
        return plain(content)


def score_page(
    relevance: Relevance,
    metrics: Sequence[MetricLike] = ("N2DCG_cat",),
    grid: Grid | None = None,
    gain: Gain = "exp2",
) -> PageScore:
    """Score one page with several metrics and look at it through the first that weighs cells."""
    stack = stack_pages(relevance, gain)
    if stack.leading:
        raise DataError(
            f"relevance: one page has shape (rows, cols), found {(*stack.leading, *stack.relevance.shape[1:])}."
        )
    page = stack_pages(relevance, "linear").relevance[0].astype(np.float64)
    asked = [metric(name) for name in metrics]
    for name, times in Counter(map(str, dict.fromkeys(asked))).items():
        if times > 1:
            raise ParameterError(f"{times} different metrics are named {name!r}; give them names of their own.")
    scores = {str(one): one(page, grid, gain) for one in asked}
    first = next((one for one in asked if one.weighs_cells), None)
    view = None if first is None else _view(page, first, grid, gain)
    discounts = {str(one): str(one.discount) for one in asked if one.weighs_cells}
    return PageScore(grid or Grid(*page.shape), page, scores, discounts, view)


def _view(page: Array, one: Metric, grid: Grid | None, gain: Gain) -> PageAnalysis:
    assert one.discount is not None
    assert not isinstance(one.cutoff, int)
    ideal = "unconstrained" if one.ideal == "unconstrained" else "category"
    gain = gain if one.gain is None else one.gain
    source = ideal_layout(page, one.discount, grid, gain, ideal, cutoff=one.cutoff)
    return PageAnalysis(
        metric=one,
        discount=one.discount,
        weights=one.weights(grid or Grid(*page.shape)),
        ideal=ideal,
        source=source,
        best=rearranged(page, source),
        dcg=dcg2d(page, one.discount, grid, gain, cutoff=one.cutoff),
        best_dcg=ideal_dcg2d(page, one.discount, grid, gain, ideal, cutoff=one.cutoff),
    )
