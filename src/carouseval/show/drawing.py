"""What all charts share: colours, fonts, axes and files."""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import altair as alt
import vl_convert

from carouseval.atomic_files import atomic_folder, write_atomically
from carouseval.metrics.validation import require_choice

RED, GREY, INK, FAINT = "#c8102e", "#969696", "#222222", "#d4d4d4"
HUES = ("#1f5f99", "#009e73", "#8a5a00", "#7b3f98", "#5a5a5a")  # distinct for colour-blind readers, too
RAMP = ("#f7fbff", "#c6dbef", "#6baed6", "#2171b5", "#08306b")  # ColorBrewer's Blues, which also work in grey
FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"  # all of the same width, so that text fits everywhere
FORMATS = ("svg", "png", "pdf", "html")
PNG_SCALE = 3  # a figure across a printed page then has about 350 dots per inch
EMBED: dict[str, Any] = {
    "renderer": "svg",
    "actions": {"export": True, "source": False, "compiled": False, "editor": False},
}

_Chart = TypeVar("_Chart", alt.LayerChart, alt.ConcatChart)


def styled(chart: _Chart) -> _Chart:
    """A whole figure with the common style."""
    text: dict[str, Any] = {"labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal"}
    text |= {"labelColor": INK, "titleColor": INK}
    figure: _Chart = chart.configure(
        font=FONT,
        background="white",
        padding=10,
        axis=alt.AxisConfig(**text, gridColor="#ececec", domainColor=GREY, tickColor=GREY),
        legend=alt.LegendConfig(**text, titleLimit=400, labelLimit=400, gradientThickness=12),
        title=alt.TitleConfig(
            fontSize=14, subtitleFontSize=13, anchor="start", frame="group", color=INK, subtitleColor=INK, offset=8
        ),
        view=alt.ViewConfig(stroke=None),
    )
    return figure


def note(*lines: str) -> alt.TitleParams:
    """One or more lines under a figure."""
    return alt.TitleParams(
        list(lines) if len(lines) > 1 else lines[0], orient="bottom", fontSize=13, fontWeight="normal", offset=14
    )


def chart_of(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """A chart of these rows, however many; a mark and its encodings follow."""
    return alt.Chart({"values": list(rows)})


def numbered_axis(places: list[float], title: str | None) -> alt.Axis:
    """An axis that only numbers these places 1, 2, ..., or every second one where there is little space."""
    return alt.Axis(
        title=title,
        values=places,
        tickCount=len(places),  # or Vega thins them out
        labelExpr=f"indexof({places}, datum.value) + 1",
        labelOverlap="parity",
        labelSeparation=3,
        labelPadding=4,
        ticks=False,
        domain=False,
        grid=False,
    )


def save_chart(
    chart: alt.TopLevelMixin, path: str | Path, formats: Sequence[str] = ("svg", "png", "pdf")
) -> list[Path]:
    """Write a chart to ``path.svg`` and so on; ``"html"`` is a page that opens offline.

    All files are written, or none.
    """
    contents = {Path(f"{path}.{name}"): content for name, content in draw(chart, formats).items()}
    with atomic_folder(Path(path).parent) as unfinished:
        for target, content in contents.items():
            write_atomically(unfinished / target.name, content)
    return list(contents)


def save_as(chart: alt.TopLevelMixin, path: Path) -> None:
    """Write one file, in the format of its ending."""
    (content,) = draw(chart, [path.suffix[1:].lower()]).values()
    write_atomically(path, content)


def draw(chart: alt.TopLevelMixin, formats: Sequence[str]) -> dict[str, bytes]:
    """The content of a file in each of these formats."""
    for name in formats:
        require_choice("format", name, FORMATS)
    spec = chart.to_dict()
    version = alt.SCHEMA_VERSION.rpartition(".")[0]
    # drawn once for SVG, PNG and PDF
    svg = vl_convert.vegalite_to_svg(spec, vl_version=version) if set(formats) - {"html"} else ""
    drawing: dict[str, Callable[[], bytes]] = {
        "svg": svg.encode,
        "png": lambda: vl_convert.svg_to_png(svg, scale=PNG_SCALE),
        "pdf": lambda: vl_convert.svg_to_pdf(svg),
        "html": lambda: _html(spec, version).encode(),
    }
    return {name: drawing[name]() for name in formats}


def _html(spec: dict[str, Any], version: str) -> str:
    """A page with the chart and the JavaScript it needs."""
    content = json.dumps(spec, allow_nan=False).replace("<", "\\u003c")  # so that no text of a chart can end the script
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>carouseval</title></head>
<body>
<div id="chart"></div>
<script>{_libraries(version)}</script>
<script>vegaEmbed("#chart", {content}, {json.dumps(EMBED)})</script>
</body>
</html>
"""


@functools.cache
def _libraries(version: str) -> str:
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
