"""Results on standard output, in the format asked for."""

import csv
import json
import math
import sys
from collections.abc import Iterable
from enum import StrEnum
from typing import Any


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"


def write_json(content: Any) -> None:
    """JSON that any reader takes: what is not a number becomes null."""
    print(json.dumps(_plain(content), indent=1, allow_nan=False))


def write_rows(format: Format, header: list[str], rows: Iterable[list[Any]]) -> None:
    """A small table as CSV, Markdown or LaTeX."""
    if format is Format.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([_cell(value) for value in row] for row in rows)
    elif format is Format.markdown:
        print(f"| {' | '.join(header)} |")
        print(f"|{'|'.join('---' for _ in header)}|")
        for row in rows:
            print(f"| {' | '.join(_cell(value).replace('|', chr(92) + '|') for value in row)} |")
    else:
        print(rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}")
        print(r"\toprule", " & ".join(header) + r" \\", r"\midrule", sep="\n")
        for row in rows:
            print(" & ".join(_latex(_cell(value)) for value in row) + r" \\")
        print(r"\bottomrule", r"\end{tabular}", sep="\n")


def _plain(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _plain(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_plain(value) for value in content]
    return None if isinstance(content, float) and math.isnan(content) else content


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(value)
    return str(value)


def _latex(text: str) -> str:
    return "".join(rf"\{mark}" if mark in "_&%#$" else mark for mark in text)
