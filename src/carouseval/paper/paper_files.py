"""The reproduced paper as files: results, tables and figures."""

from pathlib import Path

from carouseval.paper.paper_tables import paper_tables
from carouseval.paper.reproduce import Reproduction
from carouseval.show.charts.kinds import kinds_of
from carouseval.tables.writing import atomic_folder


def write_paper(result: Reproduction, folder: str | Path) -> int:
    """Write ``results.json``, the tables (CSV, Markdown, LaTeX) and the figures, all or none; return their number."""
    with atomic_folder(folder) as temporary:
        result.save(temporary / "results.json")
        for name, table in paper_tables(result).items():
            for suffix in ("csv", "md", "tex"):
                table.save(temporary / f"{name}.{suffix}")
        for name in kinds_of(Reproduction):
            chart = result.chart(name)
            for suffix in ("svg", "png", "pdf"):
                chart.save(temporary / f"{name}.{suffix}")
        return len(list(temporary.iterdir()))
