"""Notes on personal categories: those taken as one user's own, and those that look like everyone's own."""

import numpy as np
import polars as pl

from carouseval.evaluation.reading.inputs import Inputs
from carouseval.messages import setting
from carouseval.tables.columns import Defect
from carouseval.tables.table import Table

_MOST_NAMES = 5  # of categories, in a note
_SHARED, _PRIVATE = 2.0, 1.2  # users who are shown an item: usually at least, and at most where rows look personal
_FEWEST_PAIRS = 20  # of user and item, to judge a category by


def personal_notes(inputs: Inputs) -> list[Defect]:
    """The categories that were taken as personal because only one user is shown them, and others that may be."""
    membership, shown, carousels = inputs.judged.membership, inputs.shown, inputs.judged.carousels
    if membership is None or membership.source != "layouts" or shown is None:
        return []
    is_personal = carousels.personal_categories(shown)
    personal = np.flatnonzero(is_personal & ~carousels.declared_personal(len(shown.owner)))
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
        their = "its items" if len(private) == 1 else "their items"
        message = (
            f"layouts: {_listed(private.sort())} {'shows' if len(private) == 1 else 'show'} hardly any item to two "
            f"users, unlike other categories. If {their} are each user's own, declare personal=true in "
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
