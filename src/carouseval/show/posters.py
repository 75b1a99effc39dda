"""Posters of items: local pictures, recognised by their first bytes and embedded in charts; none is ever fetched."""

import base64
from collections.abc import Iterable
from pathlib import Path

from carouseval.errors import warn

LONGEST_START = 12
_STARTS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF87a": "gif", b"GIF89a": "gif"}
MOST_BYTES = 150_000  # of one file that is embedded
MOST_BYTES_OF_ALL = 1_500_000  # of a chart: a report with several stays small enough to be mailed


def picture_type(content: bytes) -> str | None:
    """The media type of PNG, JPEG, GIF or WebP; None for others, and for SVG, which can hold scripts."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((f"image/{kind}" for start, kind in _STARTS.items() if content.startswith(start)), None)


def embedded_posters(paths: Iterable[str | None]) -> dict[str, str]:
    """The posters that can be drawn as data URIs, by their paths; a warning counts the others."""
    posters: dict[str, str] = {}
    problems: dict[str, str] = {}
    total = 0
    for path in dict.fromkeys(filter(None, paths)):
        content = _read(path)
        if isinstance(content, bytes) and total + len(content) > MOST_BYTES_OF_ALL:
            content = f"the posters of a chart may have {MOST_BYTES_OF_ALL:,} bytes in all"
        if isinstance(content, str):
            problems[path] = content
            continue
        total += len(content)
        posters[path] = f"data:{picture_type(content)};base64,{base64.b64encode(content).decode()}"
    if problems:
        first, reason = next(iter(problems.items()))
        posters_text = f"{len(problems):,} poster{'s' * (len(problems) > 1)}"
        warn(f"items: {posters_text} cannot be drawn, first {first!r}: {reason}. Such items are drawn as boxes.")
    return posters


def _read(path: str) -> bytes | str:
    """The content of a picture, or why it cannot be used."""
    file = Path(path)
    if "://" in path or path.startswith(("//", "data:")):
        return "it is not a local file, and nothing is fetched"
    try:
        if not file.is_file():
            return "there is no such file"
        if file.stat().st_size > MOST_BYTES:
            return f"it has {file.stat().st_size:,} bytes, more than {MOST_BYTES:,}"
        content = file.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        return str(getattr(error, "strerror", None) or "no file can have this name")
    return content if picture_type(content) else "it is not a PNG, JPEG, GIF or WebP picture"
