"""The ideal page of items with several categories as a mixed-integer program for HiGHS, through SciPy."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp


class IdealProgram:
    """Items of equal gain and equal categories are one type with a count; only the rows of categories are integral.

    x[k, i]: category k is on row i. q[type, k, i] <= count x[k, i]: how many of a type row i shows. f[level, i, m, j]:
    how much of the j-th heaviest of the first m cells of row i is filled by items of at least this level of gain,
    worth the difference to the next level; cells fill from the top, since weights fall.
    """

    def __init__(
        self,
        gains: Sequence[float],
        categories: Sequence[Sequence[int]],
        slots: Sequence[int],
        pinned: Sequence[int],
        open_rows: int,
        weights: Any,
    ) -> None:
        types = Counter((gain, tuple(sorted(of))) for gain, of in zip(gains, categories, strict=True))
        levels = sorted({gain for gain, _ in types}, reverse=True)
        steps = -np.diff([*levels, 0.0])
        used = {k for _, of in types for k in of}
        closed = {row for row in pinned if row >= 0}
        free = [i for i in range(open_rows) if i not in closed]
        x = {
            (k, i): at
            for at, (k, i) in enumerate((k, i) for k in sorted(used) for i in ([pinned[k]] if pinned[k] >= 0 else free))
        }
        self._entries: list[tuple[int, int, float]] = []
        self._limits: list[float] = []
        upper, worth = [1.0] * len(x), [0.0] * len(x)
        shown: dict[tuple[int, int, int], list[int]] = {}  # level, row, slots: the columns of q of this level or above
        for (gain, of), count in types.items():
            mine = []
            for k, i in ((k, i) for k in of for i in range(len(weights)) if (k, i) in x):
                mine.append(len(upper))
                upper.append(count)
                worth.append(0.0)
                self._at_most(0, [(mine[-1], 1), (x[k, i], -count)])
                for level in range(levels.index(gain), len(levels)):
                    shown.setdefault((level, i, slots[k]), []).append(mine[-1])
            self._at_most(count, [(q, 1) for q in mine])
        for (level, i, m), q in shown.items():
            heaviest = np.sort(weights[i][:m])[::-1][: len(gains)]
            f = range(len(upper), len(upper) + len(heaviest))
            upper += [1.0] * len(f)
            worth += (steps[level] * heaviest).tolist()
            self._at_most(0, [*((cell, 1) for cell in f), *((column, -1) for column in q)])
        for side in (0, 1):  # a category has one row, a row one category
            for value in {place[side] for place in x}:
                self._at_most(1, [(at, 1) for place, at in x.items() if place[side] == value])
        rows, columns, values = np.array(self._entries, float).reshape(-1, 3).T
        shape = (len(self._limits), len(upper))
        table = sparse.csr_array((values, (rows.astype(np.int32), columns.astype(np.int32))), shape=shape)
        self._program = {
            "c": -np.array(worth),
            "integrality": np.arange(len(upper)) < len(x),
            "bounds": Bounds(0, upper),
            "constraints": LinearConstraint(table, ub=self._limits),
        }

    def _at_most(self, limit: float, terms: Sequence[tuple[int, float]]) -> None:
        self._entries += [(len(self._limits), column, value) for column, value in terms]
        self._limits.append(limit)

    def solve(self, **options: Any) -> Any:
        """What ``scipy.optimize.milp`` returns; ``-fun`` is the ideal where ``status`` is 0."""
        return milp(**self._program, options={"mip_rel_gap": 0, **options})
