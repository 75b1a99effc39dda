"""The scores of pages that Spark keeps, and makes again where it has lost them or was told to drop them."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import polars as pl

from carouseval.comparison.comparison_sums import Run
from carouseval.spark.read_lines import ReadLines, Reads, add_reads, refuse_changes
from carouseval.spark.reports import REPORT
from carouseval.spark.spark_tables import local_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RUN = "__run__"


@dataclass(frozen=True, eq=False)
class KeptPages:
    """The pages of all runs, with reports of what they were made of, and what the result was made of."""

    scored: DataFrame
    read: Reads
    runs: Mapping[str, Run]
    run: int | None = None  # where there are several

    @property
    def frame(self) -> DataFrame:
        """The table of pages."""
        from pyspark.sql import functions as F  # noqa: N812

        pages = self.scored.where(F.col(REPORT).isNull())
        return (pages if self.run is None else pages.where(F.col(RUN) == self.run)).drop(REPORT, RUN)

    def collect(self) -> pl.DataFrame:
        """The table of pages on this machine; refused if it was made again, of other lines."""
        from pyspark.sql import functions as F  # noqa: N812

        wanted = self.scored
        if self.run is not None:
            wanted = wanted.where(F.col(REPORT).isNotNull() | (F.col(RUN) == self.run))
        found = local_frame(wanted)
        self.require_same(read_of(found[REPORT]))
        return found.filter(pl.col(REPORT).is_null()).drop(REPORT)

    def require_same(self, read: Reads) -> None:
        """Refuse pages that were made again, of other lines."""
        refuse_changes(self.read, add_reads(dict.fromkeys(self.read, ReadLines()), read), self.runs)


def read_of(reports: pl.Series) -> Reads:
    """What pages were made of, by the reports beside them; null on the lines of pages."""
    nothing: Reads = {}
    return reduce(add_reads, (pickle.loads(report).read for report in reports.drop_nulls()), nothing)
