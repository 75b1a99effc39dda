"""Paths of looks, screen by screen, and the scan under which they are likeliest.

Counts say which cells were examined; paths also say in which order, and so how people moved.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.attention.examination import Examination
from carouseval.attention.fisher_scoring import Maximum, Outcomes, maximise
from carouseval.attention.forms import form_of
from carouseval.attention.intervals import intervals, noise_of, share_of_one
from carouseval.attention.likelihood import LikelihoodFit
from carouseval.attention.likelihood_problem import FAR, INSIDE, Problem
from carouseval.attention.rank_fit import scores_of
from carouseval.attention.screens import check_screens, open_looks, screen_columns
from carouseval.errors import DataError, ParameterError
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.markov_scan import MarkovScan, moves_on
from carouseval.metrics.validation import require_int
from carouseval.tables import RECORD, TableLike


@dataclass(frozen=True, eq=False)
class Paths:
    """Looks in order: of every look its screen and its cell, and of every screen its participant."""

    name: str
    grid: Grid
    screen: NDArray[np.int64]  # (looks,), ascending from 0
    cell: NDArray[np.int64]  # (looks,), row by row from 0
    screens: int  # of which the last ones may have no look
    participant: NDArray[np.int64] | None = None  # (screens with looks,), from 0

    def __post_init__(self) -> None:
        for name in ("screen", "cell", "participant"):
            if getattr(self, name) is not None:
                numbers = np.asarray(getattr(self, name))
                if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and numbers.size):
                    raise DataError(f"{self.name}: {name} is a list of whole numbers.")
                object.__setattr__(self, name, numbers.astype(np.int64))
        if not len(self.screen) or self.screen.shape != self.cell.shape:
            raise DataError(f"{self.name}: every look has a screen and a cell, and there is at least one.")
        steps = np.diff(self.screen, prepend=-1)
        if not ((steps == 0) | (steps == 1)).all() or steps[0] != 1:
            raise DataError(f"{self.name}: screens are numbered 0, 1, 2, ... in the order of looks.")
        if self.cell.min() < 0 or self.cell.max() >= self.grid.rows * self.grid.cols:
            raise DataError(f"{self.name}: cells are numbered row by row from 0 on the {self.grid} grid.")
        if ((self.cell[1:] == self.cell[:-1]) & (steps[1:] == 0)).any():
            raise DataError(f"{self.name}: looks at one cell in a row are one look; drop the repeats.")
        if require_int(f"{self.name}: screens", self.screens, 1) < self.looked:
            raise DataError(f"{self.name}: {self.looked} screens have looks, more than the {self.screens} there are.")
        if self.participant is not None:
            if self.participant.shape != (self.looked,):
                raise DataError(f"{self.name}: every screen with a look has a participant.")
            if not np.array_equal(np.unique(self.participant), np.arange(self.participant.max() + 1)):
                raise DataError(f"{self.name}: participants are numbered 0, 1, 2, ... without a gap.")

    def __repr__(self) -> str:
        return f"Paths({self.name!r}, {len(self.cell)} looks on {self.screens} screens of {self.grid} cells)"

    @property
    def looked(self) -> int:
        """Screens with a look."""
        return int(self.screen[-1]) + 1

    @property
    def blank(self) -> int:
        """Screens without one."""
        return self.screens - self.looked

    def examination(self) -> Examination:
        """On how many screens each cell was examined."""
        size = self.grid.rows * self.grid.cols
        pairs = np.unique(self.screen * size + self.cell)
        counts = np.bincount(pairs % size, minlength=size).reshape(self.grid.shape)
        rows = np.unique(pairs // size * self.grid.rows + pairs % size // self.grid.cols) % self.grid.rows
        people = None if self.participant is None else int(self.participant.max()) + 1
        single = None
        if self.participant is not None and not self.blank:
            own = np.zeros((people or 0, size), np.int64)
            np.add.at(own, (self.participant[pairs // size], pairs % size), 1)
            single = own.reshape(-1, *self.grid.shape), np.bincount(self.participant)
        return Examination(self.name, counts, self.screens, np.bincount(rows, minlength=self.grid.rows), people, single)


def paths_from_screens(table: TableLike, grid: Grid, screens: int | None = None, name: str | None = None) -> Paths:
    """Paths from a table with one line per look: ``screen``, ``row``, ``col``; a CSV or Parquet file, or a data frame.

    Looks are in the order of ``time`` (a number, or a date and time), if there is such a column, else of lines. Looks
    at one cell in a row are one. ``participant``, ``screens`` and ``name`` as in
    :func:`carouseval.attention.examination_from_screens`.

    >>> looks = {"screen": [1, 1, 1, 2], "row": [1, 1, 2, 1], "col": [1, 2, 1, 3]}
    >>> paths_from_screens(looks, Grid(2, 3))
    Paths('table', 4 looks on 2 screens of 2x3 cells)
    """
    lines = open_looks(table, grid, timed=True)
    order = ["time"] if "time" in lines else []
    (looks,) = lines.collect_all(lambda lines: lines)
    return as_paths(looks, screen_columns(lines), [*order, RECORD], grid, screens, name or Path(lines.name).stem)


def as_paths(
    looks: pl.DataFrame, known: Sequence[str], order: Sequence[str], grid: Grid, screens: int | None, name: str
) -> Paths:
    """Paths from a frame of looks: ``row`` and ``col`` from 1, screens known by some columns, in order of others."""
    if looks.is_empty():
        raise DataError(f"{name} holds no look. Write one line per look: screen, row, col.")
    ranked = looks.sort(*known, *order, maintain_order=True).with_columns(number=pl.struct(known).rle_id())
    cell = (pl.col("row").cast(pl.Int64) - 1) * grid.cols + pl.col("col").cast(pl.Int64) - 1
    moved = ranked.with_columns(cell=cell).filter(
        (pl.col("cell") != pl.col("cell").shift())
        | (pl.col("number") != pl.col("number").shift())
        | (pl.int_range(pl.len()) == 0)
    )
    number_of = moved["number"].to_numpy().astype(np.int64)
    there = int(number_of[-1]) + 1
    check_screens(name, there, screens)
    people = None
    if len(known) > 1:
        people = (
            moved.group_by("number", maintain_order=True).first()["participant"].rle_id().to_numpy().astype(np.int64)
        )
    return Paths(name, grid, number_of, moved["cell"].to_numpy().astype(np.int64), screens or there, people)


def fit_paths(paths: Paths, *, level: float = 0.95) -> LikelihoodFit:
    """The scan (``d_scan``) under which paths are likeliest, with intervals by participant where they are known.

    Every move counts: unlike counts of cells, paths tell swiping back from swiping on and getting lost from reading.

    >>> looks = {"screen": [1, 1, 1, 2, 2], "row": [1, 1, 2, 1, 1], "col": [1, 2, 1, 1, 2]}
    >>> fit_paths(paths_from_screens(looks, Grid(2, 3))).discount.symbol
    'd_scan'
    """
    if not isinstance(paths, Paths):
        raise ParameterError("fit_paths takes paths: read them with paths_from_screens.")
    level = share_of_one(level)
    walk = Walk(paths)
    far = np.full(len(walk.form.free), FAR)
    own = walk.unbounded(np.array([list(MarkovScan().parameters.values())], dtype=np.float64))
    starts = np.clip(np.concatenate([own, np.full_like(own, -1.0)]), -INSIDE, INSIDE)
    climbed = maximise(
        walk.probabilities, Outcomes(np.repeat(walk.counts[None], len(starts), axis=0)), starts, -far, far
    )
    found = climbed.only(np.array([np.nan_to_num(climbed.value, nan=-np.inf).argmax()]))
    values = dict(zip(walk.form.free, walk.settled(found).tolist(), strict=True))
    discount = walk.form.discount(list(values.values()))
    people = None if paths.participant is None else int(paths.participant.max()) + 1
    trust = intervals(walk, found, walk.pulls(found), level, apart=("e",))
    if paths.blank:
        said = f"Whose the {paths.blank} screens without a look are is not known: e is taken for independent of people."
    else:
        said = "Every screen has a look, so that e is 1; give the number of all screens, if some had none."
    return LikelihoodFit(
        form=walk.form,
        discount=discount,
        values=values,
        intervals=trust.intervals,
        undetermined=trust.undetermined,
        unsure=tuple(sentence for sentence in trust.unsure if paths.blank or not sentence.startswith("e ")),
        noise=noise_of(people, "screens taken for independent of each other, too narrow where people have several"),
        open=(*(sentence for sentence in trust.open if paths.blank or not sentence.startswith("e ")), said),
        log_likelihood=float(found.value[0]),
        saturated=walk.saturated,
        observations=int(walk.counts.sum()),
        cells=0,
        train=scores_of(discount.weights(paths.grid), paths.examination().frequencies),
        converged=bool(found.converged[0]),
    )


def path_log_likelihood(scan: MarkovScan, paths: Paths) -> float:
    """Of paths under a scan, such as paths it was not fitted to."""
    if not isinstance(scan, MarkovScan) or not isinstance(paths, Paths):
        raise ParameterError("path_log_likelihood takes a MarkovScan (d_scan) and paths.")
    walk = Walk(paths)
    chances = walk.chances({name: np.array([float(value)]) for name, value in scan.parameters.items()})
    return float(Outcomes(walk.counts[None]).value(chances, np.zeros(1, np.int64))[0])


class Walk(Problem):
    """The steps of paths as outcomes, each kind of step once: between cells, away, from nothing to a cell, blank."""

    def __init__(self, paths: Paths) -> None:
        super().__init__(form_of("d_scan"), paths.grid)
        self.paths = paths
        size = self.size = paths.grid.rows * paths.grid.cols
        last = np.append(np.diff(paths.screen) != 0, True)
        first = np.append(True, last[:-1])
        head = np.where(last, size, np.append(paths.cell[1:], 0))  # a cell beyond all cells: away
        steps = np.concatenate([paths.cell * (size + 1) + head, size * (size + 1) + paths.cell[first]])
        self.screen = np.concatenate([paths.screen, paths.screen[first]])
        self.kinds, self.kind, counts = np.unique(steps, return_inverse=True, return_counts=True)
        self.counts = np.append(counts, paths.blank)[: len(counts) + (paths.blank > 0)].astype(np.float64)

    def probabilities(self, at: Array) -> Array:
        return self.chances(dict(zip(self.form.free, self.natural(at).T, strict=True)))

    def chances(self, values: dict[str, Any]) -> Array:
        """Of each kind of step, and of a blank screen where there are some, (sets, kinds)."""
        moves = moves_on(self.grid)
        given = moves.chances(values)
        tail, head = np.divmod(self.kinds, self.size + 1)
        begins = tail == self.size
        away = ~begins & (head == self.size)
        stay = given.lost / self.size  # landing where one was is no step, and such looks are one in the data
        own = np.minimum(tail, self.size - 1)
        steps = given.lost[:, own] / self.size
        place = np.searchsorted(self.kinds, moves.tail * (self.size + 1) + moves.head)
        place = np.minimum(place, len(self.kinds) - 1)
        occurs = self.kinds[place] == moves.tail * (self.size + 1) + moves.head
        for into, chances in zip(steps, given.moves, strict=True):
            into += np.bincount(place[occurs], chances[occurs], minlength=len(self.kinds))
        steps = np.where(away, given.leave[:, own], steps) / (1 - stay[:, own])
        steps = np.where(begins, given.start[:, np.minimum(head, self.size - 1)], steps)
        blank = 1 - np.asarray(values["e"])[:, None]
        return np.concatenate([steps, blank], axis=1) if self.paths.blank else steps

    @property
    def saturated(self) -> float:
        """The log-likelihood of the shares of steps themselves."""
        tail = self.kinds // (self.size + 1)
        group = np.append(tail, self.size)[: len(self.counts)]  # a blank screen could have begun
        totals = np.bincount(group, self.counts)
        return float((self.counts * np.log(self.counts / totals[group])).sum())

    def pulls(self, found: Maximum) -> Array | None:
        """What each participant's steps do to each parameter."""
        if self.paths.participant is None:
            return None
        per_kind = found.slopes[0] / np.maximum(found.chances[0], 1e-300)[:, None]
        pulls = np.zeros((int(self.paths.participant.max()) + 1, per_kind.shape[1]))
        np.add.at(pulls, self.paths.participant[self.screen], per_kind[self.kind])
        return pulls
