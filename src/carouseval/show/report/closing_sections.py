"""What every report ends with: all settings and counts, how to cite, and how the report was made."""

import platform
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from carouseval import __version__
from carouseval.evaluation.settings import Settings
from carouseval.evaluation.tally import COUNTS
from carouseval.metrics.grid import page_size_text
from carouseval.settings import setting_doc
from carouseval.show.report.document import Block, Code, Folded, Links, Paragraph, Section, TableBlock
from carouseval.text_tables import TextTable

_MEANINGS = {
    "discounts": "The weight of cells, by metric.",
    "ideals": "The kind of ideal page, by metric.",
    "items": "Where the categories of items come from.",
    "judgments": "Whether judgments hold for all pages of a user or name the page.",
    "relevance": "Whether judgments have a relevance, or each counts as 1.",
    "baseline": "The system that all others are compared with; none: all pairs are compared.",
    "test": "The significance test.",
    "runs": "What is assumed of several runs of a system.",
    "correction": "How p-values are corrected for multiple comparisons.",
    "across_metrics": "Whether p-values are corrected over all metrics together.",
    "simultaneous": "Whether the intervals of all pairs hold together.",
    "ci": "The confidence level of intervals; p-values below 1 minus this are significant.",
    "permutations": "The number of sign flips or bootstrap resamples.",
    "seed": "The seed of random draws: the same one gives the same p-values.",
    "margin": "How much worse a system may be and still be called non-inferior.",
    "discounts_tried": "The discounts that were tried in place of the reference's.",
}
CITATIONS = {
    "The metric N2DCG_cat: Jingwei Kang, Santiago de Leon-Martinez, Maarten de Rijke and Harrie Oosterhuis. Revisiting "
    "N2DCG: An Empirically Grounded Reformulation of Carousel Recommendation Evaluation. CIKM '26, 2026.": (
        "https://doi.org/10.1145/3799682.3839894"
    ),
    "The eye-tracking data behind the discounts: Santiago de Leon-Martinez et al. RecGaze: The First Eye Tracking and "
    "User Interaction Dataset for Carousel Interfaces. SIGIR '25, 2025.": "https://doi.org/10.1145/3726302.3730301",
    "The original N2DCG: Maurizio Ferrari Dacrema, Nicolò Felicioni and Paolo Cremonesi. Offline Evaluation of "
    "Recommender Systems in a User Interface With Multiple Carousels. Frontiers in Big Data, 2022.": "",
    f"The software: The carouseval developers. carouseval, version {__version__}. MIT licence.": "",
}
_BIBTEX = f"""@inproceedings{{kang2026revisiting,
  title = {{Revisiting {{N2DCG}}: An Empirically Grounded Reformulation of Carousel Recommendation Evaluation}},
  author = {{Kang, Jingwei and de Leon-Martinez, Santiago and de Rijke, Maarten and Oosterhuis, Harrie}},
  booktitle = {{Proceedings of the 35th ACM International Conference on Information and Knowledge Management}},
  year = {{2026}},
  doi = {{10.1145/3799682.3839894}}
}}
@software{{carouseval,
  title = {{carouseval}},
  author = {{{{The carouseval developers}}}},
  version = {{{__version__}}}
}}"""


def settings_section(
    config: Mapping[str, Any], counts: Mapping[str, Mapping[str, int]], caption: str, about_counts: str = ""
) -> Section:
    """What the scores are, the counts of each system, and every setting."""
    blocks: list[Block] = [Paragraph(caption)] if caption else []
    if counts:
        rows = [
            [plural[:1].upper() + plural[1:], *(f"{system.get(name, 0):,}" for system in counts.values())]
            for name, (_, plural) in COUNTS.items()
        ]
        header = ["counted", *(name or "number" for name in counts)]
        table = TextTable(header, rows, [False] + [True] * len(counts), "What was read, left out and noticed")
        blocks.append(Section("Counts", [TableBlock(table, about_counts)]))
    docs = {setting.name: setting_doc(setting) for setting in fields(Settings)} | _MEANINGS
    lines = [[name, _value(value), docs.get(name, "").replace("`", "")] for name, value in config.items()]
    settings = TableBlock(TextTable(["setting", "value", "meaning"], lines, [False] * 3, "Every setting in force"))
    blocks.append(Section("Settings", [Folded(f"All {len(lines)} settings", [settings])]))
    return Section("Settings and counts", blocks)


def _value(value: Any) -> str:
    if value is None or value == [] or value == {}:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        if isinstance(value.get("rows"), int):
            size = value["page_size"]
            pages = f"swipe pages of {size}" if isinstance(size, int) else page_size_text(size, "swipe pages")
            return f"{value['rows']}x{value['cols']}, {pages}, {value['visible_rows']} visible rows"
        return "; ".join(f"{name}: {_value(part)}" for name, part in value.items())
    return ", ".join(map(_value, value)) if isinstance(value, (list, tuple)) else str(value)


def citation_section() -> Section:
    """What to cite."""
    return Section("How to cite", [Links(list(CITATIONS.items())), Code(_BIBTEX)])


def origin_section(command: str = "") -> Section:
    """Which versions made the report, when, and by which command."""
    made = f"Made on {today()} by carouseval {__version__} with Python {platform.python_version()}."
    note = (
        "The page is self-contained: it loads nothing and runs no scripts. The same tables and settings give the same "
        "scores and p-values, whatever the number of threads."
    )
    blocks: list[Block] = [Paragraph(f"{made} {note}")]
    return Section("How this was made", [*blocks, Code(command)] if command else blocks)


def today() -> str:
    """The date in UTC."""
    return f"{datetime.now(UTC):%Y-%m-%d}"
