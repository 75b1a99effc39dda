"""A report as HTML: the template, its style and its charts in two themes."""

import functools
from dataclasses import replace
from typing import Any

import jinja2
from markupsafe import Markup

from carouseval.show.charts.drawing import short_name
from carouseval.show.report.document import Document
from carouseval.show.report.two_themes import DarkColors
from carouseval.text_tables import TextTable, html_table, printable_lines

# letters of texts: names of any length must not make a report too large, or its beginning unreadable
_MOST_LETTERS, _MOST_IN_CELL, _MOST_IN_HEADING = 4_000, 1_000, 500


def page_html(document: Document) -> str:
    """The page of a document; texts are escaped, whatever they contain."""
    colors = DarkColors()
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
