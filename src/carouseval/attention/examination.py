"""Where people look: the number of screens on which each cell was examined."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from carouseval.errors import DataError
from carouseval.metrics.composite_discounts import Empirical, table_name
from carouseval.metrics.grid import Array, IntArray
from carouseval.results import Result
from carouseval.validation import require_int

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Share:
    """A share of screens or of pairs, with its 95% Wilson interval.

    Attributes
    ----------
    count : int
        Screens or pairs that are counted.
    of : int
        All screens or pairs.
    """

    count: int
    of: int

    @property
    def value(self) -> float:
        """The share, NaN of nothing."""
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
    """Examination frequencies of cells whose number of screens is unknown.

    Enough to fit a discount by rank, by correlation or by squared error; fitting by likelihood needs the counts of an
    :class:`Examination`.

    Parameters
    ----------
    name : str
        What the data are called in tables and charts.
    frequencies : array-like of shape (rows, cols)
        Share of screens on which each cell was examined, or numbers proportional to it, finite and 0 or more.

    Examples
    --------
    >>> import carouseval as cv
    >>> pilot = cv.attention.Frequencies("pilot", [[0.8, 0.4], [0.2, 0.1]])
    >>> pilot
    Frequencies('pilot', 2x2 cells)
    >>> pilot.discount
    d_emp(pilot)
    """

    name: str
    frequencies: Array
    intervals: ClassVar[None] = None  # they take a number of screens

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequencies", np.asarray(self.frequencies, dtype=np.float64))

    def __repr__(self) -> str:
        return f"Frequencies({self.name!r}, {'x'.join(map(str, self.frequencies.shape))} cells)"

    @property
    def discount(self) -> Empirical:
        """The frequencies as a discount, ``d_emp(name)``."""
        return Empirical(self.frequencies, name=table_name(self.name))


@dataclass(frozen=True, eq=False)
class Examination(Result):
    """Examination counts: the number of screens on which each cell was examined.

    Two examinations of the same grid can be added.

    Parameters
    ----------
    name : str
        What the data are called in tables and charts.
    counts : array-like of int, shape (rows, cols)
        Number of screens on which each cell was examined, from 0 to ``screens``.
    screens : int
        Number of all screens, at least 1, including those on which nothing was examined.
    row_counts : array-like of int, shape (rows,), optional
        Number of screens on which anything in a row was examined, its heading included.
    participants : int, optional
        Number of participants; with ``by_participant`` it follows from that.
    by_participant : tuple of array-like, optional
        The counts of each participant, shape (participants, rows, cols), and the number of screens of each, shape
        (participants,). They must add up to ``counts`` and ``screens``. Fits then have intervals by participant.

    See Also
    --------
    examination_from_screens : Counts from a table of fixations.
    recgaze_counts : The counts of RecGaze.

    Examples
    --------
    >>> import carouseval as cv
    >>> pilot = cv.attention.Examination("pilot", [[8, 4], [2, 1]], screens=10)
    >>> pilot.frequencies
    array([[0.8, 0.4],
           [0.2, 0.1]])
    >>> pilot.discount
    d_emp(pilot)
    """

    name: str
    counts: IntArray
    screens: int
    row_counts: IntArray | None = None
    participants: int | None = None
    by_participant: tuple[IntArray, IntArray] | None = None

    def __init__(
        self,
        name: str,
        counts: ArrayLike,
        screens: int,
        row_counts: ArrayLike | None = None,
        participants: int | None = None,
        by_participant: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:
        table = _as_counts(f"{name}: counts", counts, 2)
        screens = require_int(f"{name}: screens", screens, 1)
        if participants is not None:
            participants = require_int(f"{name}: participants", participants, 1)
        rows = None if row_counts is None else _as_counts(f"{name}: row_counts", row_counts, 1)
        if rows is not None and rows.shape != table.shape[:1]:
            raise DataError(f"{name}: row_counts has {len(rows)} rows, counts {len(table)}.")
        if table.max() > screens:
            row, col = np.argwhere(table > screens)[0]
            count = table[row, col]
            raise DataError(f"{name}: row {row + 1}, col {col + 1} was examined on {count} of {screens} screens.")
        if rows is not None and rows.max() > screens:
            raise DataError(f"{name}: row {rows.argmax() + 1} was examined on {rows.max()} of {screens} screens.")
        per_participant = None if by_participant is None else _participant_counts(name, by_participant)
        if per_participant is not None:
            if not np.array_equal(per_participant[0].sum(axis=0), table) or per_participant[1].sum() != screens:
                raise DataError(f"{name}: the counts or screens by participant do not add up to the totals.")
            participants = len(per_participant[1])
        for attribute, value in {
            "name": name,
            "counts": table,
            "screens": screens,
            "row_counts": rows,
            "participants": participants,
            "by_participant": per_participant,
        }.items():
            object.__setattr__(self, attribute, value)

    def __repr__(self) -> str:
        return f"Examination({self.name!r}, {'x'.join(map(str, self.counts.shape))} cells, {self.screens} screens)"

    @cached_property
    def frequencies(self) -> Array:
        """The share of screens on which each cell was examined: the estimate of P(E = 1)."""
        shares: Array = self.counts / self.screens
        shares.flags.writeable = False
        return shares

    @cached_property
    def intervals(self) -> tuple[Array, Array]:
        """The lower and upper ends of the 95% Wilson intervals of the frequencies."""
        ends = [Share(count, self.screens).interval for count in self.counts.ravel().tolist()]
        low, high = np.array(ends).T.reshape(2, *self.counts.shape)
        return low, high

    @property
    def discount(self) -> Empirical:
        """The frequencies as a discount, ``d_emp(name)``."""
        return Empirical(self.frequencies, name=table_name(self.name))

    def __add__(self, other: "Examination") -> "Examination":
        """Both groups of screens together."""
        if self.counts.shape != other.counts.shape:
            raise DataError(f"{self.name} and {other.name} have different grids and cannot be added.")
        rows = None if self.row_counts is None or other.row_counts is None else self.row_counts + other.row_counts
        participants = (
            None if self.participants is None or other.participants is None else self.participants + other.participants
        )
        per_participant = None
        if self.by_participant is not None and other.by_participant is not None:
            (counts, screens), (other_counts, other_screens) = self.by_participant, other.by_participant
            per_participant = np.concatenate([counts, other_counts]), np.concatenate([screens, other_screens])
        return Examination(
            f"{self.name}+{other.name}",
            self.counts + other.counts,
            self.screens + other.screens,
            rows,
            participants,
            per_participant,
        )

    def to_dict(self) -> dict[str, Any]:
        """The content of a file that :meth:`load` reads: ``name``, ``screens``, ``participants``, ``counts``,
        ``row_counts`` and ``by_participant``.
        """
        return {
            "name": self.name,
            "screens": self.screens,
            "participants": self.participants,
            "counts": self.counts.tolist(),
            "row_counts": None if self.row_counts is None else self.row_counts.tolist(),
            "by_participant": None if self.by_participant is None else [part.tolist() for part in self.by_participant],
        }

    @property
    def heading(self) -> str:
        return f"{self.name}: {self.description}"

    @property
    def description(self) -> str:
        """What the counts are."""
        screens = f"{self.screens} screen{'s' * (self.screens != 1)}"
        if self.participants is not None:
            screens += f" of {self.participants} participant{'s' * (self.participants != 1)}"
        return f"on how many of {screens} each cell was examined"

    def to_frame(self) -> "pl.DataFrame":
        """One line per row of the grid: ``row`` and a column for each column of the grid."""
        import polars as pl

        rows, cols = self.counts.shape
        counts = {str(col): self.counts[:, col - 1] for col in range(1, cols + 1)}
        return pl.DataFrame({"row": range(1, rows + 1)} | counts)

    @classmethod
    def load(cls, path: str | Path) -> "Examination":
        """Read a JSON file that :meth:`save` wrote.

        Parameters
        ----------
        path : str or Path
            The file: an object with ``name``, ``screens`` and ``counts``; the other arguments of an examination may be
            left out and further keys are ignored.

        Returns
        -------
        Examination
            The counts.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise DataError(f"examination file {str(path)!r}: {error.strerror or error}.") from None
        except (ValueError, RecursionError) as error:
            raise DataError(f"examination file {str(path)!r} is not JSON: {error}.") from None
        required = ("name", "screens", "counts")
        if not isinstance(content, dict) or not all(key in content for key in required):
            raise DataError(f"examination file {str(path)!r} needs an object with the keys {', '.join(required)}.")
        try:
            optional = (content.get(key) for key in ("row_counts", "participants", "by_participant"))
            return cls(str(content["name"]), content["counts"], content["screens"], *optional)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"examination file {str(path)!r}: {error}") from None


