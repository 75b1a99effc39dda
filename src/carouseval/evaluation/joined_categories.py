"""Several categories in one cell of items, such as ``Action|Comedy``."""

from collections import Counter
from collections.abc import Callable, Iterable

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
    named = categories.head(len(membership.sizes))  # items are read before layouts
    for separator in _SEPARATORS:
        if not named.str.contains(separator, literal=True).any():
            continue
        of_items = named.to_list()
        if not _joined(of_items, set(), separator, any):  # most tables end here, without a pass over the layouts
            continue
        if joined := _joined(of_items, _shown_categories(inputs), separator, all if separator == "," else any):
            names = inputs.tables["items"].names
            message = (
                f"items: {len(joined):,} of {len(of_items):,} categories contain {separator!r}, such as "
                f"{joined[0][:60]!r}, and no page shows {'it' if len(joined) == 1 else 'them'}. If a cell holds "
                f"several categories, use split={separator!r}."
            )
            return Defect("items", names["category"], len(joined), message, "note")
    return None


def _joined(
    of_items: list[str], shown: set[str], separator: str, enough: Callable[[Iterable[bool]], bool]
) -> list[str]:
    """The items' categories that no page shows and of whose words enough occur elsewhere."""
    words = {text: {word.strip() for word in text.split(separator)} for text in {*of_items} | shown}
    count = Counter(word for text in words for word in words[text])
    return [
        text
        for text in of_items
        if len(words[text]) > 1 and text not in shown and enough(count[word] > 1 for word in words[text])
    ]


def _shown_categories(inputs: Inputs) -> set[str]:
    """The categories that the layouts name."""
    layouts = inputs.tables["layouts"]
    if "category" not in layouts:
        return set()
    with layouts.read_errors():
        return set(layouts.frame().select(pl.col("category").unique()).collect(engine="streaming")["category"])
