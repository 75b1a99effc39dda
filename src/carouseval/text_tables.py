"""Small tables as Markdown, LaTeX and HTML."""

import html
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table.

    >>> print(markdown(["metric", "mean"], [["2DCG", "1.5"]]), end="")
    | metric | mean |
    |---|---|
    | 2DCG | 1.5 |
    """
    lines = [f"| {' | '.join(_escape_markdown(row))} |" for row in (header, *rows)]
    return "\n".join([lines[0], f"|{'|'.join('---' for _ in header)}|", *lines[1:]]) + "\n"


def latex(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A LaTeX tabular with booktabs rules."""
    body = [" & ".join(map(_escape_latex, row)) + r" \\" for row in rows]
    top = [
        rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        r"\toprule",
        " & ".join(map(_escape_latex, header)) + r" \\",
    ]
    return "\n".join([*top, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]) + "\n"


def frame_texts(frame: "pl.DataFrame") -> tuple[Sequence[str], list[list[str]]]:
    """A frame's header and cells as printed: floats with four decimals."""

    def text(value: Any) -> str:
        if isinstance(value, float):
            return "" if math.isnan(value) else f"{value:.4f}"
        return "" if value is None else str(value)

    return frame.columns, [[text(value) for value in row] for row in frame.iter_rows()]


def frame_html(frame: "pl.DataFrame") -> str:
    """A frame as a plain HTML table."""
    header, rows = frame_texts(frame)
    lines = [("th", header), *(("td", row) for row in rows)]
    body = "".join(f"<tr>{''.join(f'<{tag}>{html.escape(text)}</{tag}>' for text in row)}</tr>" for tag, row in lines)
    return f"<table>{body}</table>"


def _escape_markdown(row: Sequence[str]) -> list[str]:
    return [" ".join(text.replace("|", "\\|").splitlines()) for text in row]


def _escape_latex(text: str) -> str:
    names = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}", "\n": " ", "\r": " "}
    return "".join(names.get(mark, rf"\{mark}" if mark in "_&%#${}" else mark) for mark in text)
