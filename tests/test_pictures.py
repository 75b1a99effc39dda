"""The README's pictures are what the commands show today."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_the_pictures_are_up_to_date(tmp_path: Path) -> None:
    script = runpy.run_path(str(DOCS / "pictures.py"))
    script["main"](tmp_path)
    for name in ("score.svg", "explain.svg"):
        assert (tmp_path / name).read_text() == (DOCS / name).read_text(), "run `make pictures`"
