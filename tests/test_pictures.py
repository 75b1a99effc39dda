"""The pictures of the README and of attention.md show what the commands and charts show today."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_the_pictures_are_up_to_date(tmp_path: Path) -> None:
    script = runpy.run_path(str(DOCS / "pictures.py"))
    script["main"](tmp_path)
    for name in ("score.svg", "explain.svg"):
        assert (tmp_path / name).read_text() == (DOCS / name).read_text(), "run `make pictures`"
    charts = sorted(DOCS.glob("attention-*.svg"))
    assert [path.name for path in charts] == sorted(path.name for path in tmp_path.glob("attention-*.svg"))
    for path in charts:  # drawn anywhere, but of these numbers
        print_of = [file.read_text().rstrip().rpartition("\n")[2] for file in (path, tmp_path / path.name)]
        assert print_of[0] == print_of[1] != "", "run `make pictures`"
        assert f"({path.name})" in (DOCS / "attention.md").read_text(encoding="utf-8")
