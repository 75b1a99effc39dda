"""The README's picture is what the command shows today."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_the_picture_is_up_to_date(tmp_path: Path) -> None:
    script = runpy.run_path(str(DOCS / "pictures.py"))
    script["main"](tmp_path)
    assert (tmp_path / "score.svg").read_text() == (DOCS / "score.svg").read_text(), "run `make pictures`"