def _participant_counts(name: str, parts: tuple[ArrayLike, ArrayLike]) -> tuple[IntArray, IntArray]:
    if not isinstance(parts, list | tuple) or len(parts) != 2:
        raise DataError(f"{name}: by_participant must be two arrays, the counts and the screens of each participant.")
    counts = _as_counts(f"{name}: by_participant", parts[0], 3)
    screens = _as_counts(f"{name}: screens by participant", parts[1], 1)
    if len(counts) != len(screens) or screens.min() < 1 or (counts > screens[:, None, None]).any():
        raise DataError(
            f"{name}: by_participant: each participant needs at least one screen, and no count may exceed its screens."
        )
    return counts, screens


def _as_counts(what: str, values: ArrayLike, dimensions: int) -> IntArray:
    table = np.array(values)
    if table.ndim != dimensions or table.size == 0 or table.dtype.kind not in "iuf":
        raise DataError(f"{what} must be integers of {dimensions} dimensions, found shape {table.shape}.")
    if not ((table >= 0) & (table <= 2**53)).all() or (table != np.floor(table)).any():
        raise DataError(f"{what} must be integers, 0 or more; for frequencies use attention.Frequencies.")
    counts: IntArray = table.astype(np.int64)
    counts.flags.writeable = False
    return counts
