"""Small tables as Markdown, LaTeX and HTML, and text that is safe to show in terminals and spreadsheets."""

import html
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl

DAGGER = "†"
_LATEX = {mark: rf"\{mark}" for mark in "_&%#${}"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # a line of a table that begins with [ or * would be an argument of the \\ before it
    "*": "{*}",
    DAGGER: r"$\dagger$",
}
# control characters, line ends and marks that change the direction of text; the joiners of scripts and emoji are not
# among them
_MARKS = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff"
_UNSAFE = re.compile(f"[{_MARKS}\ud800-\udfff]")  # and halves of surrogate pairs, which Polars has none of
_NUMBER = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?%?", re.IGNORECASE)


class TableCell(NamedTuple):
    """A cell that may be bold and have marks, such as a dagger, after its text."""

    text: str
    bold: bool = False
    marks: str = ""


@dataclass(frozen=True)
class TextTable:
    """A table as it is printed, with its caption and, for LaTeX, its label."""

    header: Sequence[str]
    rows: Sequence[Sequence[str | TableCell]]
    numeric: Sequence[bool]  # which columns hold numbers, aligned right
    caption: str = ""
    label: str = ""
    about: Sequence[str] = ()  # what each column holds, which HTML says where the mouse rests on its header

    @classmethod
    def of(cls, frame: "pl.DataFrame", caption: str = "", label: str = "") -> "TextTable":
        """A frame as printed: floats with four decimals."""
        rows = [[value_text(value) for value in row] for row in frame.iter_rows()]
        return cls(frame.columns, rows, [dtype.is_numeric() for dtype in frame.dtypes], caption, label)

    @property
    def cells(self) -> list[list[TableCell]]:
        """The lines below the header."""
        return [[cell if isinstance(cell, TableCell) else TableCell(cell) for cell in row] for row in self.rows]

    @property
    def marked(self) -> list[bool]:
        """Which columns have marks."""
        return [any(row[column].marks for row in self.cells) for column in range(len(self.header))]


