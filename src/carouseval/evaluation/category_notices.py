"""What looks like a mistake in the categories that tables name: notices and notes, in words."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from carouseval.evaluation.category_facts import SEPARATORS, CategoryFacts
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.settings import Settings
from carouseval.messages import setting
from carouseval.tables.columns import Defect
from carouseval.tables.table import Table
from carouseval.validation import did_you_mean


def joined_categories(facts: CategoryFacts, settings: Settings, tables: Mapping[str, Table]) -> Defect | None:
    """Categories of items that seem to be several in one cell, and the setting that splits them; else None.

    No page shows them, and some of the words between separators are categories elsewhere: all of them for commas, which
    titles of carousels have too.
    """
    for separator in SEPARATORS if settings.split is None else ():
        texts = [text for text in facts.unshown if separator in text]
        if joined := _joined(texts, facts.words, separator, all if separator == "," else any):
            names = tables["items"].names
            message = (
                f"items: {len(joined):,} of {facts.listed:,} categories contain {separator!r}, such as "
                f"{joined[0][:60]!r}, and no page shows {'it' if len(joined) == 1 else 'them'}. If a cell holds "
                f"several categories, use {setting('split', separator)}."
            )
            return Defect("items", names["category"], len(joined), message, "note")
    return None


def _joined(
    texts: Sequence[str], categories: frozenset[str], separator: str, enough: Callable[[Iterable[bool]], bool]
) -> list[str]:
    """The texts of whose words enough are in other texts, or are categories themselves."""
    words = {text: {word.strip() for word in text.split(separator)} for text in texts}
    count = Counter(word for text in words for word in words[text])
    elsewhere = categories.union(word for word in count if count[word] > 1)
    return [text for text in texts if len(words[text]) > 1 and enough(word in elsewhere for word in words[text])]


_MOST_UNKNOWN = 3  # categories listed in a notice
_MOST_NAMES = 5  # of categories, in a note
_SHARED, _PRIVATE = 2.0, 1.2  # users who are shown an item: usually at least, and at most where rows look personal
_FEWEST_PAIRS = 20  # of user and item, to judge a category by


def personal_notes(inputs: Inputs) -> list[Defect]:
    """The categories that were taken as personal because only one user is shown them, and others that may be."""
    membership, shown_carousels, carousels = inputs.judged.membership, inputs.shown, inputs.judged.carousels
    if membership is None or membership.source != "layouts" or shown_carousels is None:
        return []
    is_personal = carousels.personal_categories(shown_carousels)
    personal = np.flatnonzero(is_personal & ~carousels.declared_personal(len(shown_carousels.owner)))
    names = inputs.codebook.categories.values()
    notes = []
    if len(personal):
        are = "category is" if len(personal) == 1 else "categories are"
        message = (
            f"layouts: {len(personal):,} {are} shown to one user only and taken as personal: "
            f"{_listed(names.gather(personal).sort())}. Nobody else's ideal page holds them; if they are for "
            f"everyone, declare personal=false in {setting('carousels')}."
        )
        notes.append(Defect("layouts", "category", len(personal), message, "note"))
    private = _private_categories(inputs.tables["layouts"])
    private = private.filter(~private.is_in(names.filter(pl.Series(is_personal)).implode()))
    if len(private):
        items = "its items" if len(private) == 1 else "their items"
        message = (
            f"layouts: {_listed(private.sort())} {'shows' if len(private) == 1 else 'show'} hardly any item to two "
            f"users, unlike other categories. If {items} are each user's own, declare personal=true in "
            f"{setting('carousels')}: otherwise ideal pages may hold another user's."
        )
        notes.append(Defect("layouts", "category", len(private), message, "note"))
    return notes


def _private_categories(layouts: Table) -> pl.Series:
    """Categories of several users that hardly share items there, where most categories do."""
    (shared,) = layouts.query(
        lambda frame: (
            frame.group_by("category", "item_id")
            .agg(pl.col("user_id").n_unique().alias("users"))
            .group_by("category")
            .agg(pl.col("users").mean().alias("users_per_item"), pl.col("users").sum().alias("pairs"))
        )
    )
    usual = shared["users_per_item"].median()
    if not isinstance(usual, float) or usual < _SHARED:
        return shared["category"].clear()
    private = (pl.col("users_per_item") < _PRIVATE) & (pl.col("pairs") >= _FEWEST_PAIRS)
    return shared.filter(private)["category"]


def _listed(names: pl.Series) -> str:
    return ", ".join(map(repr, names.head(_MOST_NAMES))) + (", ..." if len(names) > _MOST_NAMES else "")


def unknown_categories(facts: CategoryFacts) -> list[Defect]:
    """Categories that carousels or capacity names and no other table has, where that looks like a mistake."""
    known = sorted(facts.known)
    letters = {_letters(name) for name in known}
    defects = []
    for where, names in facts.unknown.items():
        unknown = [str(name) for name in names]
        if where == "carousels" and len(unknown) < facts.named[where]:  # it may list more than these pages show
            unknown = [name for name in unknown if _letters(name) in letters]
        hints = [hint for name in unknown[:_MOST_UNKNOWN] if (hint := did_you_mean(name, known))]
        if unknown:
            are = "category is" if len(unknown) == 1 else "categories are"
            listed = ", ".join(map(repr, unknown[:_MOST_UNKNOWN]))
            listed += ", ..." if len(unknown) > _MOST_UNKNOWN else ""
            message = f"{where}: {len(unknown):,} {are} in no other table: {listed}.{hints[0] if hints else ''}"
            defects.append(Defect(where, "category", len(unknown), message, "warning"))
    return defects


def _letters(name: str) -> str:
    """A name without case, blanks and punctuation."""
    return re.sub(r"[\W_]", "", name.lower())
