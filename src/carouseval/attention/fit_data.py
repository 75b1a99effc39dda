"""What a discount is fitted to: counts, frequencies or scan paths, held-out data, and the screen."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from carouseval.attention.attention_files import has_screens, read_attention
from carouseval.attention.examination import Examination, Frequencies
from carouseval.attention.paths import Paths, paths_from_screens
from carouseval.attention.recgaze_data import GROUPS
from carouseval.errors import DataError
from carouseval.metrics.grid import Grid, PageSizes, page_size_text

Attention: TypeAlias = Examination | Frequencies
"""Examination counts, or frequencies of an unknown number of screens."""


@dataclass(frozen=True, eq=False, repr=False)
class FitData:
    """The data that a discount is fitted to and scored on, and the screen.

    Parameters
    ----------
    name : str
        What the training data are called.
    train : Examination or Frequencies
        The data to fit to.
    grid : Grid
        The screen, of the size of the data.
    test : Examination or Frequencies, optional
        Held-out data to score the fitted discount on.
    paths : Paths, optional
        Scan paths of the training screens, to which d_scan is fitted.
    test_paths : Paths, optional
        Scan paths of the held-out screens.
    page_size_assumed : bool, default False
        Whether the page size of the grid is a guess; reports then say which page size fits best.

    Examples
    --------
    >>> import carouseval as cv
    >>> pilot = cv.attention.Examination("pilot", [[8, 4], [2, 1]], screens=10)
    >>> cv.attention.FitData("pilot", pilot, cv.Grid(2, 2, page_size=2))
    FitData(pilot: 10 screens, 2x2, all 2 items of a row in view at once: no swipe pages)
    """

    name: str
    train: Attention
    grid: Grid
    test: Attention | None = None
    paths: Paths | None = None
    test_paths: Paths | None = None
    page_size_assumed: bool = False

    def __repr__(self) -> str:
        return f"FitData({self.description})"

    @classmethod
    def read(
        cls,
        train: str | Path,
        test: str | Path | None = None,
        *,
        screens: int | None = None,
        grid: Grid | None = None,
        page_size: PageSizes | None = None,
        visible_rows: int | None = None,
        page_size_assumed: bool = False,
        in_order: bool = False,
    ) -> "FitData":
        """Read RecGaze's groups or files, as :func:`read_attention` does.

        Parameters
        ----------
        train : str or Path
            The data to fit to: ``"bratislava"``, ``"amsterdam"``, ``"all"`` or a file.
        test : str or Path, optional
            Held-out data to score the fitted discount on.
        screens : int, optional
            Number of all training screens, including those on which nothing was examined.
        grid : Grid, optional
            The screen; needed for files of single screens, by default of the size of the data.
        page_size : int or sequence of int, optional
            Items of a row in view at once, if no grid is given: one number, or one for each row; 5 by default.
        visible_rows : int, optional
            Rows visible at once, if no grid is given; 3 by default.
        page_size_assumed : bool, default False
            Whether the page size is a guess; reports then say which page size fits best.
        in_order : bool, default False
            Read files of single screens as scan paths, to fit d_scan.

        Returns
        -------
        FitData
            The data.
        """

        def read(source: str | Path, count: int | None) -> tuple[Attention, Paths | None]:
            if in_order and grid is not None and has_screens(source):
                paths = paths_from_screens(source, grid, count)
                return paths.examination(), paths
            return read_attention(source, count, grid), None

        data, paths = read(train, screens)
        held_out, test_paths = (None, None) if test is None else read(test, None)
        screen = grid or _default_grid(data, page_size, visible_rows)
        for source, table in ((train, data), (test, held_out)):
            if table is not None and table.frequencies.shape != screen.shape:
                size = "x".join(map(str, table.frequencies.shape))
                raise DataError(f"{source} is {size}, but the screen is {screen}.")
        assumed = page_size_assumed and train not in GROUPS  # RecGaze's screen is known
        return cls(str(train), data, screen, held_out, paths, test_paths, assumed)

    @property
    def description(self) -> str:
        """The data and the screen in words."""
        grid = self.grid
        if (grid.page_sizes >= grid.cols).all():
            pages = f"all {grid.cols} items of a row in view at once: no swipe pages"
        else:
            pages = page_size_text(grid.page_size, "items of a row in view at once")
        if self.page_size_assumed:
            pages += " (assumed; set the page size)"
        if isinstance(self.train, Frequencies):
            return f"{self.name}: {grid}, {pages}"
        count = self.train.participants
        participants = f" of {count} participant{'s' * (count != 1)}" if count else ""
        screens = f"{self.train.screens:,} screen{'s' * (self.train.screens != 1)}"
        return f"{self.name}: {screens}{participants}, {grid}, {pages}"


def _default_grid(data: Attention, page_size: PageSizes | None, visible_rows: int | None) -> Grid:
    options: dict[str, Any] = {"page_size": page_size, "visible_rows": visible_rows}
    changes = {name: value for name, value in options.items() if value is not None}
    return replace(Grid(*data.frequencies.shape), **changes)
