"""The reproduced paper as files: its results, its tables, as they are printed, and its figures."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from carouseval.paper.reproduce import PERCENT, Reproduction, shares
from carouseval.results import Result
from carouseval.show.charts.kinds import kinds_of
from carouseval.tables.writing import atomic_folder


@dataclass(frozen=True)
class PaperTable(Result):
    """A table as it is printed."""

    frame: pl.DataFrame

    def to_frame(self) -> pl.DataFrame:
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        return {"rows": self.frame.to_dicts()}


def paper_tables(result: Reproduction) -> dict[str, PaperTable]:
    """All tables by name, with as many digits as are published or as noise leaves meaningful."""
    cases = [{"case": key, "2DCG": f"{value:.4g}"} for key, value in result.table1.items()]
    fits = [
        {
            "discount": symbol,
            "parameters": ", ".join(f"{name}={value!r}" for name, value in fit.discount.parameters.items()),
            "train rho": fit.train.spearman,
            "train r": fit.train.pearson,
            "test rho": result.test[symbol].spearman,
            "test r": result.test[symbol].pearson,
            "test MSE": result.test[symbol].mse,
        }
        for symbol, fit in result.fits.items()
    ]
    pairs = [
        {"setting": mode, "difference at least": f"{float(row.at_least):.2f}", "pairs": row.pairs}
        | {f"{PERCENT[key]} (%)": f"{100 * share:.1f}" for key, share in shares(row).items()}
        for mode, study in result.table2.items()
        for row in study.thresholds
    ]
    number = pl.selectors.float()
    frames = {
        "table1": pl.DataFrame(cases),
        "fits": pl.DataFrame(fits).with_columns(number.round(4)),
        "table2": pl.DataFrame(pairs),
        "ceiling": result.ceiling_study.to_frame().with_columns(number.round(5)),
        "forms": result.ceiling_study.choice.to_frame().with_columns(number.round(1)),
        "checks": result.to_frame().drop("mark"),
    }
    return {name: PaperTable(frame) for name, frame in frames.items()}


def write_paper(result: Reproduction, folder: str | Path) -> int:
    """Write ``results.json``, the tables (CSV, Markdown, LaTeX) and the figures, all or none; return their number."""
    with atomic_folder(folder) as temporary:
        result.save(temporary / "results.json")
        for name, table in paper_tables(result).items():
            for suffix in ("csv", "md", "tex"):
                table.save(temporary / f"{name}.{suffix}")
        for kind in kinds_of(Reproduction):
            chart = result.chart(kind)
            for suffix in ("svg", "png", "pdf"):
                chart.save(temporary / f"{kind}.{suffix}")
        return len(list(temporary.iterdir()))
