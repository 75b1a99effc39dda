"""Posters of items: local pictures that the table of items names, and nothing else."""

from pathlib import Path
from typing import NamedTuple

from carouseval.show.picture_files import LONGEST_START, picture_type
from carouseval.show.studio.bad_request import BadRequestError
from carouseval.show.studio.workspace import Workspace

_MOST_BYTES = 2 * 2**20


class Poster(NamedTuple):
    """A picture, and its type as browsers name it."""

    path: Path
    media_type: str


def find_poster(workspace: Workspace, item: int) -> Poster | None:
    """The poster of an item; None where there is none that can be shown. Uploaded tables name no files."""
    path = workspace.pages.poster(item) if workspace.tables.has_posters else None
    if path is None:
        return None
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        with path.open("rb") as file:
            media_type = picture_type(file.read(LONGEST_START))
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return None
    return None if media_type is None else Poster(path, media_type)


def read_poster(workspace: Workspace, item: int) -> tuple[bytes, str]:
    """The content of an item's poster, and its type."""
    poster = find_poster(workspace, item)
    if poster is None:
        raise BadRequestError(f"item {item} has no poster.", 404)
    return poster.path.read_bytes(), poster.media_type
