"""Every setting in force and everything that was counted."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from carouseval.evaluation.settings import Settings
from carouseval.evaluation.tally import COUNTS
from carouseval.metrics.grid import page_size_text
from carouseval.settings import setting_doc
from carouseval.show.report.document import Block, Folded, Paragraph, Section, TableBlock
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


def settings_section(
    config: Mapping[str, Any], counts: Mapping[str, Mapping[str, int]], caption: str, about_counts: str = ""
) -> Section:
    """What the scores are, the counts of each system, and every setting."""
    blocks: list[Block] = [Paragraph(caption)] if caption else []
    if counts:
        rows = [
            [several[:1].upper() + several[1:], *(f"{own.get(name, 0):,}" for own in counts.values())]
            for name, (_, several) in COUNTS.items()
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
