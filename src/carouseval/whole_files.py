"""Writing files that appear whole or not at all."""

from pathlib import Path

from carouseval.errors import DataError


def write_whole(path: str | Path, content: str | bytes) -> Path:
    """Write under a temporary name, then rename; what cannot be written is said, and nothing is left behind."""
    unfinished, path = Path(f"{path}.part"), Path(path)
    try:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
        return unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from None
