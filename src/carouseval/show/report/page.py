"""A report as HTML: the template, its style and its charts, each as one SVG in the colours of two themes.

Light colours are in the attributes of a drawing, dark ones in rules of CSS.
"""

import functools
import re
from dataclasses import replace
from typing import Any

import jinja2
from markupsafe import Markup

from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import short_name
from carouseval.show.report.document import Document
from carouseval.text_tables import TextTable, html_table, printable_lines

# letters of texts: names of any length must not make a report too large, or its beginning unreadable
_MOST_LETTERS, _MOST_IN_CELL, _MOST_IN_HEADING = 4_000, 1_000, 500
_TAG = re.compile(r"<[^<>]+>")
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_PREFIX = re.compile(r'<title id="(\w+)-title">')


def page_html(document: Document) -> str:
    """The page of a document; texts are escaped, whatever they contain."""
    colors = _DarkColors()
    body = (
        _templates()
        .get_template("body.html")
        .render(
            document=document,
            svg=lambda chart: Markup(colors.svg(chart)),
            table=lambda table: Markup(html_table(_short(table))),
        )
    )
    return (
        _templates()
        .get_template("page.html")
        .render(title=document.title, body=Markup(body), style=Markup(_style()), dark_charts=Markup(colors.rules))
    )


@functools.cache
def _templates() -> jinja2.Environment:
    loader = jinja2.PackageLoader("carouseval.show.report")
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters["short"] = lambda text: short_name(text, _MOST_IN_HEADING)
    return environment


def _shown(value: Any) -> Any:
    """Text of a limited length, with escapes in place of characters that change how others are shown."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return printable_lines(short_name(value, _MOST_LETTERS))


def _short(table: TextTable) -> TextTable:
    """A table whose cells have a limited length."""
    header = [short_name(name, _MOST_IN_CELL) for name in table.header]
    rows = [[cell._replace(text=short_name(cell.text, _MOST_IN_CELL)) for cell in row] for row in table.cells]
    return replace(table, header=header, rows=rows)


@functools.cache
def _style() -> str:
    source, _, _ = jinja2.PackageLoader("carouseval.show.report").get_source(_templates(), "report.css")
    return source


class _DarkColors:
    """Collects the dark colours of charts as rules, each once, and names their classes in the charts."""

    def __init__(self) -> None:
        self._classes: dict[tuple[str, str], str] = {}

    @property
    def rules(self) -> str:
        """The rules, to be put under ``@media (prefers-color-scheme: dark)``."""
        return "".join(f".{name}{{{property}:{color}}}" for (property, color), name in self._classes.items())

    def svg(self, chart: Chart) -> str:
        """The chart in light colours, with a class wherever a colour differs in dark ones."""
        light, dark = (chart.with_theme(theme).svg for theme in ("light", "dark"))
        tags = iter(_TAG.findall(dark.replace(_prefix(dark), _prefix(light))))  # ids differ as the drawings do
        return _TAG.sub(lambda tag: self._merged(tag[0], next(tags)), light)

    def _merged(self, light: str, dark: str) -> str:
        if light == dark:
            return light
        pairs = zip(_ATTRIBUTE.findall(light), _ATTRIBUTE.findall(dark), strict=True)
        colors = [in_dark for in_light, in_dark in pairs if in_light != in_dark]
        names = " ".join(self._classes.setdefault(color, f"d{len(self._classes)}") for color in colors)
        if ' class="' in light:
            return light.replace(' class="', f' class="{names} ', 1)
        return re.sub(r"^<([\w-]+)", rf'<\1 class="{names}"', light)


def _prefix(svg: str) -> str:
    (prefix,) = _PREFIX.findall(svg)
    return str(prefix)
