"""A chart: one description, drawn as HTML, SVG, PNG or PDF in light or dark colours."""

import copy
import functools
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import altair as alt
import vl_convert

from carouseval.show.charts.kinds import Theme
from carouseval.show.charts.text_room import with_room
from carouseval.show.charts.theme import background, themed
from carouseval.tables.writing import CHARTS, check_outputs, write_atomically
from carouseval.text_tables import escape_html, printable, printable_content
from carouseval.validation import require_choice

_TAG, _ID = re.compile(r"<[^<>]+>"), re.compile(r'(\bid="|url\(#)')
_ROLE = re.compile(r' (?:role="graphics-\w+"|aria-roledescription="[^"]*")')  # of parts: the whole has one
_PNG_SCALE = 3  # a figure across a printed page then has about 350 dots per inch
_EMBED: dict[str, Any] = {
    "renderer": "svg",
    "actions": {"export": True, "source": False, "compiled": False, "editor": False},
}


@dataclass(frozen=True, eq=False, repr=False)
class Chart:
    """A picture of a result, as its method ``chart`` returns it; notebooks show it, and nothing is fetched for it.

    Attributes
    ----------
    figure : altair.TopLevelMixin
        The Altair chart, in light colours.
    title : str
        The title, in a few words.
    alt : str
        What the picture shows, in a sentence with its main numbers, for people who cannot see it.
    theme : {'light', 'dark'}, default 'light'
        The colours.

    Examples
    --------
    >>> import carouseval as cv
    >>> chart = cv.charts.heatmap(cv.discounts.RowPage().weights(cv.RECGAZE), "d_rpd")
    >>> chart
    Chart(d_rpd: a grid of 10 rows and 15 columns; weight from 0.05498 (row 10, column 11) to 0.2702 (row 1, column 1).)
    >>> chart.svg.count("<title")
    1
    """

    figure: alt.TopLevelMixin
    title: str
    alt: str
    theme: Theme = "light"

    def __post_init__(self) -> None:
        require_choice("theme", self.theme, get_args(Theme))

    def to_dict(self) -> dict[str, Any]:
        """Return the description of the chart.

        Returns
        -------
        dict
            A Vega-Lite specification, in the colours of the theme.
        """
        return copy.deepcopy(self._themed)

    @property
    def _themed(self) -> dict[str, Any]:
        spec: dict[str, Any] = themed(self._spec, self.theme)
        return spec

    @functools.cached_property
    def _spec(self) -> Any:  # not to be changed: themes share it
        return printable_content(self.figure.to_dict())  # XML cannot hold all characters of texts

    def with_theme(self, theme: Theme) -> "Chart":
        """Return the same chart in other colours.

        Parameters
        ----------
        theme : {'light', 'dark'}
            The colours.

        Returns
        -------
        Chart
            A chart that differs in its theme alone.
        """
        other = replace(self, theme=theme)
        vars(other)["_spec"] = self._spec  # which takes as long as drawing it
        return other

    @functools.cached_property
    def svg(self) -> str:
        """The chart as SVG, to be put into a page as it is: with title, alt text, and ids that no other chart has."""
        spec = self._themed
        spec = spec | {"config": spec["config"] | {"aria": False}}  # labels of single marks: the whole has one
        svg = with_room(vl_convert.vegalite_to_svg(spec, vl_version=_version()))
        prefix = f"c{hashlib.sha256(svg.encode()).hexdigest()[:10]}"
        svg = _TAG.sub(lambda tag: _ROLE.sub("", _ID.sub(rf"\1{prefix}-", tag[0])), svg)
        title, alternative = escape_html(self.title), escape_html(self.alt)
        names = f'<title id="{prefix}-title">{title}</title><desc id="{prefix}-alt">{alternative}</desc>'
        begin, root, rest = svg.partition("<svg ")
        tag, end, content = rest.partition(">")
        label = f'role="img" aria-labelledby="{prefix}-title {prefix}-alt" '
        return f"{begin}{root}{label}{tag}{end}{names}{content}"

    @property
    def html(self) -> str:
        """The chart as a page that opens offline, with values that appear under the pointer."""
        # "<" is escaped so that no text of a chart can end the script
        spec = json.dumps(self._themed, allow_nan=False).replace("<", "\\u003c")
        return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{escape_html(self.title)}</title>
<style>
:root {{ color-scheme: {self.theme}; }}
body {{ margin: 0; background: {background(self.theme)}; }}
figure {{ margin: 0; overflow-x: auto; }}
figure svg {{ max-width: max(100%, 640px); height: auto; }}
</style>
</head>
<body>
<figure id="chart" role="img" aria-label="{escape_html(f"{self.title}. {self.alt}")}"></figure>
<script>{_libraries(_version())}</script>
<script>vegaEmbed("#chart", {spec}, {json.dumps(_EMBED)})</script>
</body>
</html>
"""

    def save(self, path: str | Path) -> Path:
        """Write the chart to a file, completely or not at all.

        Parameters
        ----------
        path : str or Path
            Its ending chooses the format: ``.html`` (a page that opens offline), ``.svg``, ``.png`` or ``.pdf``.

        Returns
        -------
        Path
            The path of the file.
        """
        check_outputs(path, kinds=CHARTS)
        drawing: dict[str, Callable[[], str | bytes]] = {
            ".html": lambda: self.html,
            ".svg": lambda: self.svg,
            ".png": lambda: vl_convert.svg_to_png(self.svg, scale=_PNG_SCALE),
            ".pdf": lambda: vl_convert.svg_to_pdf(self.svg),
        }
        return write_atomically(path, drawing[Path(path).suffix.lower()]())

    def __repr__(self) -> str:
        return printable(f"Chart({self.title}: {self.alt})")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}


def _version() -> str:
    """The version of Vega-Lite that Altair writes for."""
    return alt.SCHEMA_VERSION.rpartition(".")[0]


@functools.cache
def _libraries(version: str) -> str:
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
