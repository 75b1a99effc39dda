"""What was kept of RecGaze's logs, in the terminal."""

from rich.text import Text

from carouseval.metrics.grid import RECGAZE
from carouseval.paper.recgaze_logs import REASONS, RecgazeLogs
from carouseval.show.terminal.examination import counts
from carouseval.show.terminal.text_blocks import heading


def recgaze(logs: RecgazeLogs) -> Text:
    """How many screens of each group were kept and dropped, and the counts."""
    audits = logs.audit.values()
    labels = logs.audit["all"].labels
    titles = [label if label not in logs.dropped_labels else f"{label} (dropped)" for label in labels]
    lines = _columns(
        "Screens",
        list(logs.audit),
        {
            "in the events file": [audit.screens for audit in audits],
            **{f"dropped: {text}": [audit.dropped[reason] for audit in audits] for reason, text in REASONS.items()},
            "kept": [audit.kept for audit in audits],
        },
    )
    lines += [Text()]
    lines += _columns(
        "Familiarity labels of screens that reached the last filter",
        list(logs.audit),
        {title: [audit.labels.get(label, 0) for audit in audits] for label, title in zip(labels, titles, strict=True)},
    )
    lines += [Text()] * bool(logs.audit["all"].notes)
    lines += [Text(f"Note: {note}.") for note in logs.audit["all"].notes]
    for name in logs.audit:
        lines += counts(logs.groups[name], RECGAZE) if name in logs.groups else heading(name, "no screens left")
    return Text("\n").join(lines)


def _columns(title: str, names: list[str], rows: dict[str, list[int]]) -> list[Text]:
    width = max(len(text) for text in (title, *rows))
    lines = [Text.assemble((title.ljust(width), "bold"), *(f"  {name:>10}" for name in names))]
    return lines + [
        Text(row.ljust(width) + "".join(f"  {count:>10}" for count in counts)) for row, counts in rows.items()
    ]