def value_text(value: Any) -> str:
    """A value as printed: floats with four decimals; nothing for NaN or None."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4f}"
    return "" if value is None else str(value)


def markdown(table: TextTable) -> str:
    """A Markdown table, with its caption below.

    >>> print(markdown(TextTable(["metric", "mean"], [["2DCG", "1.5"]], [False, True], "One page.")), end="")
    | metric | mean |
    |---|---:|
    | 2DCG | 1.5 |
    <BLANKLINE>
    One page.
    """

    def text(cell: TableCell) -> str:
        bold = "**" * (cell.bold and bool(cell.text))
        return f"{bold}{escape_markdown(cell.text)}{bold} {escape_markdown(cell.marks)}".rstrip()

    lines = [list(map(escape_markdown, table.header)), *([text(cell) for cell in row] for row in table.cells)]
    head, *body = [f"| {' | '.join(line)} |" for line in lines]
    rule = f"|{'|'.join('---:' if numeric else '---' for numeric in table.numeric)}|"
    caption = ["", escape_markdown(table.caption)] if table.caption else []
    return "\n".join([head, rule, *body, *caption]) + "\n"


def latex(table: TextTable) -> str:
    """A LaTeX tabular with booktabs rules; with a caption, in a table environment.

    Marks have a column of their own, without space before it, so that the numbers stay aligned.
    """
    marked = table.marked

    def kind(marks: bool, numeric: bool) -> str:
        return "r@{}l" if marks else "r" if numeric else "l"

    def head(name: str, marks: bool) -> str:
        return rf"\multicolumn{{2}}{{c}}{{{escape_latex(name)}}}" if marks else escape_latex(name)

    def text(cell: TableCell, marks: bool, numeric: bool) -> str:
        content = escape_latex(cell.text)
        if numeric:
            content = re.sub(r"-(?=\d)", "$-$", content)
        if cell.bold and content:
            content = rf"\textbf{{{content}}}"
        superscript = rf"\textsuperscript{{{escape_latex(cell.marks)}}}" if cell.marks else ""
        return f"{content} & {superscript}".rstrip() if marks else content

    lines = [" & ".join(map(head, table.header, marked))]
    lines += [" & ".join(map(text, row, marked, table.numeric)) for row in table.cells]
    top, *body = [rf"{line} \\" for line in lines]
    kinds = "".join(map(kind, marked, table.numeric))
    tabular = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", top, r"\midrule", *body]
    tabular += [r"\bottomrule", r"\end{tabular}"]
    if table.caption:
        before = ["% needs the package booktabs", r"\begin{table}", r"\centering"]
        before += [rf"\caption{{{escape_latex(table.caption)}}}", rf"\label{{{table.label}}}"]
        tabular = [*before, *tabular, r"\end{table}"]
    return "\n".join(tabular) + "\n"


def html_table(table: TextTable) -> str:
    """A plain HTML table for notebooks and reports, with its caption in small print below."""
    # numbers with marks start at the same place, so that marks do not shift them
    right = [numeric and not marks for numeric, marks in zip(table.numeric, table.marked, strict=True)]

    def text(cell: TableCell) -> str:
        content = f"<b>{escape_html(cell.text)}</b>" if cell.bold else escape_html(cell.text)
        return f"{content}<sup>{escape_html(cell.marks)}</sup>" if cell.marks else content

    def line(scopes: Sequence[str], texts: Iterable[str], titles: Iterable[str]) -> str:
        cells = []
        for scope, is_right, content, title in zip(scopes, right, texts, titles, strict=True):
            tag, of_scope = ("th", f' scope="{scope}"') if scope else ("td", "")
            about = f' title="{escape_html(title)}"' if title else ""
            align = "right" if is_right else "left"
            cells.append(f'<{tag}{of_scope}{about} style="text-align: {align}">{content}</{tag}>')
        return f"<tr>{''.join(cells)}</tr>"

    names = [not numeric and column == 0 for column, numeric in enumerate(table.numeric)]
    nothing = [""] * len(names)
    head = line(["col"] * len(names), map(escape_html, table.header), table.about or nothing)
    body = "".join(line(["row" * is_name for is_name in names], map(text, row), nothing) for row in table.cells)
    caption = '<caption style="caption-side: bottom; text-align: left"><small>{}</small></caption>'
    above = caption.format(escape_html(table.caption)) if table.caption else ""
    return f"<table>{above}<thead>{head}</thead><tbody>{body}</tbody></table>"


def frame_html(frame: "pl.DataFrame") -> str:
    """A frame as a plain HTML table."""
    return html_table(TextTable.of(frame))


def printable(text: str) -> str:
    r"""Text with escapes in place of characters that a terminal would obey rather than show.

    >>> print(printable("Drama\x1b[2J\u202e"))
    Drama\x1b[2J\u202e
    """
    return _UNSAFE.sub(lambda mark: mark[0].encode("unicode_escape").decode(), text)


def printable_content(content: Any) -> Any:
    """Dicts and lists with the same escapes in all texts that they hold, but for keys."""
    if isinstance(content, dict):
        return {key: printable_content(value) for key, value in content.items()}
    if isinstance(content, list):
        return [printable_content(value) for value in content]
    return printable(content) if isinstance(content, str) else content


def escape_html(text: str) -> str:
    """Text that HTML shows as it is."""
    return html.escape(printable(text))


def printable_lines(text: str) -> str:
    """Printable text of several lines."""
    return "\n".join(map(printable, text.split("\n")))


def csv_text(text: str) -> str:
    """Text as a cell of CSV that spreadsheets show; an apostrophe keeps them from taking it for a formula.

    >>> csv_text("=1+2"), csv_text("-0.5")
    ("'=1+2", '-0.5')
    """
    is_formula = text.lstrip()[:1] in ("=", "+", "-", "@") and not _NUMBER.fullmatch(text)
    return "'" * is_formula + printable(text)


def with_csv_texts(frame: "pl.DataFrame") -> "pl.DataFrame":
    """A table whose names of columns and cells of text are safe to open in a spreadsheet."""
    import polars as pl

    texts = [column for column in frame.iter_columns() if column.dtype == pl.String]
    suspects = (column for column in texts if column.str.contains(rf"^\s*[=+@-]|[{_MARKS}]").any())
    return frame.with_columns(column.map_elements(csv_text, pl.String) for column in suspects).rename(csv_text)


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is, on one line and in one cell."""
    marks = r"[\\`*~|[]|<(?=[a-zA-Z/!?])|(?<!\w)_|_(?!\w)"
    return re.sub(marks, r"\\\g<0>", printable(" ".join(text.split())))


def escape_latex(text: str) -> str:
    """Text that LaTeX shows as it is, on one line."""
    return "".join(_LATEX.get(mark, mark if mark.isprintable() else " ") for mark in text)


def brief(text: str) -> str:
    """A name with long numbers rounded to four digits, for display: parsing it may give another value."""
    return re.sub(r"\d+\.\d{5,}(?:e[-+]?\d+)?", lambda number: f"{float(number[0]):.4g}", text)
