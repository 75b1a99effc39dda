"""What a score is, in a sentence: the same pages have other scores by another ideal, discount or grid."""

from collections.abc import Mapping, Sequence
from typing import Any

from carouseval.evaluation.settings import Settings
from carouseval.metrics.grid import page_size_text
from carouseval.text_tables import brief

_MOST_CATEGORIES = 3  # listed with their capacity


def caption(config: Mapping[str, Any], users: Sequence[int]) -> str:
    """Metrics, discounts, candidates, capacity, grid and number of users, from a result's ``config``.

    ``users`` are the numbers of users of all systems and metrics; where they differ, their range is shown.
    """
    parts = [_metrics(config), _ideals(config), _grids(config["grid"]), _range(users)]
    if config["gain"] != "exp2":
        parts.insert(1, f"gain {config['gain']}")
    if config["weight"] is not None:
        parts.append(f"weighted by {config['weight']}")
    if "category" in config["ideals"].values():
        parts += _limits(config)
    return f"{'; '.join(parts)}."


def _limits(config: Mapping[str, Any]) -> list[str]:
    """What may end the search for ideal pages before they are proven, where it is not the default."""
    tolerance, work = config.get("tolerance", 0), config.get("work", Settings.work)
    texts = [f"tolerance of ideal pages {100 * tolerance:g}%"] * (tolerance > 0)
    return texts + [f"at most {work:g} million steps for an ideal page"] * (work != Settings.work)


def _metrics(config: Mapping[str, Any]) -> str:
    """The metrics, those of the same discount together."""
    names: dict[str, list[str]] = {}
    for name in config["metrics"]:
        names.setdefault(config["discounts"].get(name, ""), []).append(name)
    groups = [f"{_listed(group)} with {discount}" if discount else _listed(group) for discount, group in names.items()]
    return brief(", ".join(groups))


def _ideals(config: Mapping[str, Any]) -> str:
    """What scores are divided by."""
    names: dict[str, list[str]] = {}
    for name, kind in config["ideals"].items():
        names.setdefault(kind, []).append(name)
    if not names:
        return f"candidates: {config['candidates']}"
    displayed = config["candidates"] == "displayed"
    items = "arrangement only: ideal of the items that each page shows" if displayed else "ideal of judged items"
    texts = {"category": "each row keeps its items" if displayed else _capacity(config), "unconstrained": "in any cell"}
    if len(names) == 1:
        return f"{items}, {texts[next(iter(names))]}"
    return f"{items}, {', '.join(f'{texts[kind]} for {_listed(group)}' for kind, group in names.items())}"


def _capacity(config: Mapping[str, Any]) -> str:
    """How many items a row of the ideal page may hold."""
    capacity, grid = config.get("capacity", "grid"), config["grid"]
    columns = f"{grid['cols']} columns" if _is_single(grid) else "columns"
    limits = [f"rows hold up to the grid's {columns}"]
    if capacity == "shown":
        limits = ["rows hold as many items as the longest row of their category shown"]
    elif capacity != "grid":
        sizes = [f"{category} up to {size}" for category, size in capacity.items()]
        more = len(sizes) - _MOST_CATEGORIES
        limits += sizes[:_MOST_CATEGORIES] + [f"{more} more as configured"] * (more > 0)
    if config.get("carousels", "none") == "given":
        limits.append("or as the carousels table says")
    return ", ".join(limits)


def _grids(grid: Mapping[str, Any]) -> str:
    if _is_single(grid):
        return f"grid {_shape(grid)}, {_screen(grid)}"
    return f"grids {_listed([f'{name} {_shape(screen)} ({_screen(screen)})' for name, screen in grid.items()])}"


def _is_single(grid: Mapping[str, Any]) -> bool:
    return isinstance(grid.get("rows"), int)  # where there are several, a segment may be called "rows"


def _shape(grid: Mapping[str, Any]) -> str:
    return f"{grid['rows']}x{grid['cols']}"


def _screen(grid: Mapping[str, Any]) -> str:
    visible, size = grid["visible_rows"], grid["page_size"]
    pages = f"swipe pages of {size}" if isinstance(size, int) else page_size_text(size, "swipe pages")
    return f"{pages}, {visible} visible row{'s' * (visible != 1)}"


def _range(users: Sequence[int]) -> str:
    low, high = min(users), max(users)
    return f"{low:,} user{'s' * (low != 1)}" if low == high else f"{low:,} to {high:,} users"


def _listed(texts: Sequence[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last
