"""Where people look: on how many screens each cell was examined."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carouseval.errors import DataError
from carouseval.metrics.composite_discounts import Empirical, table_name
from carouseval.metrics.grid import Array
from carouseval.metrics.validation import require_int
from carouseval.result_base import Result

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Share:
    """A share of screens, or of pairs, with its 95% Wilson interval."""

    count: int
    of: int

    @property
    def value(self) -> float:
        return self.count / self.of if self.of else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval at 95%."""
        if not self.of:
            return float("nan"), float("nan")
        z2 = 1.959963984540054**2
        middle = (self.count + z2 / 2) / (self.of + z2)
        half = (z2 * (self.count * (self.of - self.count) / self.of + z2 / 4)) ** 0.5 / (self.of + z2)
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Shares of screens on which each cell was examined, or numbers proportional to them, of unknown screens."""

    name: str
    frequencies: Array  # (rows, cols)
    intervals: ClassVar[None] = None  # which take a number of screens

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequencies", np.asarray(self.frequencies, dtype=np.float64))

    @property
    def discount(self) -> Empirical:
        """The frequencies as a discount, ``d_emp(name)``."""
        return Empirical(self.frequencies, name=table_name(self.name))


@dataclass(frozen=True, eq=False)
class Examination(Result):
    """Counts of the screens on which each cell was examined, out of ``screens``.

    >>> pilot = Examination("pilot", [[8, 4], [2, 1]], screens=10)
    >>> pilot.frequencies
    array([[0.8, 0.4],
           [0.2, 0.1]])
    """

    name: str
    counts: NDArray[np.int64]  # (rows, cols)
    screens: int
    row_counts: NDArray[np.int64] | None = None  # screens on which anything in the row was examined
    participants: int | None = None
    by_participant: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None  # counts (people, rows, cols), screens

    def __init__(
        self,
        name: str,
        counts: ArrayLike,
        screens: int,
        row_counts: ArrayLike | None = None,
        participants: int | None = None,
        by_participant: Any = None,
    ) -> None:
        table = _counts(f"{name}: counts", counts, 2)
        screens = require_int(f"{name}: screens", screens, 1)
        if participants is not None:
            participants = require_int(f"{name}: participants", participants, 1)
        rows = None if row_counts is None else _counts(f"{name}: row_counts", row_counts, 1)
        if rows is not None and rows.shape != table.shape[:1]:
            raise DataError(f"{name}: row_counts has {len(rows)} rows, counts {len(table)}.")
        if table.max() > screens:
            row, col = np.argwhere(table > screens)[0]
            count = table[row, col]
            raise DataError(f"{name}: row {row + 1}, col {col + 1} was examined on {count} of {screens} screens.")
        if rows is not None and rows.max() > screens:
            raise DataError(f"{name}: row {rows.argmax() + 1} was examined on {rows.max()} of {screens} screens.")
        single = None if by_participant is None else _single(name, by_participant)
        if single is not None:
            if not np.array_equal(single[0].sum(axis=0), table) or single[1].sum() != screens:
                raise DataError(f"{name}: the counts and screens of single participants do not add up to all of them.")
            participants = len(single[1])
        for attribute, value in {
            "name": name,
            "counts": table,
            "screens": screens,
            "row_counts": rows,
            "participants": participants,
            "by_participant": single,
        }.items():
            object.__setattr__(self, attribute, value)

    def __repr__(self) -> str:
        return f"Examination({self.name!r}, {'x'.join(map(str, self.counts.shape))} cells, {self.screens} screens)"

    @cached_property
    def frequencies(self) -> Array:
        """The share of screens on which each cell was examined: the estimate of P(E = 1)."""
        shares = self.counts / self.screens
        shares.flags.writeable = False
        return shares

    @cached_property
    def intervals(self) -> tuple[Array, Array]:
        """Where the 95% Wilson intervals of the frequencies begin and end."""
        ends = [Share(count, self.screens).interval for count in self.counts.ravel().tolist()]
        low, high = np.array(ends).T.reshape(2, *self.counts.shape)
        return low, high

    @property
    def discount(self) -> Empirical:
        """The frequencies as a discount, ``d_emp(name)``."""
        return Empirical(self.frequencies, name=table_name(self.name))

    def __add__(self, other: "Examination") -> "Examination":
        """Both groups together."""
        if self.counts.shape != other.counts.shape:
            raise DataError(f"{self.name} and {other.name} have different grids and cannot be added.")
        rows = None if self.row_counts is None or other.row_counts is None else self.row_counts + other.row_counts
        people = (
            None if self.participants is None or other.participants is None else self.participants + other.participants
        )
        single = None
        if self.by_participant is not None and other.by_participant is not None:
            parts = zip(self.by_participant, other.by_participant, strict=True)
            single = tuple(np.concatenate(pair) for pair in parts)
        return Examination(
            f"{self.name}+{other.name}", self.counts + other.counts, self.screens + other.screens, rows, people, single
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``save`` writes it to a JSON file that ``load`` reads back."""
        single = self.by_participant
        return {
            "name": self.name,
            "screens": self.screens,
            "participants": self.participants,
            "counts": self.counts.tolist(),
            "row_counts": None if self.row_counts is None else self.row_counts.tolist(),
            "by_participant": None if single is None else [part.tolist() for part in single],
        }

    @property
    def heading(self) -> str:
        return f"{self.name}: {self.description}"

    @property
    def description(self) -> str:
        """What the counts are, in words."""
        people = "" if self.participants is None else f" of {self.participants} participants"
        return f"on how many of {self.screens} screens{people} each cell was examined"

    def to_frame(self) -> "pl.DataFrame":
        """The counts, a line for each row of the grid."""
        import polars as pl

        rows, cols = self.counts.shape
        counts = {str(col): self.counts[:, col - 1] for col in range(1, cols + 1)}
        return pl.DataFrame({"row": range(1, rows + 1)} | counts)

    @classmethod
    def load(cls, path: str | Path) -> "Examination":
        """Read a JSON file of ``save``; ``participants`` and ``row_counts`` may be left out, other keys are ignored."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise DataError(f"examination file {str(path)!r}: {error.strerror or error}.") from None
        except (ValueError, RecursionError) as error:
            raise DataError(f"examination file {str(path)!r} is not JSON: {error}.") from None
        needed = ("name", "screens", "counts")
        if not isinstance(content, dict) or not all(key in content for key in needed):
            raise DataError(f"examination file {str(path)!r} needs an object with the keys {', '.join(needed)}.")
        try:
            rows, people = content.get("row_counts"), content.get("participants")
            single = content.get("by_participant")
            return cls(str(content["name"]), content["counts"], content["screens"], rows, people, single)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"examination file {str(path)!r}: {error}") from None


def _single(name: str, parts: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not isinstance(parts, list | tuple) or len(parts) != 2:
        raise DataError(f"{name}: by_participant is two lists, the counts of each participant and their screens.")
    counts = _counts(f"{name}: by_participant", parts[0], 3)
    screens = _counts(f"{name}: screens by participant", parts[1], 1)
    if len(counts) != len(screens) or screens.min() < 1 or (counts > screens[:, None, None]).any():
        raise DataError(f"{name}: every participant has at least one screen, and no cell was examined on more of them.")
    return counts, screens


def _counts(what: str, values: ArrayLike, dimensions: int) -> NDArray[np.int64]:
    table = np.array(values)
    if table.ndim != dimensions or table.size == 0 or table.dtype.kind not in "iuf":
        raise DataError(f"{what} must be whole numbers of {dimensions} dimensions, found shape {table.shape}.")
    if not ((table >= 0) & (table <= 2**53)).all() or (table != np.floor(table)).any():
        raise DataError(f"{what} must be whole numbers, 0 or more; frequencies go through discounts.Empirical.")
    whole_counts = table.astype(np.int64)
    whole_counts.flags.writeable = False
    return whole_counts
