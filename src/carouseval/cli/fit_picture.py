"""Data against a fitted discount, as a file or in the terminal."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.text import Text

from carouseval.attention.examination import Examination
from carouseval.cli.inputs import FitInput
from carouseval.cli.seen import seen
from carouseval.metrics.discounts import Discount
from carouseval.show.fitted_data import Fitted, Seen
from carouseval.whole_files import write_whole


def draw(data: FitInput, discount: Discount, path: Path) -> None:
    """Every cell, model against data, and the means of rows, in one figure."""
    from carouseval.show import drawing
    from carouseval.show.fitted import data_against_model

    held_out = data.test is not None
    shown = _seen(data.test if held_out else data.train, data.name)
    note = "" if shown.low is shown.high else "95% Wilson intervals of single cells"
    note = f"fitted to {data.name}, held against other data; {note}" if held_out else note
    figure = data_against_model(shown, [_fitted(data, discount)], data.grid, note)
    (drawn,) = drawing.draw(figure, [path.suffix[1:].lower()]).values()
    write_whole(path, drawn)


def in_terminal(data: FitInput, discount: Discount, width: int | None) -> Text:
    """The means of rows, and the cells that are farthest off."""
    from carouseval.show.fitted_rows import fitted_rows

    fitted = _fitted(data, discount)
    share = np.clip(fitted.weights, 1e-9, 1 - 1e-9)
    return fitted_rows(
        _seen(data.train, data.name), fitted, np.sqrt(share * (1 - share) / data.train.screens), data.grid, width
    )


def _seen(table: Any, name: str) -> Seen:
    if isinstance(table, Examination):
        return seen(table)
    return Seen(Path(name).stem, table, table, table)  # no screens, no intervals


def _fitted(data: FitInput, discount: Discount) -> Fitted:
    """Weights that are no probabilities are drawn as a multiple that reaches as high as the data."""
    weights = discount.weights(data.grid)
    if discount.is_probability:
        return Fitted(discount.symbol, weights)
    return Fitted(
        f"{discount.symbol}, scaled", weights * (_seen(data.train, data.name).frequencies.max() / weights.max())
    )
