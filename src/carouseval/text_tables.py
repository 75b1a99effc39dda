"""Small tables as Markdown and LaTeX."""

from collections.abc import Iterable, Sequence


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table.

    >>> print(markdown(["metric", "mean"], [["2DCG", "1.5"]]), end="")
    | metric | mean |
    |---|---|
    | 2DCG | 1.5 |
    """
    lines = [f"| {' | '.join(_escaped(row))} |" for row in (header, *rows)]
    return "\n".join([lines[0], f"|{'|'.join('---' for _ in header)}|", *lines[1:]]) + "\n"


def latex(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A LaTeX tabular with booktabs rules."""
    body = [" & ".join(map(_latex, row)) + r" \\" for row in rows]
    top = [rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}", r"\toprule", " & ".join(map(_latex, header)) + r" \\"]
    return "\n".join([*top, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _escaped(row: Sequence[str]) -> list[str]:
    return [text.replace("|", "\\|") for text in row]


def _latex(text: str) -> str:
    return "".join(rf"\{mark}" if mark in "_&%#$" else mark for mark in text)
