"""A report as HTML: the template, its style and its charts in two themes."""

import functools
from typing import Any

import jinja2
from markupsafe import Markup

from carouseval.show.report.document import Document
from carouseval.show.report.two_themes import DarkColors
from carouseval.text_tables import html_table, printable_lines


def page_html(document: Document) -> str:
    """The page of a document; texts are escaped, whatever they contain."""
    colors = DarkColors()
    body = (
        _templates()
        .get_template("body.html")
        .render(
            document=document,
            svg=lambda chart: Markup(colors.svg(chart)),
            table=lambda table: Markup(html_table(table)),
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
    return jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    """Text with escapes in place of characters that change how others are shown."""
    return printable_lines(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@functools.cache
def _style() -> str:
    source, _, _ = jinja2.PackageLoader("carouseval.show.report").get_source(_templates(), "report.css")
    return source
