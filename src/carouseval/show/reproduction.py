"""The paper's figures beside ours, and what lies beyond, in the terminal."""

from collections.abc import Sequence
from textwrap import wrap

from rich.text import Text

from carouseval.show.fit_terminal import forms_table
from carouseval.show.terminal import heading, small_table
from carouseval.study.ceiling_study import MEASURES, CeilingStudy
from carouseval.study.reproduce import FigureCheck, Reproduction

WIDTH = 120  # of sentences
MARKS = "published = ours; ≠ differs; ≈ exact arithmetic differs from the authors' floats, see the notes"


def reproduction(result: Reproduction) -> Text:
    """One table per table or figure of the paper: a line for each of its lines, published and ours in each cell."""
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
    return Text("\n").join([*texts, *_beyond(result.ceiling_study)])


def _beyond(found: CeilingStudy) -> list[Text]:
    """Discounts beside the ceiling, the forms tried, and what is to be said."""
    return [
        *heading(
            "Beyond the paper", f"scored on {found.test}, with 95% intervals; MSE after scaling both to maximum 1;"
        ),
        Text("pairs: the share decided as the truth does; log-likelihood: of a screen's cells", "dim"),
        small_table("", *_discounts(found)),
        *heading("Forms tried", f"fitted to {found.train} alone; held out: {found.choice.folds}"),
        forms_table(found.choice),
        Text(),
        *(Text(line) for sentence in found.sentences for line in wrap(sentence, WIDTH)),
    ]


def _discounts(found: CeilingStudy) -> tuple[list[str], list[list[str]]]:
    """A line for each discount."""
    modes = list(found.lines[0].agreement)
    header = ["discount", "parameters", "rho", "r", "MSE", *(f"{mode} pairs (%)" for mode in modes)]
    rows = []
    for line in found.lines:
        scores = [f"{value:.4f} ± {high - value:.4f}" for value, _, high in map(line.interval, MEASURES)]
        shares = [line.agreement[mode].agreement for mode in modes]
        halves = [100 * (share.interval[1] - share.interval[0]) / 2 for share in shares]
        agreement = [f"{100 * share.value:.1f} ± {half:.1f}" for share, half in zip(shares, halves, strict=True)]
        rows.append([line.name, str(line.parameters), *scores, *agreement])
    return header, rows


def _table(lines: dict[str, list[FigureCheck]]) -> Text:
    columns = list(dict.fromkeys(check.what for checks in lines.values() for check in checks))
    single = list(lines) == columns  # every line has a figure of its own: Table 1
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
