"""The paper in the terminal: published numbers beside ours, the ceiling study, and what was kept of RecGaze's logs."""

from collections.abc import Sequence
from textwrap import wrap

from rich.text import Text

from carouseval.metrics.grid import RECGAZE
from carouseval.paper.ceiling_study import MEASURES, CeilingStudy
from carouseval.paper.recgaze_logs import REASONS, RecgazeLogs
from carouseval.paper.reproduce import FigureCheck, Reproduction
from carouseval.show.terminal.fit import counts, forms_table
from carouseval.show.terminal.text_blocks import heading, small_table

WIDTH = 120  # of sentences
MARKS = (
    "published = ours; ≠ differs; ≈ exact arithmetic differs from the authors' floating-point numbers, see the notes"
)


def reproduction(result: Reproduction) -> Text:
    """One table per table or figure of the paper, with the published number and ours in each cell."""
    parts: dict[str, dict[str, list[FigureCheck]]] = {}
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
    texts += [*heading("Notes", ""), *map(Text, notes)] if notes else []
    return Text("\n").join([*texts, *_ceiling(result.ceiling_study)])


def _ceiling(study: CeilingStudy) -> list[Text]:
    """Discounts beside the ceiling, the forms compared, and what they show."""
    return [
        *heading(
            "Beyond the paper",
            f"scored on {study.test}, with 95% intervals; MSE after both are scaled to a maximum of 1;",
        ),
        Text("pairs: share of pairs on which the discount agrees with the truth", "dim"),
        small_table("", *_discounts(study)),
        *heading("Forms compared", f"fitted to {study.train} only; BIC and quasi-BIC above the lowest;"),
        Text(f"held out: {study.choice.folds}", "dim"),
        forms_table(study.choice),
        Text(),
        *(Text(line) for sentence in study.sentences for line in wrap(sentence, WIDTH)),
    ]


def _discounts(study: CeilingStudy) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the table of discounts."""
    modes = list(study.lines[0].agreement)
    header = ["discount", "parameters", "rho", "r", "MSE", *(f"{mode} pairs (%)" for mode in modes)]
    rows = []
    for line in study.lines:
        scores = [f"{value:.4f} ± {high - value:.4f}" for value, _, high in map(line.interval, MEASURES)]
        shares = [line.shares[mode] for mode in modes]
        halves = [100 * (share.interval[1] - share.interval[0]) / 2 for share in shares]
        agreement = [f"{100 * share.value:.1f} ± {half:.1f}" for share, half in zip(shares, halves, strict=True)]
        rows.append([line.name, str(line.parameters), *scores, *agreement])
    return header, rows


def _table(lines: dict[str, list[FigureCheck]]) -> Text:
    columns = list(dict.fromkeys(check.what for checks in lines.values() for check in checks))
    single = list(lines) == columns  # one number per line: Table 1
    rows = []
    for line, checks in lines.items():
        cells = {check.what: _cell(check) for check in checks}
        rows.append([line, *(cells.values() if single else (cells.get(column, "") for column in columns))])
    header: Sequence[str] = ["", ""] if single else ["", *columns]
    return small_table("", header, rows)


def _cell(check: FigureCheck) -> str:
    if check.what == "parameters" and check.agrees:
        return f"{check.ours} ="
    mark = "≠" if not check.agrees else "≈" if check.exact else "="
    return f"{check.published} {mark} {check.ours}"


def recgaze_logs(logs: RecgazeLogs) -> Text:
    """How many screens of each group were kept and dropped, and the counts."""
    audits = logs.audit.values()
    labels = logs.audit["all"].labels
    titles = [label if label not in logs.dropped_labels else f"{label} (dropped)" for label in labels]
    lines = _counts_by_group(
        "Screens",
        list(logs.audit),
        {
            "in the events file": [audit.screens for audit in audits],
            **{f"dropped: {text}": [audit.dropped[reason] for audit in audits] for reason, text in REASONS.items()},
            "kept": [audit.kept for audit in audits],
        },
    )
    lines += [Text()]
    lines += _counts_by_group(
        "Familiarity labels of screens that reached the last filter",
        list(logs.audit),
        {title: [audit.labels.get(label, 0) for audit in audits] for label, title in zip(labels, titles, strict=True)},
    )
    lines += [Text()] * bool(logs.audit["all"].notes)
    lines += [Text(f"Note: {note}.") for note in logs.audit["all"].notes]
    for name in logs.audit:
        lines += counts(logs.groups[name], RECGAZE) if name in logs.groups else heading(name, "no screens left")
    return Text("\n").join(lines)


def _counts_by_group(title: str, groups: list[str], rows: dict[str, list[int]]) -> list[Text]:
    width = max(len(text) for text in (title, *rows))
    lines = [Text.assemble((title.ljust(width), "bold"), *(f"  {group:>10}" for group in groups))]
    return lines + [
        Text(row.ljust(width) + "".join(f"  {count:>10}" for count in numbers)) for row, numbers in rows.items()
    ]
