"""How results are written down: as tables, JSON, Markdown, LaTeX, HTML and files."""

import html
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from carouseval.atomic_files import RESULTS, check_outputs, write_atomically, write_frame
from carouseval.text_tables import frame_html, frame_texts, latex, markdown

if TYPE_CHECKING:
    import polars as pl

_T = TypeVar("_T")


class Result:
    """A result that knows its table, its content and what a reader must know first."""

    @property
    def heading(self) -> str:
        """What a reader must know first; nothing, for most."""
        return ""

    def to_frame(self) -> "pl.DataFrame":
        """The result as a table."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Everything but single pages, as plain values; what is not a number is None."""
        raise NotImplementedError

    def to_json(self) -> str:
        """The content as JSON."""
        return json.dumps(plain(self.to_dict()), indent=1, allow_nan=False)

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return f"{self.heading}\n\n" * bool(self.heading) + markdown(*frame_texts(self.to_frame()))

    def to_latex(self) -> str:
        """The table in LaTeX, with booktabs."""
        return f"% {self.heading}\n" * bool(self.heading) + latex(*frame_texts(self.to_frame()))

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.heading)}</p>{frame_html(self.to_frame())}"

    def save(self, path: str | Path) -> Path:
        """Write ``.json``, ``.md``, ``.tex``, ``.csv`` or ``.parquet``, whole or not at all."""
        check_outputs(path, kinds=RESULTS)
        path = Path(path)
        texts = {".json": self.to_json, ".md": self.to_markdown, ".tex": self.to_latex}
        suffix = path.suffix.lower()
        if suffix in texts:
            return write_atomically(path, texts[suffix]() + "\n" * (suffix == ".json"))
        return write_frame(path, self.to_frame())


def plain(content: _T) -> _T:
    """Content with None in place of all that JSON has no number for."""
    made: Any = content
    if isinstance(content, dict):
        made = {key: plain(value) for key, value in content.items()}
    elif isinstance(content, list):
        made = [plain(value) for value in content]
    elif isinstance(content, float) and not math.isfinite(content):
        made = None
    return cast(_T, made)
