"""How full the rows of ideal pages are, beside those that pages show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from carouseval.evaluation.category_facts import is_common
from carouseval.evaluation.mappings import added
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.scoring.page_ideals import PageIdeals


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
        names, shown = inputs.codebook.categories.values(), inputs.shown
        if shown is None:
            return cls(ideals.solved, {}, {})
        relevant = is_common(inputs, len(names))
        relevant[inputs.judged.carousels.with_capacity()] = False
        grid, category, items, count = ideals.filled()
        wanted = relevant[category] & (category < shown.longest.shape[1])
        grid, category, items, count = (column[wanted] for column in (grid, category, items, count))
        filled = zip(grid.tolist(), names.gather(category), items.tolist(), strict=True)
        shown_grid, shown_category = np.nonzero(shown.longest * relevant[: shown.longest.shape[1]])
        longest = zip(shown_grid.tolist(), names.gather(shown_category), strict=True)
        return cls(
            ideals=ideals.solved,
            filled=dict(zip(filled, count.tolist(), strict=True)),
            longest=dict(zip(longest, shown.longest[shown_grid, shown_category].tolist(), strict=True)),
        )

    def __add__(self, other: "FilledRows") -> "FilledRows":
        longest = {**self.longest, **{key: max(self.longest.get(key, 0), at) for key, at in other.longest.items()}}
        return FilledRows(self.ideals + other.ideals, added(self.filled, other.filled), longest)

    def over_capacity(self) -> dict[Any, OverCapacity]:
        """The categories of which ideals hold more items than any page shows."""
        found: dict[Any, OverCapacity] = {}
        for (grid, category, items), ideals in self.filled.items():
            shown = self.longest.get((grid, category), 0)
            if 0 < shown < items:
                before = found.get(category, OverCapacity(0, 0, 0))
                larger = max((before.most, before.shown), (items, shown))
                found[category] = OverCapacity(before.ideals + ideals, *larger)
        return found
