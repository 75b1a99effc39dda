"""Paths of looks, screen by screen, and the scan under which they are likeliest.

Counts say which cells were examined; paths also say in which order, and so how people moved.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.attention.bootstrap import BY_PARTICIPANT
from carouseval.attention.examination import Examination
from carouseval.attention.fit import scores
from carouseval.attention.forms import form_of
from carouseval.attention.likelihood import FAR, LikelihoodFit, Problem, intervals
from carouseval.attention.log_tables import RECORD, Rule, number, open_table, text, whole
from carouseval.attention.maximise import Multinomial, maximise
from carouseval.attention.scan import MarkovScan, moves_on
from carouseval.errors import DataError, ParameterError
from carouseval.metric import checks
from carouseval.metric.grid import Array, Grid

NOISE = "screens independent of each other, too narrow where people have several"


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
        if not len(self.screen):
            raise DataError(f"{self.name} holds no look.")
        if ((self.cell[1:] == self.cell[:-1]) & (self.screen[1:] == self.screen[:-1])).any():
            raise DataError(f"{self.name}: looks at one cell in a row are one look; drop the repeats.")

    @cached_property
    def transitions(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The screen of every step, and the step as an outcome of :class:`_Walk`."""
        size = self.grid.rows * self.grid.cols
        last = np.append(self.screen[1:] != self.screen[:-1], True)
        first = np.append(True, last[:-1])
        head = np.append(self.cell[1:], 0)
        step = np.where(last, size * size + self.cell, self.cell * size + head)
        starts = size * size + size + self.cell[first]
        return np.concatenate([self.screen, self.screen[first]]), np.concatenate([step, starts])

    def examination(self) -> Examination:
        """On how many screens each cell was examined."""
        size = self.grid.rows * self.grid.cols
        seen = np.unique(self.screen * size + self.cell)
        counts = np.bincount(seen % size, minlength=size).reshape(self.grid.shape)
        rows = np.unique(seen // size * self.grid.rows + seen % size // self.grid.cols) % self.grid.rows
        people = None if self.participant is None else int(self.participant.max()) + 1
        single = None
        looked = int(self.screen[-1]) + 1
        if self.participant is not None and looked == self.screens:
            own = np.zeros((people or 0, size), np.int64)
            np.add.at(own, (self.participant[seen // size], seen % size), 1)
            single = own.reshape(-1, *self.grid.shape), np.bincount(self.participant)
        return Examination(self.name, counts, self.screens, np.bincount(rows, minlength=self.grid.rows), people, single)


def paths_from_screens(
    table_path: str | Path, grid: Grid, screens: int | None = None, name: str | None = None
) -> Paths:
    """Paths from a table (CSV or Parquet) with one line per look: ``screen``, ``row``, ``col``.

    Looks are in the order of ``time``, if there is such a column, else of lines. Looks at one cell in a row are one.
    ``participant``, ``screens`` and ``name`` as in :func:`carouseval.attention.examination_from_screens`.
    """
    path = Path(table_path)
    table = open_table(path, ["screen", "row", "col"], optional=["participant", "time"])
    known = [column for column in ("participant", "screen") if column in table.columns]
    timed = "time" in table.columns
    rules = [Rule(column, text(column).is_null(), f"Every line names its {column}.") for column in known]
    rules += [
        Rule("row", pl.col("row").is_null(), f"A row is a whole number from 1 to {grid.rows} on the {grid} grid."),
        Rule("col", pl.col("col").is_null(), f"A col is a whole number from 1 to {grid.cols} on the {grid} grid."),
    ]
    rules += [Rule("time", ~pl.col("time").is_finite().fill_null(False), "A time is a number.")] * timed
    order = {"time": number("time")} if timed else {}
    (looks,) = table.collect(
        rules,
        lambda lines: lines.select(
            RECORD, *known, row=whole("row", 1, grid.rows), col=whole("col", 1, grid.cols), **order
        ),
        lambda lines: lines,
    )
    return as_paths(looks, known, [*order, RECORD], grid, screens, name or path.stem)


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
    if screens is not None and checks.whole("screens", screens, 1) < there:
        raise DataError(f"{name}: column screen has {there} screens, more than the {screens} there are said to be.")
    people = None
    if len(known) > 1:
        people = (
            moved.group_by("number", maintain_order=True).first()["participant"].rle_id().to_numpy().astype(np.int64)
        )
    return Paths(name, grid, number_of, moved["cell"].to_numpy().astype(np.int64), screens or there, people)


def fit_paths(paths: Paths, *, level: float = 0.95) -> LikelihoodFit:
    """The scan (``d_scan``) under which paths are likeliest, with intervals by participant where they are known.

    Every move counts: unlike counts of cells, paths tell swiping back from swiping on and getting lost from reading.
    """
    if not isinstance(paths, Paths):
        raise ParameterError("fit_paths takes paths: read them with paths_from_screens.")
    level = checks.number("level", level, above=0, at_most=1)
    walk = _Walk(paths.grid)
    screen, outcome = paths.transitions
    counts = np.bincount(outcome, minlength=walk.outcomes).astype(np.float64)
    counts[-1] = paths.screens - int(paths.screen[-1]) - 1
    data = Multinomial(counts[None], walk.occasions(counts)[None])
    far = np.full(len(walk.form.free), FAR)
    start = walk.unbounded(np.array([list(MarkovScan().parameters.values())], dtype=np.float64))
    found = maximise(walk.probabilities, data, start, -far, far)
    values = dict(zip(walk.form.free, walk.natural(found.at)[0].tolist(), strict=True))
    discount, seen = walk.form.discount(list(values.values())), paths.examination()
    bounds, left_open = intervals(walk, found, _pulls(paths, found, screen, outcome), level)
    return LikelihoodFit(
        form=walk.form,
        discount=discount,
        values=values,
        intervals=bounds,
        noise=NOISE if paths.participant is None else BY_PARTICIPANT,
        open=left_open,
        log_likelihood=float(found.value[0]),
        saturated=float(data.value(counts[None] / np.maximum(walk.occasions(counts), 1), np.zeros(1, np.int64))[0]),
        observations=int(counts.sum()),
        cells=0,
        train=scores(discount, seen, paths.grid),
        converged=bool(found.converged[0]),
    )


def path_log_likelihood(scan: MarkovScan, paths: Paths) -> float:
    """Of paths under a scan, such as paths it was not fitted to."""
    walk = _Walk(paths.grid)
    counts = np.bincount(paths.transitions[1], minlength=walk.outcomes).astype(np.float64)
    counts[-1] = paths.screens - int(paths.screen[-1]) - 1
    chances = walk.chances({name: np.array([float(value)]) for name, value in scan.parameters.items()})
    return float(Multinomial(counts[None], counts[None]).value(chances, np.zeros(1, np.int64))[0])


class _Walk(Problem):
    """All steps on a grid as outcomes: from cell to cell, from a cell away, from nothing to a cell, nothing at all."""

    def __init__(self, grid: Grid) -> None:
        super().__init__(form_of("d_scan"), grid)
        self.size = grid.rows * grid.cols
        self.outcomes = self.size * self.size + 2 * self.size + 1

    def probabilities(self, at: Array) -> Array:
        return self.chances(dict(zip(self.form.free, self.natural(at).T, strict=True)))

    def chances(self, values: dict[str, Any]) -> Array:
        """(sets, outcomes)."""
        moves = moves_on(self.grid)
        given = moves.chances(values)
        place = moves.tail * self.size + moves.head
        steps = np.array([np.bincount(place, row, minlength=self.size**2) for row in given.moves])
        stay = given.lost / self.size  # landing where one was is no step, and such looks are one in the data
        steps = (steps + np.repeat(stay, self.size, axis=1)) / np.repeat(1 - stay, self.size, axis=1)
        steps[:, :: self.size + 1] = 0
        nothing = 1 - np.asarray(values["e"])[:, None]
        return np.concatenate([steps, given.leave / (1 - stay), given.start, nothing], axis=1)

    def occasions(self, counts: Array) -> Array:
        """How often each outcome could have come about."""
        steps, leaves, starts, nothing = np.split(counts, [self.size**2, self.size**2 + self.size, self.outcomes - 1])
        left = steps.reshape(self.size, self.size).sum(axis=1) + leaves
        begun = np.full(self.size + 1, starts.sum() + nothing.sum())
        return np.concatenate([np.repeat(left, self.size), left, begun])


def _pulls(paths: Paths, found: Any, screen: NDArray[np.int64], outcome: NDArray[np.int64]) -> Array | None:
    if paths.participant is None:
        return None
    per_outcome = found.slopes[0] / np.maximum(found.chances[0], 1e-300)[:, None]
    pulls = np.zeros((int(paths.participant.max()) + 1, per_outcome.shape[1]))
    np.add.at(pulls, paths.participant[screen], per_outcome[outcome])
    # whose the screens without a look are is not known: each counts as a person of its own
    blank = paths.screens - int(paths.screen[-1]) - 1
    return np.concatenate([pulls, np.repeat(per_outcome[-1:], blank, axis=0)])
