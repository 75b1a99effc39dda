"""What notices need to know of categories, by name: of some users, and added up of all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation.exact_sums import added
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.scoring.page_ideals import PageIdeals

SEPARATORS = ("|", ";", ",")  # of several categories in one cell


@dataclass(frozen=True)
class CategoryFacts:
    """Which categories only carousels or capacity names, and which of the items table are shown on no page."""

    named: Mapping[str, int]  # by ``capacity`` and ``carousels``: how many categories these name
    unknown: Mapping[str, tuple[Any, ...]]  # and which of them are in no other table
    known: frozenset[str]  # the names of other categories, where there is one to be mistaken for
    listed: int  # categories of the items table
    unshown: tuple[str, ...]  # of these, those with a separator that no page shows
    words: frozenset[str]  # what stands between the separators, where it is a category itself

    @classmethod
    def of(cls, inputs: Inputs) -> "CategoryFacts":
        """Of the tables that are at hand."""
        carousels, names = inputs.judged.carousels, inputs.codebook.categories.values()
        unknown = is_unknown(inputs, len(names))
        places = {
            "capacity": carousels.named_by_setting,
            "carousels": np.intersect1d(carousels.named, carousels.known_to_all),
        }
        unknown_names = {where: tuple(names.gather(codes[unknown[codes]]).sort()) for where, codes in places.items()}
        known = names[:0]
        if any(unknown_names.values()):
            is_told = is_common(inputs, len(names)) | (not inputs.is_part)
            known = names.filter(pl.Series(~unknown & is_told))
        listed, unshown = _unshown(inputs, names)
        words = pl.Series([*{word for text in unshown for word in split_words(text)}], dtype=pl.String)
        return cls(
            named={where: len(codes) for where, codes in places.items()},
            unknown=unknown_names,
            known=frozenset(known.cast(pl.String)),
            listed=listed,
            unshown=unshown,
            words=frozenset(words.filter(words.is_in(names.implode()))) if unshown else frozenset(),
        )

    def __add__(self, other: "CategoryFacts") -> "CategoryFacts":
        return CategoryFacts(
            named={where: max(count, other.named[where]) for where, count in self.named.items()},
            unknown={where: _of_both(names, other.unknown[where]) for where, names in self.unknown.items()},
            known=self.known | other.known,
            listed=max(self.listed, other.listed),
            unshown=_of_both(self.unshown, other.unshown),
            words=self.words | other.words,
        )


def split_words(text: str) -> set[str]:
    """The words of a text between any of the separators."""
    return {word.strip() for separator in SEPARATORS if separator in text for word in text.split(separator)}


def _of_both(names: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...]:
    in_others = {*others}
    return tuple(name for name in names if name in in_others)


def _unshown(inputs: Inputs, names: pl.Series) -> tuple[int, tuple[str, ...]]:
    """How many categories the items table has, and those with a separator that no page shows."""
    membership = inputs.judged.membership
    if membership is None or membership.source != "items" or names.dtype != pl.String:
        return 0, ()
    is_shown = np.zeros(len(names), bool)
    if inputs.shown is not None:
        is_shown[: inputs.shown.longest.shape[1]] = inputs.shown.longest.max(axis=0) > 0
    listed = np.arange(len(names)) < len(membership.sizes)  # items are read before layouts
    if inputs.is_part:  # other users have other categories of their own
        listed[: len(membership.sizes)] = membership.sizes > 0
    candidates = names.filter(pl.Series(listed & ~is_shown))
    separators = pl.any_horizontal(pl.lit(candidates).str.contains(separator, literal=True) for separator in SEPARATORS)
    return int(listed.sum()), tuple(candidates.filter(pl.select(separators).to_series())) if len(candidates) else ()


def is_unknown(inputs: Inputs, categories: int) -> NDArray[np.bool_]:
    """Which categories have no item and are on no page: only carousels or capacity name them."""
    membership, shown_carousels = inputs.judged.membership, inputs.shown
    known = np.zeros(categories, bool)
    if membership is not None:
        known[: len(membership.sizes)] = membership.sizes[:categories] > 0
        known[(membership.arrays.own & np.uint64(0xFFFFFFFF)).astype(np.int64)] = True
    if shown_carousels is not None:
        known[: len(shown_carousels.owner)] |= shown_carousels.longest.max(axis=0)[:categories] > 0
    return ~known


def is_common(inputs: Inputs, categories: int) -> NDArray[np.bool_]:
    """The categories that may be several users': those that single users have are as many as there are users."""
    members, shown_carousels = inputs.judged.membership, inputs.shown
    common = np.zeros(categories, bool)
    if members is not None and shown_carousels is not None:
        common[: len(shown_carousels.owner)] = shown_carousels.several_users & ~shown_carousels.has_one_user
        common[: len(members.sizes)] |= members.sizes > 0
        common[inputs.judged.carousels.known_to_all] = True
    return common


class OverCapacity(NamedTuple):
    """A category that ideals fill beyond what any page shows."""

    ideals: int
    most: int  # items of the category on an ideal page
    shown: int  # on any page of that grid


@dataclass(frozen=True)
class FilledRows:
    """Rows of at least two items, by grid and category; categories of which a capacity is declared are left out."""

    ideals: int  # that were solved, by the first metric with a category ideal
    filled: Mapping[tuple[int, Any, int], int]  # by grid, category and number of items there: ideals
    longest: Mapping[tuple[int, Any], int]  # by grid and category: of the rows that pages show

    @classmethod
    def of(cls, inputs: Inputs, ideals: PageIdeals) -> "FilledRows":
        """Of the ideals solved so far."""
        names, shown_carousels = inputs.codebook.categories.values(), inputs.shown
        if shown_carousels is None:
            return cls(ideals.solved, {}, {})
        relevant = is_common(inputs, len(names))
        relevant[inputs.judged.carousels.with_capacity()] = False
        grid, category, items, count = ideals.filled()
        wanted = relevant[category] & (category < shown_carousels.longest.shape[1])
        grid, category, items, count = (column[wanted] for column in (grid, category, items, count))
        filled = zip(grid.tolist(), names.gather(category), items.tolist(), strict=True)
        shown_grid, shown_category = np.nonzero(shown_carousels.longest * relevant[: shown_carousels.longest.shape[1]])
        longest = zip(shown_grid.tolist(), names.gather(shown_category), strict=True)
        return cls(
            ideals=ideals.solved,
            filled=dict(zip(filled, count.tolist(), strict=True)),
            longest=dict(zip(longest, shown_carousels.longest[shown_grid, shown_category].tolist(), strict=True)),
        )

    def __add__(self, other: "FilledRows") -> "FilledRows":
        longest = {
            **self.longest,
            **{key: max(self.longest.get(key, 0), length) for key, length in other.longest.items()},
        }
        return FilledRows(self.ideals + other.ideals, added(self.filled, other.filled), longest)

    def over_capacity(self) -> dict[Any, OverCapacity]:
        """The categories of which ideals hold more items than any page shows."""
        categories: dict[Any, OverCapacity] = {}
        for (grid, category, items), ideals in self.filled.items():
            longest = self.longest.get((grid, category), 0)
            if 0 < longest < items:
                before = categories.get(category, OverCapacity(0, 0, 0))
                larger = max((before.most, before.shown), (items, longest))
                categories[category] = OverCapacity(before.ideals + ideals, *larger)
        return categories
