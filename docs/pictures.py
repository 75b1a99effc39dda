"""Makes the pictures of the README and of attention.md: ``make pictures``."""

import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

import carouseval as cv
from carouseval.building.sample import sample
from carouseval.evaluation.explain import explain
from carouseval.metrics.page_file import read_page
from carouseval.metrics.page_score import score_page
from carouseval.paper.ceiling_study import ceiling_study
from carouseval.paper.figures.charts import ceiling_figure, fit_figure
from carouseval.paper.figures.patterns import browsing_pattern
from carouseval.show.terminal.explanation import explanation
from carouseval.show.terminal.text_blocks import page_score

HERE = Path(__file__).parent

# Rich's own frame, without the web font it would fetch
FRAME = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def main(folder: Path = HERE) -> None:
    result = score_page(read_page(str(HERE.parent / "examples" / "page.csv")), ["N2DCG_cat", "N2DCG", "2DCG"])
    draw(folder, "score", "carouseval score examples/page.csv", page_score(result), 76)
    data = sample(1000, systems=["new"])
    losses = explain(data.layouts["new"], data.judgments, data.items)
    command = "carouseval explain layouts-new.parquet judgments.parquet --items items.parquet"
    draw(folder, "explain", command, explanation(losses, 0, losses.page("u000008"), 116), 116)
    for name, chart in figures().items():
        written = chart.save(folder / f"{name}.svg")
        with written.open("a", encoding="utf-8") as file:
            file.write(f"\n<!-- {fingerprint(chart)} -->\n")


def figures() -> dict[str, cv.charts.Chart]:
    """The charts of attention.md by the names of their files."""
    train, test = cv.attention.recgaze_counts("bratislava"), cv.attention.recgaze_counts("amsterdam")
    study = ceiling_study(train, test)
    tables = {f"{test.name}: share of screens on which each cell was examined": test.frequencies}
    tables |= {str(name): cv.discounts.parse(name).weights(cv.RECGAZE) for name in ("d_rpb", "d_rpd", "d_a")}
    phone, desktop = (cv.discounts.parse("d_rpb").weights(grid) for grid in (cv.PHONE, cv.DESKTOP))
    return {
        "attention-ceiling": ceiling_figure(study),
        "attention-desktop": cv.charts.heatmap(desktop, "d_rpb on cv.DESKTOP, six items in view", cv.DESKTOP),
        "attention-discounts": cv.charts.heatmaps(tables),
        "attention-fit": fit_figure(study, train, test),
        "attention-pattern": browsing_pattern(cv.discounts.parse("d_rpb").weights(cv.RECGAZE)),
        "attention-phone": cv.charts.heatmap(phone, "d_rpb on cv.PHONE, three items in view", cv.PHONE),
    }


def fingerprint(chart: Any) -> str:
    """Of what a chart shows, its numbers to three digits: fonts and last digits differ between machines."""
    spec = chart.to_dict()
    tables = sorted(json.dumps(rounded(table)) for table in spec.pop("datasets").values())
    drawn = re.sub(r"data-[0-9a-f]+", "data", json.dumps(rounded(spec), sort_keys=True))  # named after every digit
    return hashlib.sha256("\n".join([drawn, *tables]).encode()).hexdigest()


def rounded(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: rounded(value) for key, value in content.items()}
    if isinstance(content, list):
        return [rounded(value) for value in content]
    return f"{content:.3g}" if isinstance(content, float) else content


def draw(folder: Path, name: str, command: str, shown: Text, width: int) -> None:
    console = Console(
        record=True, width=width, highlight=False, force_terminal=True, color_system="truecolor", file=io.StringIO()
    )
    console.print(f"[green]$[/] {command}")
    console.print(shown)
    svg = console.export_svg(title="carouseval", theme=MONOKAI, code_format=FRAME, unique_id=name)
    (folder / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
