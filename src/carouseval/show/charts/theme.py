"""Colours and fonts. Charts are described in light colours; the dark theme replaces each of them by another.

Charts can be read in grey in both themes: what is larger differs more from the background, and what differs in colour
also differs in shape, dash or place.
"""

from typing import Any

from carouseval.show.charts.kinds import Theme

RED, GREY, INK, FAINT = "#c8102e", "#969696", "#222222", "#d4d4d4"
PAPER, TEXT, GRID_LINE, BAND, BORDER = "white", "black", "#ececec", "#f2f2f2", "#9a9a9a"
HUES = ("#1f5f99", "#009e73", "#8a5a00", "#7b3f98", "#5a5a5a")  # distinct for colour-blind readers, too
RAMP = ("#f7fbff", "#c6dbef", "#6baed6", "#2171b5", "#08306b")  # ColorBrewer's Blues, which also work in grey
SHADES = ("#08306b", "#08519c", "#2171b5", "#3d8dc6", "#5aa2d2", "#7ab6dd")  # from the first swipe page to the last
FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"  # all of the same width; others have room, too

_DARK = {
    PAPER: "#15181d",
    TEXT: "#f2f4f7",
    INK: "#e4e7ec",
    GREY: "#8d939c",
    FAINT: "#3f4650",
    GRID_LINE: "#2a2f37",
    BAND: "#20242b",
    BORDER: "#5b626d",
    RED: "#ff7a8a",
    **dict(zip(HUES, ("#6db3f2", "#35c99a", "#e0a640", "#c18be0", "#b3b9c2"), strict=True)),
    **dict(zip(SHADES, ("#d6ecff", "#8fc4ee", "#4f93c8", "#4a8abd", "#4581b1", "#4078a5"), strict=True)),
    **dict(zip(RAMP, ("#1c2530", "#1d3d5c", "#2a5f8f", "#4f93c8", "#d6ecff"), strict=True)),
}
# where a specification names colours; elsewhere a text may happen to read "white"
_COLOR_KEYS = ("background", "color", "fill", "stroke", "range", "value")


def themed(spec: Any, theme: Theme) -> Any:
    """A Vega-Lite specification in the colours of a theme."""
    return spec if theme == "light" else _recolored(spec, is_color=False)


def background(theme: Theme) -> str:
    """The colour behind a chart."""
    return PAPER if theme == "light" else _DARK[PAPER]


def _recolored(content: Any, is_color: bool) -> Any:
    if isinstance(content, dict):
        return {
            key: value
            if key in ("datasets", "data")
            else _recolored(value, key in _COLOR_KEYS or (key.endswith("Color") and isinstance(value, str)))
            for key, value in content.items()
        }
    if isinstance(content, list):
        return [_recolored(value, is_color) for value in content]
    return _DARK.get(content, content) if is_color and isinstance(content, str) else content
