"""What is open in the studio: tables, and the pages made of them."""

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from carouseval.evaluation.editing.open_pages import OpenPages
from carouseval.evaluation.editing.page_scorer import PageScorer
from carouseval.evaluation.settings import Settings
from carouseval.metrics.grid import RECGAZE
from carouseval.progress import Progress
from carouseval.show.posters import LONGEST_START, picture_type
from carouseval.show.studio.bad_request import BadRequestError
from carouseval.show.studio.offer import Choices, Offer, drawn_part
from carouseval.tables.table import TableLike

SAMPLE = "sample data"
_MOST_POSTER_BYTES = 2 * 2**20
_SAMPLE_USERS = 200
# work for an ideal page, in millions of steps, so that an edit is answered in about a second: a step takes longer, the
# more rows and judged items there are
_WORK, _USUAL_ROWS, _USUAL_ITEMS = 1000.0, 50, 1000


@dataclass(frozen=True)
class StudioTables:
    """The tables to open, and what the page calls them."""

    systems: Mapping[str, TableLike]
    judgments: TableLike
    items: TableLike | None
    settings: Settings
    source: str  # what they are, in a few words
    has_posters: bool = False  # whether items may name pictures to read: not in a table that was uploaded

    @classmethod
    def sample(cls, settings: Settings) -> "StudioTables":
        """Synthetic home pages of two systems, on their own screens unless the settings have another."""
        from carouseval.building.sample import sample

        data = sample(users=_SAMPLE_USERS, kind="home", systems=["new", "prod"])
        if settings.grid == RECGAZE:  # none was chosen
            settings = replace(settings, by="device", grid=data.grids)
        settings = replace(settings, carousels=data.carousels)
        return cls(data.layouts, data.judgments, data.items, settings, SAMPLE)


def system_names(*paths: str) -> list[str]:
    """The names of one or two tables of layouts: those of their files, told apart where they are the same."""
    names = [Path(path).name.split(".")[0] or path for path in paths]
    return names if len(set(names)) == len(names) else [f"{name} ({number})" for number, name in enumerate(names, 1)]


class Poster(NamedTuple):
    """A picture, and its type as browsers name it."""

    path: Path
    media_type: str


class Workspace:
    """The tables that are open. Requests take turns: ``lock`` is held while one is answered."""

    def __init__(self, tables: StudioTables, settings: Settings, progress: Progress | None = None) -> None:
        self.lock: threading.Lock = threading.Lock()
        self.start: StudioTables = tables
        self.settings: Settings = settings  # of tables that are uploaded
        # of what is open, so that a page of other tables is refused, also one of a studio that ran here before
        self.revision: int = secrets.randbelow(2**30)
        self._open(tables, progress)

    def _open(self, tables: StudioTables, progress: Progress | None = None) -> None:
        offer = Offer(tables.settings)
        self.pages: OpenPages = OpenPages(tables.systems, tables.judgments, tables.items, tables.settings, progress)
        self.offer: Offer = offer
        self.tables: StudioTables = tables
        self.revision += 1

    def open(self, tables: StudioTables) -> None:
        """Open other tables; those that are open stay if it fails."""
        replaced = self.pages
        self._open(tables)
        replaced.close()

    def close(self) -> None:
        """Remove temporary files."""
        self.pages.close()

    def check_revision(self, revision: int) -> None:
        """Refuse a request about other tables than those that are open."""
        if revision != self.revision:
            raise BadRequestError("other tables were opened in the meantime; reload the page.", 409)

    def check_page(self, system: int, code: int) -> None:
        """Refuse a page that there is not."""
        if system >= len(self.pages.names) or not self.pages.has_page(system, code):
            raise BadRequestError(f"system {system} has no page {code}.", 404)

    def poster(self, item: int) -> Poster | None:
        """The poster of an item; None where there is none that can be shown. Uploaded tables name no files."""
        path = self.pages.poster(item) if self.tables.has_posters else None
        if path is None:
            return None
        try:
            if not path.is_file() or path.stat().st_size > _MOST_POSTER_BYTES:
                return None
            with path.open("rb") as file:
                media_type = picture_type(file.read(LONGEST_START))
        except (OSError, ValueError):  # ValueError: a name that no file can have
            return None
        return None if media_type is None else Poster(path, media_type)

    def scorer(self, system: int, code: int, choices: Choices) -> PageScorer:
        """What scores versions of a page by the choices of a request."""
        grid = choices.grid(drawn_part(self.pages.grid(system, code)))
        return self.pages.scorer(
            system,
            code,
            grid,
            metrics=(choices.metric,),
            gain=choices.gain,
            candidates=choices.candidates,
            work=self._work(grid.rows, self.pages.judged_items(system, code)),
        )

    def _work(self, rows: int, items: int) -> float:
        """The most work for the ideal of a page: limited, since others wait for it, unless more than usual is asked."""
        work = self.pages.settings.work
        size = max(1.0, rows / _USUAL_ROWS, items / _USUAL_ITEMS)
        return work if work > Settings.work else min(work, _WORK / size**2)
