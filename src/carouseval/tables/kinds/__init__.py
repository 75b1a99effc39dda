"""The kinds of files that hold tables: a file here for each, and its place in ``KINDS``."""

from collections.abc import Sequence
from pathlib import PurePath

from carouseval.tables.kinds.arrow import ARROW
from carouseval.tables.kinds.contract import GZIP, ZSTD, FileKind
from carouseval.tables.kinds.json_files import JSON, NDJSON
from carouseval.tables.kinds.parquet import PARQUET
from carouseval.tables.kinds.text import CSV, TSV

KINDS: list[FileKind] = [PARQUET, CSV, TSV, NDJSON, JSON, ARROW]
"""All of them, in the order in which messages list them; your own code may append its own."""


def kind_of(path: PurePath) -> FileKind | None:
    """The kind of a file by the extension of its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = path.suffix.lower() in GZIP.extensions + ZSTD.extensions
    extension = "".join(suffixes[-2:-1] if compressed else suffixes[-1:])
    return next(
        (kind for kind in KINDS if extension in kind.extensions and (kind.compressible or not compressed)), None
    )


def supported_files() -> str:
    """The files that can be read, as a sentence without its full stop."""
    kinds = word_list([kind.extensions[0] for kind in KINDS], "or")
    compressible = word_list([kind.extensions[0] for kind in KINDS if kind.compressible], "and")
    return f"Tables are {kinds} files; {compressible} may be compressed (.gz, .zst)"


def word_list(words: Sequence[str], conjunction: str) -> str:
    """Words as a sentence lists them: a, b and c."""
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
