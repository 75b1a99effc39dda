"""The truth of a simulation: where people looked, or a discount that stands in for it."""

from pathlib import Path
from typing import TypeAlias

import numpy as np

from carouseval.attention.examination import Examination
from carouseval.attention.recgaze_data import GROUPS, is_recgaze_group, recgaze_counts
from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.metrics.discount_base import as_discount, known_symbols
from carouseval.metrics.discounts import Discount, Empirical, parse
from carouseval.metrics.grid import RECGAZE, Grid
from carouseval.validation import did_you_mean

Truth: TypeAlias = Examination | str | Discount


def read_truth(text: str, grid: Grid | None = None) -> Examination | Discount:
    """Read a truth as typed: a RecGaze group, a file of counts, frequencies or screens, or the name of a discount."""
    if is_recgaze_group(text):
        return recgaze_counts(text)
    if Path(text).is_file() or (Path(text).suffix.lower() in (".csv", ".parquet", ".json") and text[:1] != "@"):
        from carouseval.attention.attention_files import read_attention  # brings in Polars

        data = read_attention(text, grid=grid)
        return data if isinstance(data, Examination) else data.discount
    if not text.lstrip().startswith(("d_", "@")):
        hint = did_you_mean(text, [*GROUPS, *known_symbols()])
        raise ParameterError(
            f"{setting('truth')}: there is no group, file or discount {text!r}.{hint} Give {', '.join(GROUPS)}, a "
            "file of counts, or a discount such as d_rpd or @fitted.json."
        )
    return parse(text)


def grid_of_truth(truth: Truth) -> Grid:
    """The grid of a table; for a formula, which fits any grid, the paper's."""
    if isinstance(truth, Examination):
        return Grid(*truth.counts.shape)
    discount = as_discount(truth)
    return Grid(*np.shape(discount.table)) if isinstance(discount, Empirical) else RECGAZE
