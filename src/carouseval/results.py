"""What all results can do: tables, JSON, Markdown, LaTeX, notebooks and files."""

import html
import json
import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from carouseval.forks import in_forks, is_forked, refuse_fork
from carouseval.show.charts.kinds import listed_kinds
from carouseval.tables.writing import RESULTS, check_outputs, write_atomically, write_frame
from carouseval.text_tables import TextTable, escape_markdown, html_table, latex, markdown, with_csv_texts

if TYPE_CHECKING:
    import polars as pl

    from carouseval.show.charts.chart import Chart

_T = TypeVar("_T")


class Charted:
    """Base class of what can be drawn."""

    def chart(self, kind: str | None = None, *, theme: Literal["light", "dark"] = "light", **options: Any) -> "Chart":
        """Draw the result; needs ``pip install "carouseval[show]"``.

        Parameters
        ----------
        kind : str, optional
            Which chart, by default the first of its kinds; an unknown one is an error that lists them. Results with
            several kinds:
            KINDS
        theme : {'light', 'dark'}, default 'light'
            The colours.
        **options : Any
            What some kinds take, such as ``metric``, ``system`` and ``baseline``, ``user_id`` and ``page_id``, or
            ``grid``; an unknown one is an error that lists them.

        Returns
        -------
        Chart
            The chart; notebooks show it, and ``chart.save("chart.html")`` writes it, also as SVG, PNG or PDF.
        """
        from carouseval.extras import require_extra

        require_extra("show", "a chart")
        from carouseval.show.charts.kinds import result_chart

        drawn, kind, options = self._drawn(kind, options)
        return result_chart(drawn, kind, theme, options)

    def _drawn(self, kind: str | None, options: dict[str, Any]) -> tuple["Charted", str | None, dict[str, Any]]:
        """What is drawn, its kind and options: what must be read or computed for a chart is, before it is drawn."""
        return self, kind, options


if Charted.chart.__doc__:
    _kinds = textwrap.fill(listed_kinds(), 120, subsequent_indent=" " * 12, initial_indent=" " * 12)
    Charted.chart.__doc__ = Charted.chart.__doc__.replace(" " * 12 + "KINDS", _kinds)


class Result(Charted):
    """Base class of results: each has a heading, a table and its content as plain values."""

    @property
    def heading(self) -> str:
        """The sentence to read before the table; empty for most results."""
        return ""

    @property
    def caption(self) -> str:
        """What the scores are: metrics, discounts, ideal, grid and users; empty for results that are not scores."""
        return ""

    def to_frame(self) -> "pl.DataFrame":
        """Return the result as a table.

        Returns
        -------
        polars.DataFrame
            The table that :meth:`to_markdown`, :meth:`to_latex` and notebooks show.
        """
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, without the scores of single pages and users.

        Returns
        -------
        dict
            Values that JSON can hold; None in place of numbers that are not finite.
        """
        raise NotImplementedError

    def to_json(self) -> str:
        """Return the content of :meth:`to_dict` as JSON.

        Returns
        -------
        str
            An indented JSON object.
        """
        return json.dumps(plain(self.to_dict()), indent=1, allow_nan=False)

    def to_markdown(self) -> str:
        """Return the heading, the table and the caption in Markdown.

        Returns
        -------
        str
            A Markdown table, numbers to four digits. Of a comparison two: systems by metrics, where the highest means
            are bold and significant differences are marked, and the differences.
        """
        heading = f"{escape_markdown(self.heading)}\n\n" * bool(self.heading)
        return heading + "\n".join(map(markdown, self._text_tables()))

    def to_latex(self) -> str:
        """Return the table in LaTeX, with the heading as a comment.

        Returns
        -------
        str
            The tables of :meth:`to_markdown`, each a ``tabular`` that needs the package booktabs, numbers to four
            digits; where the result has a caption, in a ``table`` with caption and label.
        """
        heading = f"% {' '.join(self.heading.split())}\n" * bool(self.heading)
        return heading + "\n".join(map(latex, self._text_tables()))

    def _text_tables(self) -> list[TextTable]:
        """The tables of Markdown, LaTeX and notebooks."""
        return [TextTable.of(self.to_frame(), self.caption, f"tab:{type(self).__name__.lower()}")]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.heading})"

    def _repr_html_(self) -> str:
        heading = f"<p>{html.escape(self.heading)}</p>" * bool(self.heading)
        return heading + "".join(map(html_table, self._text_tables()))

    def save(self, path: str | Path) -> Path:
        """Write the result to a file, completely or not at all.

        An existing file is replaced and keeps its permissions; a symbolic link is followed. A process that is killed
        meanwhile leaves a hidden file that ends in ``.part``; the next one that writes to the same path removes it.

        Parameters
        ----------
        path : str or Path
            Its ending chooses what is written: the content (``.json``), or the table (``.md``, ``.tex``, ``.csv``,
            ``.parquet``). In CSV, text that a spreadsheet would take for a formula begins with an apostrophe, and
            control characters are escaped.

        Returns
        -------
        Path
            The path of the file.
        """
        check_outputs(path, kinds=RESULTS)
        path = Path(path)
        texts = {".json": self.to_json, ".md": self.to_markdown, ".tex": self.to_latex}
        suffix = path.suffix.lower()
        if suffix in texts:
            return write_atomically(path, texts[suffix]() + "\n" * (suffix == ".json"))
        frame = self.to_frame()
        return write_frame(path, with_csv_texts(frame) if suffix == ".csv" else frame)


def _not_a_table(result: Result, name: str) -> Any:
    """An attribute of a result in a forked process, where whoever computes with a table would wait forever."""
    value = object.__getattribute__(result, name)
    if is_forked() and type(value).__module__.startswith("polars."):
        refuse_fork()
    return value


def _guard_tables() -> None:
    """Refuse the tables of results, in a process that has just been forked; in others nothing stands before them."""
    Result.__getattribute__ = _not_a_table  # type: ignore[method-assign, assignment]


in_forks(_guard_tables)


class Reported(Result):
    """Base class of results that can be written as a report."""

    def report(self, path: str | Path, *, title: str | None = None, **parts: Any) -> Path:
        """Write the result as a page to be read and mailed; needs ``pip install "carouseval[show]"``.

        One HTML file of less than 3 MB that opens offline and runs no scripts: a summary in plain words, then charts,
        tables, every setting and count, and how to cite.

        Parameters
        ----------
        path : str or Path
            An ``.html`` file. It is written completely or not at all; an existing one is replaced.
        title : str, optional
            The title of the page; by default, one that names what is reported.
        **parts : Any
            What else belongs in the report. Evaluation: ``explanation``. Comparison: ``explanations``, a dict of them
            by system (by default those of ``compare(..., explain=True)``), and ``sensitivity``. All: ``notices``, a
            list of warnings to be quoted.

        Returns
        -------
        Path
            The path of the file.
        """
        from carouseval.extras import require_extra

        require_extra("show", "a report")
        from carouseval.show.report.kinds import write_report

        return write_report(self._reported(), path, title, parts)

    def _reported(self) -> "Reported":
        """What the report is of: the result with all that it shows at hand."""
        return self


def plain(content: _T) -> _T:
    """Content with None in place of floats that are not finite, which JSON cannot hold."""
    values: Any = content
    if isinstance(content, dict):
        values = {key: plain(value) for key, value in content.items()}
    elif isinstance(content, list):
        values = [plain(value) for value in content]
    elif isinstance(content, float) and not math.isfinite(content):
        values = None
    return cast(_T, values)
