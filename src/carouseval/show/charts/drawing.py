"""What all charts share: their style, headings, axes and data."""

import json
from collections.abc import Mapping, Sequence
from textwrap import shorten, wrap
from typing import Any

import altair as alt

from carouseval.show.charts.chart import Chart
from carouseval.show.charts.theme import FONT, GREY, GRID_LINE, INK, PAPER, TEXT
from carouseval.text_tables import printable

_LONGEST = 1_000  # characters of an alt text
LONGEST_NAME = 44  # characters of a name beside a line or bar
LEGEND_NUMBERS = ".6~g"  # not all digits of what is very small or large
_CHARACTER = 7.0  # pixels of the width of a character of a note, on average, in wide fonts too


def finished(drawing: alt.LayerChart | alt.ConcatChart, title: str, alternative: str) -> Chart:
    """A whole chart with the common style, its title and its alt text."""
    text: dict[str, Any] = {"labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal"}
    text |= {"labelColor": INK, "titleColor": INK}
    figure = drawing.configure(
        font=FONT,
        background=PAPER,
        padding=10,
        axis=alt.AxisConfig(**text, gridColor=GRID_LINE, domainColor=GREY, tickColor=GREY),
        legend=alt.LegendConfig(**text, titleLimit=400, labelLimit=400, gradientThickness=12),
        title=alt.TitleConfig(
            fontSize=14, subtitleFontSize=13, anchor="start", frame="group", color=INK, subtitleColor=INK, offset=8
        ),
        view=alt.ViewConfig(stroke=None),
    )
    return Chart(figure, title, shorten(alternative, _LONGEST, placeholder=" …"))


def chart_title(title: str, notes: str, width: float) -> alt.TitleParams:
    """The title of a whole chart and notes below it, in lines that fit the width of the chart."""
    letters = max(40, int(width / _CHARACTER))
    params = alt.TitleParams(
        wrap(title, int(letters * 0.7), max_lines=3, placeholder=" …") or [""], fontSize=17, offset=14
    )
    if notes:
        params.subtitle, params.subtitlePadding = wrap(notes, letters, max_lines=6, placeholder=" …"), 5
    return params


def note(*lines: str) -> alt.TitleParams:
    """One or more lines under a figure."""
    return alt.TitleParams(
        list(lines) if len(lines) > 1 else lines[0], orient="bottom", fontSize=13, fontWeight="normal", offset=14
    )


def chart_of(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """A chart of these rows, however many; a mark and its encodings follow."""
    return alt.Chart({"values": list(rows)})


def numbered_axis(places: list[float], title: str | None, step: int = 1) -> alt.Axis:
    """An axis that only numbers these places 1, 1 + step, ..., or every second one where there is little space."""
    return alt.Axis(
        title=title,
        values=places,
        tickCount=len(places),  # or Vega thins them out
        labelExpr=f"indexof({places}, datum.value) * {step} + 1",
        labelOverlap="parity",
        labelSeparation=3,
        labelPadding=4,
        ticks=False,
        domain=False,
        grid=False,
    )


def named_axis(names: Sequence[str], **options: Any) -> alt.Axis:
    """An axis with names at the places 0, 1, ...; names need not differ."""
    return alt.Axis(
        title=None,
        values=list(range(len(names))),
        tickCount=len(names),
        labelExpr=f"{json.dumps([printable(short_name(name)) for name in names])}[datum.value]",
        labelOverlap=False,
        labelPadding=8,
        ticks=False,
        domain=False,
        grid=False,
        **options,
    )


def named_lines(field: str, names: Sequence[str]) -> alt.Y:
    """Lines below each other, numbered from 0, with a name at each."""
    scale = alt.Scale(domain=[-0.5, len(names) - 0.5], reverse=True, nice=False, zero=False)
    return alt.Y(field, axis=named_axis(names, labelLimit=280), scale=scale)


def ink_on_shades() -> Any:
    """The colour of a number on a cell: light where the cell is dark."""
    return alt.when("datum.share > 0.68").then(alt.value(PAPER)).otherwise(alt.value(TEXT))


def tooltip(**formats: str) -> list[alt.Tooltip]:
    """What appears under the pointer: fields and their formats, an empty one for text."""
    return [
        alt.Tooltip(f"{field}:Q", format=form) if form else alt.Tooltip(f"{field}:N") for field, form in formats.items()
    ]


def short_name(name: str, most: int = LONGEST_NAME) -> str:
    """A name with dots in place of its middle where it is long: names often differ at their ends."""
    return name if len(name) <= most else f"{name[: most // 2].rstrip()}…{name[1 - most // 2 :].lstrip()}"


def count_text(count: int, noun: str) -> str:
    """``1 user``, ``1,200 users``."""
    return f"{count:,} {noun}{'s' * (count != 1)}"
