"""Several categories in one cell of items, such as ``Action|Comedy``."""

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
import polars as pl

from carouseval.evaluation.reading.inputs import Inputs
from carouseval.table_columns import Defect

_SEPARATORS = ("|", ";", ",")


def joined_categories(inputs: Inputs) -> Defect | None:
    """Categories of items that seem to be several in one cell, and the setting that splits them; else None.

    No page shows them, and some of the words between separators are categories elsewhere: all of them for commas, which
    titles of carousels have too.
    """
    membership, categories = inputs.judged.membership, inputs.codebook.categories.values()
    if membership is None or membership.source != "items" or inputs.plan.settings.split is not None:
        return None
    if categories.dtype != pl.String:
        return None
    is_shown = np.zeros(len(categories), bool)
    if inputs.shown is not None:
        is_shown[: inputs.shown.longest.shape[1]] = inputs.shown.longest.max(axis=0) > 0
    of_items = categories.head(len(membership.sizes))  # items are read before layouts
    unshown = of_items.filter(pl.Series(~is_shown[: len(of_items)]))
    for separator in _SEPARATORS:
        several = unshown.filter(unshown.str.contains(separator, literal=True))
        if joined := _joined(several.to_list(), categories, separator, all if separator == "," else any):
            names = inputs.tables["items"].names
            message = (
                f"items: {len(joined):,} of {len(of_items):,} categories contain {separator!r}, such as "
                f"{joined[0][:60]!r}, and no page shows {'it' if len(joined) == 1 else 'them'}. If a cell holds "
                f"several categories, use split={separator!r}."
            )
            return Defect("items", names["category"], len(joined), message, "note")
    return None


def _joined(
    texts: list[str], categories: pl.Series, separator: str, enough: Callable[[Iterable[bool]], bool]
) -> list[str]:
    """The texts of whose words enough are in other texts, or are categories themselves."""
    words = {text: {word.strip() for word in text.split(separator)} for text in texts}
    count = Counter(word for text in words for word in words[text])
    distinct = pl.Series(list(count), dtype=pl.String)
    elsewhere = {*distinct.filter(distinct.is_in(categories.implode())), *(word for word in count if count[word] > 1)}
    return [text for text in texts if len(words[text]) > 1 and enough(word in elsewhere for word in words[text])]
