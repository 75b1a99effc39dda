"""What a discount is fitted to: counts, frequencies or paths of looks, others to score it on, and the screen."""

from dataclasses import dataclass, replace

from carouseval.attention.attention_files import holds_screens, read_attention
from carouseval.attention.examination import Examination, Frequencies
from carouseval.attention.paths import Paths, paths_from_screens
from carouseval.attention.recgaze_data import GROUPS
from carouseval.errors import DataError
from carouseval.metrics.grid import Grid

Attention = Examination | Frequencies


@dataclass(frozen=True, eq=False)
class FitData:
    """What a discount is fitted to and scored on, and the screen it is about."""

    name: str
    train: Attention
    grid: Grid
    test: Attention | None = None
    paths: Paths | None = None  # of the training screens, in the order of looks
    test_paths: Paths | None = None
    page_size_assumed: bool = False

    @classmethod
    def read(
        cls,
        train: str,
        test: str | None = None,
        *,
        screens: int | None = None,
        grid: Grid | None = None,
        page_size: int | None = None,
        visible_rows: int | None = None,
        page_size_assumed: bool = False,
        in_order: bool = False,
    ) -> "FitData":
        """From groups of RecGaze or files, see :func:`carouseval.attention.read_attention`.

        Without a ``grid`` it is the data's size, with ``page_size`` and ``visible_rows``. With ``in_order``, tables of
        single screens are read as paths, which need a grid.

        >>> FitData.read("bratislava").description
        'bratislava: 1,665 screens of 61 participants, 10x15, 5 items of a row in view at once'
        """

        def read(source: str, count: int | None) -> tuple[Attention, Paths | None]:
            if in_order and grid is not None and holds_screens(source):
                paths = paths_from_screens(source, grid, count)
                return paths.examination(), paths
            return read_attention(source, count, grid), None

        data, paths = read(train, screens)
        held_out, test_paths = (None, None) if test is None else read(test, None)
        chosen = grid or _own_grid(data, page_size, visible_rows)
        for source, table in ((train, data), (test, held_out)):
            if table is not None and table.frequencies.shape != chosen.shape:
                size = "x".join(map(str, table.frequencies.shape))
                raise DataError(f"{source} is {size}, but the screen is {chosen}.")
        assumed = page_size_assumed and train not in GROUPS  # RecGaze's screen is known
        return cls(train, data, chosen, held_out, paths, test_paths, assumed)

    @property
    def description(self) -> str:
        """The data in words, with what was assumed of the screen."""
        grid = self.grid
        if grid.page_size >= grid.cols:
            pages = f"all {grid.cols} items of a row in view at once: no swipe pages"
        else:
            pages = f"{grid.page_size} items of a row in view at once"
        if self.page_size_assumed:
            pages += " (assumed; set the page size)"
        if isinstance(self.train, Frequencies):
            return f"{self.name}: {grid}, {pages}"
        count = self.train.participants
        people = f" of {count} participant{'s' * (count != 1)}" if count else ""
        return f"{self.name}: {self.train.screens:,} screens{people}, {grid}, {pages}"


def _own_grid(data: Attention, page_size: int | None, visible_rows: int | None) -> Grid:
    given = {"page_size": page_size, "visible_rows": visible_rows}
    return replace(Grid(*data.frequencies.shape), **{name: value for name, value in given.items() if value is not None})
