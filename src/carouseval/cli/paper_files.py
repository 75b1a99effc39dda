"""The files that ``carouseval reproduce --out`` writes: results, tables and figures."""

import json
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from carouseval.attention.examination import Examination
from carouseval.attention.recgaze import GROUPS, recgaze_counts
from carouseval.cli.output import Format, write_rows
from carouseval.cli.seen import seen
from carouseval.metrics.discounts import FPattern
from carouseval.metrics.grid import RECGAZE
from carouseval.show import charts
from carouseval.show.beyond import BeyondRow, beyond
from carouseval.show.fitted import Fitted, data_against_model
from carouseval.show.reproduction import beyond_numbers, forms_table
from carouseval.study.beyond import Beyond, Line
from carouseval.study.reproduce import PERCENT, SHARES, Reproduction, shares
from carouseval.whole_files import write_whole

BEYOND_INTERVALS = "95% intervals; of scores, by drawing the test counts anew cell by cell; of agreement, Wilson's"

_SUFFIX = {Format.csv: "csv", Format.markdown: "md", Format.latex: "tex"}


def write_paper(result: Reproduction, folder: Path) -> list[Path]:
    """Write everything; each file appears whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [write_whole(folder / "results.json", json.dumps(result.to_dict(), indent=1) + "\n")]
    for name, (header, rows) in _tables(result).items():
        for format, suffix in _SUFFIX.items():
            text = StringIO()
            write_rows(format, header, rows, out=text)
            written.append(write_whole(folder / f"{name}.{suffix}", text.getvalue()))
    for name, chart in _figures(result).items():
        written += charts.save(chart, folder / name)
    return written


def _figures(result: Reproduction) -> dict[str, Any]:
    train, test, both = (recgaze_counts(group) for group in GROUPS)
    panels = [
        charts.DiscountPanel(
            symbol,
            str(fit.discount).replace("(", ": ", 1).removesuffix(")"),
            test.frequencies,
            fit.discount.weights(RECGAZE),
            result.test[symbol].spearman,
            result.test[symbol].pearson,
            result.test[symbol].mse,
        )
        for symbol, fit in result.fits.items()
    ]
    agreement = [
        charts.Agreement(
            mode, float(row.at_least), f"{name}: {one.discount.short}", one.agreement.value, *one.agreement.interval
        )
        for mode, study in result.table2.items()
        for row in study.thresholds
        for name, one in zip(("original", "reformulated"), row.comparisons, strict=True)
    ]
    groups = {f"{group.name}: {group.screens} screens": group.frequencies for group in (train, test)}
    weights = {str(fit.discount): fit.discount.weights(RECGAZE) for fit in result.fits.values()}
    return {
        "figure1": charts.attention_patterns(FPattern().weights(RECGAZE), both.frequencies),
        "figure2": charts.discount_fits(panels),
        "agreement": charts.agreement(agreement),
        "examination": charts.heatmaps(groups),
        "discounts": charts.heatmaps(weights),
        "beyond": beyond_chart(result.beyond),
        "fit": fit_chart(result.beyond, train, test),
    }


def beyond_chart(found: Beyond) -> Any:
    """The paper's discount, ours and the ceiling; d_a is so far off that the others would not be told apart."""
    return beyond([_beyond_row(line, line is found.ceiling) for line in found.lines[1:]], BEYOND_INTERVALS)


def fit_chart(found: Beyond, train: Examination, test: Examination) -> Any:
    """Test data against d_rpb and the ceiling."""
    models = [Fitted(line.name, line.discount.weights(RECGAZE)) for line in found.lines[2:]]
    subtitle = f"fitted to {train.name}, held against {test.name}; 95% Wilson intervals of single cells"
    return data_against_model(seen(test), models, RECGAZE, subtitle)


def _beyond_row(line: Line, ceiling: bool) -> BeyondRow:
    shares = {mode: one.agreement for mode, one in line.agreement.items()}
    return BeyondRow(
        line.name,
        line.parameters,
        line.interval("spearman"),
        line.interval("pearson"),
        line.interval("mse"),
        {mode: (share.value, *share.interval) for mode, share in shares.items()},
        ceiling,
    )


def _tables(result: Reproduction) -> dict[str, tuple[list[str], Sequence[Sequence[Any]]]]:
    four: Callable[[float], str] = "{:.4f}".format
    fits = [
        [
            symbol,
            ", ".join(f"{name}={value!r}" for name, value in fit.discount.parameters.items()),
            *map(four, (fit.train.spearman, fit.train.pearson)),
            *map(four, (result.test[symbol].spearman, result.test[symbol].pearson, result.test[symbol].mse)),
        ]
        for symbol, fit in result.fits.items()
    ]
    table2 = [
        [mode, f"{float(row.at_least):.2f}", row.pairs, *(f"{100 * shares(row)[key]:.1f}" for key in SHARES)]
        for mode, study in result.table2.items()
        for row in study.thresholds
    ]
    checks = [[check.where, check.what, check.published, check.ours, check.note] for check in result.checks]
    return {
        "table1": (["case", "2DCG"], [[key, f"{value:.4g}"] for key, value in result.table1.items()]),
        "fits": (["discount", "parameters", "train rho", "train r", "test rho", "test r", "test MSE"], fits),
        "table2": (["setting", "difference at least", "pairs", *(f"{PERCENT[key]} (%)" for key in SHARES)], table2),
        "beyond": beyond_numbers(result.beyond),
        "forms": forms_table(result.beyond.choice),
        "checks": (["where", "what", "published", "ours", "note"], checks),
    }
