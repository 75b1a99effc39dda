"""What can be chosen on the page: metrics, discounts with their parameters, the screen; and how requests choose it."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, cast

from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.settings import Settings
from carouseval.metrics.discount_base import Discount, classes
from carouseval.metrics.discount_parameters import is_share
from carouseval.metrics.gains import GAIN_NAMES
from carouseval.metrics.grid import Grid, resized, sizes_by_row
from carouseval.metrics.metric_base import Metric, SystemMetric, metric_classes
from carouseval.metrics.names import metric as parse_metric
from carouseval.show.studio.bad_request import (
    BadRequestError,
    require_integer,
    require_list,
    require_number,
    require_object,
    require_word,
)

MOST_ROWS, MOST_COLS = 200, 500  # of a screen that the page draws; of a larger one the part at the upper left
_FACTORS = 20.0  # sliders of parameters that are no shares end here, or at twice the default
_SCREEN = ("rows", "cols", "page_size", "visible_rows")


@dataclass(frozen=True)
class Choices:
    """What a page is scored by."""

    metric: Metric
    gain: str
    candidates: str
    screen: Mapping[str, int] | None  # None: the page's own

    def grid(self, page_grid: Grid) -> Grid:
        """The chosen screen; what a page cannot choose, such as the step of a swipe, is that of its own.

        Rows whose page size is not that of most, such as a billboard, keep it.
        """
        if self.screen is None:
            return page_grid
        grid = resized(page_grid, self.screen["rows"], self.screen["cols"])
        usual = sizes_by_row(page_grid)[-1]
        sizes = tuple(self.screen["page_size"] if size == usual else size for size in sizes_by_row(grid))
        return replace(grid, page_size=sizes, visible_rows=self.screen["visible_rows"])


class Offer:
    """Everything that can be chosen; a discount that the settings bring along, such as a fitted table, is one more."""

    def __init__(self, settings: Settings) -> None:
        self.settings: Settings = settings
        self._first = next(iter(ScoringPlan.of(settings).metrics.values()), parse_metric("N2DCG_cat"))
        self._metrics = {name: cls for name, cls in metric_classes().items() if not issubclass(cls, SystemMetric)}
        self._discounts = {
            symbol: cls
            for symbol, cls in sorted(classes().items())
            if all(isinstance(field.default, int | float) for field in fields(cast(Any, cls)))
        }
        first = self._first.discount
        self._given = {} if first is None or first.symbol in self._discounts else {str(first): first}

    def as_dict(self) -> dict[str, Any]:
        """The offer as the page reads it, and what is chosen at first."""
        return {
            "metrics": [
                {
                    "name": name,
                    "discount": cls.default_discount,
                    "cutoff": cls.cutoff_kind,
                    "ideal": cls.ideal,
                }
                for name, cls in self._metrics.items()
            ],
            "discounts": [
                *(
                    {"name": symbol, "about": _about(cls), "parameters": _parameters(cls)}
                    for symbol, cls in self._discounts.items()
                ),
                *({"name": name, "about": "the discount given at start", "parameters": []} for name in self._given),
            ],
            "gains": list(GAIN_NAMES),
            "candidates": list(Settings.choices()["candidates"]),
            "largest": {"rows": MOST_ROWS, "cols": MOST_COLS},
            "chosen": self._chosen(),
        }

    def _chosen(self) -> dict[str, Any]:
        first, gain = self._first, self.settings.gain if self._first.gain is None else self._first.gain
        discount = first.discount
        plain = discount is not None and discount.symbol in self._discounts
        return {
            "metric": first.base,
            "discount": None if discount is None else discount.symbol if plain else str(discount),
            "parameters": discount.parameters if plain and discount is not None else {},
            "cutoff": list(first.cutoff) if isinstance(first.cutoff, tuple) else first.cutoff,
            "gain": gain if isinstance(gain, str) else GAIN_NAMES[0],
            "candidates": self.settings.candidates,
            "screen": None,
        }

    def read(self, content: Any) -> Choices:
        """The choices of a request. Discounts are never read from files here, whatever the request names."""
        content = require_object("choices", content)
        name = require_word("metric", content.get("metric"), list(self._metrics))
        cls = self._metrics[name]
        discount = None
        if cls.default_discount is not None and content.get("discount") is not None:
            discount = self._discount(content)
        return Choices(
            metric=parse_metric(name, discount=discount, cutoff=_cutoff(cls, content.get("cutoff"))),
            gain=require_word("gain", content.get("gain"), GAIN_NAMES),
            candidates=require_word("candidates", content.get("candidates"), Settings.choices()["candidates"]),
            screen=None if content.get("screen") is None else _read_screen(content["screen"]),
        )

    def _discount(self, content: Mapping[str, Any]) -> Discount:
        name = require_word("discount", content["discount"], [*self._discounts, *self._given])
        if name in self._given:
            return self._given[name]
        cls: Any = self._discounts[name]
        names = [field.name for field in fields(cls)]
        given = require_object("parameters", content.get("parameters", {}))
        values = {require_word("a parameter", key, names): require_number(key, value) for key, value in given.items()}
        return cast(Discount, cls(**values))


def _cutoff(cls: type[Metric], value: Any) -> tuple[int, int] | int | None:
    if value is None or cls.cutoff_kind == "none":
        return None
    if cls.cutoff_kind == "list":
        return require_integer("cutoff", value, 1, MOST_ROWS * MOST_COLS)
    size = require_list("cutoff", value, 2)
    if len(size) != 2:
        raise BadRequestError("cutoff must be a list of rows and columns, such as [3, 5].")
    return require_integer("cutoff: rows", size[0], 1, MOST_ROWS), require_integer(
        "cutoff: cols", size[1], 1, MOST_COLS
    )


def _read_screen(value: Any) -> dict[str, int]:
    content = require_object("screen", value)
    most = {"rows": MOST_ROWS, "visible_rows": MOST_ROWS}
    return {name: require_integer(name, content.get(name), 1, most.get(name, MOST_COLS)) for name in _SCREEN}


def drawn_part(grid: Grid) -> Grid:
    """The part of a screen that the page draws."""
    return resized(grid, min(grid.rows, MOST_ROWS), min(grid.cols, MOST_COLS))


def screen_of(grid: Grid) -> dict[str, Any]:
    """A screen as the page reads it; ``page_size`` is that of most rows."""
    sizes = sizes_by_row(grid)
    return {
        "rows": grid.rows,
        "cols": grid.cols,
        "page_size": sizes[-1],
        "visible_rows": grid.visible_rows,
        "page_sizes": sizes,
    }


def _about(cls: type[Discount]) -> str:
    """The first sentence about a discount, without its symbol."""
    first = (cls.__doc__ or "").strip().partition("\n")[0]
    return first.partition(": ")[2] or first


def _parameters(cls: Any) -> list[dict[str, Any]]:
    """The parameters of a discount with the range of their sliders."""
    parameters = []
    for field in fields(cls):
        assert field.default is not MISSING
        share = is_share(cls, field.name)
        low = 0.01 if field.name in cls.decays else 0.0
        high = 1.0 if share else max(_FACTORS, 2.0 * field.default) if field.default >= 1 else 1.0
        parameters.append(
            {"name": field.name, "default": field.default, "low": low, "high": high, "step": 0.01 if high <= 1 else 0.1}
        )
    return parameters
