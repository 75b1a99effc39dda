"""The result of a check: what is wrong with tables, and what they hold."""

import html
import json
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from carouseval.errors import DataError
from carouseval.evaluation.notices import number
from carouseval.results import Result
from carouseval.tables.columns import Defect


@dataclass(frozen=True, repr=False)
class Check(Result):
    """What is wrong with tables and what they hold, as :func:`carouseval.check` returns it.

    Attributes
    ----------
    defects : tuple of Defect
        What is wrong, errors first; each has a ``severity`` ("error", "warning" or "note"), ``table``, ``column``,
        ``count`` and ``message``.
    summary : dict of str to dict
        For each table, its numbers of lines, users, items and so on; under ``match``, how well the tables fit together.
        Empty where a table cannot be read.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(users=20, systems=["new"])
    >>> check = cv.check(data.layouts["new"], data.judgments, data.items)
    >>> check.ok
    True
    >>> check.summary["judgments"]["users"]
    20
    """

    defects: tuple[Defect, ...]
    summary: dict[str, dict[str, Any]]

    @property
    def ok(self) -> bool:
        """Whether the tables can be scored as they are."""
        return not any(defect.severity == "error" for defect in self.defects)

    @property
    def heading(self) -> str:
        """A sentence where nothing is wrong; else empty."""
        return "" if self.defects else "The tables are valid."

    def raise_for_errors(self) -> None:
        """Raise a :class:`carouseval.DataError` with the first error, if there is one."""
        for defect in self.defects:
            if defect.severity == "error":
                raise DataError(str(defect))

    def to_frame(self) -> pl.DataFrame:
        """One line per defect: severity, table, column, count, message."""
        kinds = {
            "severity": pl.String,
            "table": pl.String,
            "column": pl.String,
            "count": pl.Int64,
            "message": pl.String,
        }
        return pl.DataFrame([{name: asdict(defect)[name] for name in kinds} for defect in self.defects], schema=kinds)

    def to_dict(self) -> dict[str, Any]:
        """``ok``, ``defects`` and ``summary``."""
        return {"ok": self.ok, "defects": self.to_frame().to_dicts(), "summary": self.summary}

    def __repr__(self) -> str:
        severities = [defect.severity for defect in self.defects]
        numbers = [number(severities.count(kind), kind) for kind in ("error", "warning", "note") if kind in severities]
        lines = [f"Check({', '.join(numbers) or self.heading})"]
        return "\n".join([*lines, *(f"  {defect.severity}: {defect.message}" for defect in self.defects)])

    def _repr_html_(self) -> str:
        return super()._repr_html_() + f"<pre>{html.escape(json.dumps(self.summary, indent=1))}</pre>"
