"""The paper's figures beside ours, in the terminal."""

from collections.abc import Sequence

from rich.text import Text

from carouseval.show.terminal import heading, small_table
from carouseval.study.reproduce import Check, Reproduction

MARKS = "published = ours; ≠ differs; ≈ exact arithmetic differs from the authors' floats, see the notes"


def reproduction(result: Reproduction) -> Text:
    """One table per table or figure of the paper: a line for each of its lines, published and ours in each cell."""
    parts: dict[str, dict[str, list[Check]]] = {}
    for check in result.checks:
        whole, _, line = check.where.partition(", ")
        mode, _, line = line.rpartition(", ")
        title = f"{whole}, {mode} relevance" if mode else whole
        parts.setdefault(title, {}).setdefault(line or check.what, []).append(check)
    texts = [Text(MARKS, "dim")]
    for title, lines in parts.items():
        texts += [*heading(title, ""), _table(lines)]
    notes = [
        f"{check.where}: {check.published} pairs published, {check.ours} exact; {check.note}."
        for check in result.checks
        if check.exact
    ]
    return Text("\n").join([*texts, *heading("Notes", ""), *map(Text, notes)] if notes else texts)


def _table(lines: dict[str, list[Check]]) -> Text:
    columns = list(dict.fromkeys(check.what for checks in lines.values() for check in checks))
    single = list(lines) == columns  # every line has a figure of its own: Table 1
    rows = []
    for line, checks in lines.items():
        cells = {check.what: _cell(check) for check in checks}
        rows.append([line, *(cells.values() if single else (cells.get(column, "") for column in columns))])
    header: Sequence[str] = ["", ""] if single else ["", *columns]
    return small_table("", header, rows)


def _cell(check: Check) -> str:
    if check.what == "parameters" and check.agrees:
        return f"{check.ours} ="
    mark = "≠" if not check.agrees else "≈" if check.exact else "="
    return f"{check.published} {mark} {check.ours}"
