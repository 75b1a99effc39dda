"""What pages show of carousels: how long their rows are, and whether one user or several have them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval import _native
from carouseval.evaluation.reading.ids import NONE, Codebook, Codes
from carouseval.evaluation.reading.layouts import Layouts

Capacities = NDArray[np.int32]
SEVERAL: int = _native.SEVERAL


@dataclass(frozen=True, eq=False)
class ShownCarousels:
    """What the pages of all layouts compared show of each category."""

    owner: Codes  # the only user who is shown it; NONE: nobody, SEVERAL: several
    longest: Capacities  # (grids, categories): the last occupied column of its rows; 0: not shown
    longest_pinned: Capacities  # the same of pinned rows
    several_users: bool  # whether several users have a page

    @classmethod
    def of(cls, all_layouts: Iterable[Layouts], codebook: Codebook, grids: int) -> "ShownCarousels":
        """What labelled layouts show; rows without a label are left out."""
        categories = len(codebook.categories)
        owner = np.full(categories, NONE, np.uint32)
        longest, pinned = np.zeros((2, grids, categories), np.int32)
        ends: list[int] = []  # the first and last user of all layouts
        for layouts in all_layouts:
            users = layouts.user[layouts.present]
            ends += [int(users.min()), int(users.max())] if len(users) else []
            for lines in layouts.lines_by_part() if layouts.labelled else ():
                of_lines = _native.shown_carousels(lines, layouts.user, layouts.grid, grids, categories)
                other = (owner != NONE) & (of_lines[0] != NONE) & (owner != of_lines[0])
                owner = np.where(other, np.uint32(SEVERAL), np.minimum(owner, of_lines[0]))
                np.maximum(longest, of_lines[1], out=longest)
                np.maximum(pinned, of_lines[2], out=pinned)
        return cls(owner, longest, pinned, len(set(ends)) > 1)

    def with_rows(
        self,
        grid: NDArray[np.uint8],
        category: Codes,
        length: NDArray[np.uint16],
        pinned: NDArray[np.bool_],
    ) -> "ShownCarousels":
        """With what rows of more pages show, whose categories their items tell."""
        page, row = np.nonzero((length > 0) & (category < len(self.owner)))
        code, end = category[page, row].astype(np.int64), length[page, row].astype(np.int32)
        longest, longest_pinned = self.longest.copy(), self.longest_pinned.copy()
        np.maximum.at(longest, (grid[page], code), end)
        np.maximum.at(longest_pinned, (grid[page], code), np.where(pinned[page, row], end, 0))
        return replace(self, longest=longest, longest_pinned=longest_pinned)

    def among_others(self, others: pl.DataFrame | None, codebook: Codebook) -> "ShownCarousels":
        """The same where these pages are of some users only.

        ``others`` has what all users are shown of the categories of several users: ``category``, ``grid``, ``longest``
        and ``longest_pinned``. Without it nothing is known of whether one user or several have a category.
        """
        if others is None:
            return replace(self, several_users=False)
        code, grid = codebook.categories.add(others["category"]), others["grid"].to_numpy()
        owner, longest, pinned = self.owner.copy(), self.longest.copy(), self.longest_pinned.copy()
        owner[code] = SEVERAL
        np.maximum.at(longest, (grid, code), others["longest"].to_numpy().astype(np.int32))
        np.maximum.at(pinned, (grid, code), others["longest_pinned"].to_numpy().astype(np.int32))
        return ShownCarousels(owner, longest, pinned, several_users=True)

    @property
    def has_one_user(self) -> NDArray[np.bool_]:
        """Which categories only one of several users is shown."""
        is_single: NDArray[np.bool_] = (self.owner != NONE) & (self.owner != SEVERAL)
        return is_single & self.several_users
