"""The DCG family: sums of gain times weight over a grid or a list, alone or divided by an ideal."""

from typing import ClassVar, Literal

from carouseval.metrics.cutoffs import list_weights
from carouseval.metrics.gain_names import IdealName
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.metric_base import CutoffKind, Metric, register_metric
from carouseval.metrics.pages import Pages


class _Sum(Metric):
    """Sums of gain times weight."""

    linear: ClassVar[bool] = True

    def value(self, pages: Pages, weights: Array) -> Array:
        return pages.gain_sum(weights, by_rank=self.by_rank)


@register_metric("2DCG")
class DCG2D(_Sum):
    """2DCG: gain times the weight of the cell, summed over the page."""

    default_discount: ClassVar[str | None] = "d_rpd"


@register_metric("N2DCG")
class N2DCG(_Sum):
    """N2DCG, the original: 2DCG over that of the best page when any item may go anywhere."""

    default_discount: ClassVar[str | None] = "d_a"
    ideal: ClassVar[IdealName | Literal["none"]] = "unconstrained"


@register_metric("N2DCG_cat")
class N2DCGCat(_Sum):
    """N2DCG_cat, the paper's metric: 2DCG over that of the best page on which each row is one category."""

    default_discount: ClassVar[str | None] = "d_rpd"
    ideal: ClassVar[IdealName | Literal["none"]] = "category"


@register_metric("DCG")
class DCG(_Sum):
    """DCG of the occupied cells read row by row as one list (the paper's equation 1)."""

    no_discount: ClassVar[str] = "reads a page as one list and takes no discount"
    cutoff_kind: ClassVar[CutoffKind] = "list"
    by_rank: ClassVar[bool] = True

    def weights(self, grid: Grid) -> Array:
        """1 / log2(rank + 1) for every rank, in one row."""
        assert not isinstance(self.cutoff, tuple)
        return list_weights(grid.rows * grid.cols, self.cutoff)


@register_metric("NDCG")
class NDCG(DCG):
    """NDCG: DCG over that of the best order of the same items (the paper's equation 2)."""

    ideal: ClassVar[IdealName | Literal["none"]] = "unconstrained"
