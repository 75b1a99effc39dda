"""Tables in Markdown, LaTeX and HTML show any text as it is."""

import html
import re

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from carouseval.text_tables import TableCell, TextTable, escape_latex, html_table, latex, markdown, printable

Rows = list[list[str | TableCell]]
SPECIAL = r"&%$#_{}~^\[]*<>|†`-!?" + "\n\t\0é"
names = st.text(st.sampled_from(SPECIAL + "ab 1"), max_size=8)
TEXTS = {
    r"\textbackslash{}": "\\",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    "{[}": "[",
    "{*}": "*",
    r"$\dagger$": "†",
    **{rf"\{mark}": mark for mark in "_&%#${}"},
}


def unescaped(text: str) -> str:
    """What LaTeX prints; fails on a character that it would not print."""
    pattern = "|".join(map(re.escape, TEXTS))
    assert not re.search(r"[\\&%$#_{}~^\[*<>|†]", re.sub(pattern, "", text)), text
    return re.sub(pattern, lambda found: TEXTS[found[0]], text)


def printed(text: str) -> str:
    return "".join(mark if mark.isprintable() else " " for mark in text)


def tabular_rows(text: str) -> list[list[str]]:
    """The cells of a tabular by line, as LaTeX sees them; its column kinds first."""
    kinds, body = re.findall(r"\\begin{tabular}{(.*)}\n(.*)\\end{tabular}", text, flags=re.DOTALL)[0]
    lines = [line for line in body.splitlines() if not re.fullmatch(r"\\(top|mid|bottom)rule", line)]
    assert all(line.endswith(r" \\") for line in lines)
    return [list(kinds.replace("@{}", "")), *(re.split(r"(?<!\\)&", line.removesuffix(r" \\")) for line in lines)]


@given(names)
def test_escaped_latex_prints_the_text(name: str) -> None:
    assert unescaped(escape_latex(name)) == printed(name)


@settings(deadline=None)
@given(st.lists(st.tuples(names, names), min_size=1, max_size=4), names, names)
def test_latex_has_the_same_columns_in_every_line(rows: list[tuple[str, str]], head: str, caption: str) -> None:
    numbers = [TableCell("0.5000", bold=True, marks="a,b"), TableCell("-0.1234")] * len(rows)
    cells: Rows = [[*row, number] for row, number in zip(rows, numbers, strict=False)]
    text = latex(TextTable([head, "x", "m"], cells, [False, False, True], f"About {caption}", "tab:x"))
    kinds, header, *lines = tabular_rows(text)
    assert kinds == ["l", "l", "r", "l"]
    assert header[2].strip() == r"\multicolumn{2}{c}{m}"
    assert unescaped(header[0]).strip() == printed(head).strip()
    for row, line in zip(rows, lines, strict=True):
        assert len(line) == 4
        assert [unescaped(cell).strip() for cell in line[:2]] == [printed(name).strip() for name in row]
        assert line[0].lstrip()[:1] not in ("[", "*")  # arguments of the \\ before
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")
    (found,) = re.findall(r"^\\caption{(.*)}$", text, flags=re.MULTILINE)
    assert unescaped(found) == printed(f"About {caption}")
    assert text.index(r"\begin{table}") < text.index(r"\caption") < text.index(r"\label{tab:x}")


def test_latex_aligns_marks_outside_the_number() -> None:
    rows: Rows = [["a", TableCell("0.5000", bold=True, marks="†")], ["b", TableCell("-0.1234")]]
    assert latex(TextTable(["system", "mean"], rows, [False, True])).splitlines() == [
        r"\begin{tabular}{lr@{}l}",
        r"\toprule",
        r"system & \multicolumn{2}{c}{mean} \\",
        r"\midrule",
        r"a & \textbf{0.5000} & \textsuperscript{$\dagger$} \\",
        r"b & $-$0.1234 & \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_without_a_caption_latex_is_a_tabular() -> None:
    frame = pl.DataFrame({"metric": ["2DCG"], "mean": [-1.0], "note": [None]})
    text = latex(TextTable.of(frame))
    assert text.startswith("\\begin{tabular}{lrl}\n")
    assert "2DCG & $-$1.0000 &  \\\\\n" in text
    empty = latex(TextTable.of(frame.clear()))
    assert [len(line) for line in tabular_rows(empty)] == [3, 3]


def test_markdown_shows_text_as_it_is() -> None:
    rows: Rows = [
        ["a|b\n*x* _y_ <b> c_d [e]", TableCell("0.5000", bold=True, marks="a,b")],
        ["p < 1", TableCell("", bold=True)],
    ]
    assert markdown(TextTable(["system", "mean"], rows, [False, True], "N2DCG_cat, p < 0.05.")).splitlines() == [
        "| system | mean |",
        "|---|---:|",
        r"| a\|b \*x\* \_y\_ \<b> c_d \[e] | **0.5000** a,b |",
        "| p < 1 |  |",
        "",
        "N2DCG_cat, p < 0.05.",
    ]


@given(names)
def test_html_is_escaped(name: str) -> None:
    text = html_table(TextTable([name], [[TableCell(name, bold=True, marks="†")]], [True], f"About {name}"))
    shown, left = html.escape(printable(name)), 'style="text-align: left"'
    assert text == (
        f'<table><caption style="caption-side: bottom; text-align: left"><small>About {shown}</small></caption>'
        f'<thead><tr><th scope="col" {left}>{shown}</th></tr></thead>'
        f"<tbody><tr><td {left}><b>{shown}</b><sup>†</sup></td></tr></tbody></table>"
    )


def test_the_first_column_of_html_names_its_lines() -> None:
    text = html_table(TextTable(["system", "mean"], [["new", "1"], ["prod", "2"]], [False, True]))
    assert re.findall(r'<th scope="row"[^>]*>(\w+)</th>', text) == ["new", "prod"]
    assert "<caption" not in text


def test_html_aligns_numbers() -> None:
    text = html_table(TextTable(["users"], [["7"]], [True]))
    assert '<td style="text-align: right">7</td>' in text
