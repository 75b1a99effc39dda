"""Every report is one valid, accessible page that loads nothing, runs nothing and stays small."""

import itertools
import re
import tomllib
from pathlib import Path

import pytest

from carouseval.show.report.closing_sections import CITATIONS
from carouseval.show.report.kinds import MOST_BYTES
from tests.show.report.html_pages import ReportPage
from tests.show.report.sample_reports import NAMES, report

ROOT = Path(__file__).parents[3]
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_the_templates_are_shipped() -> None:
    folder = ROOT / "src" / "carouseval" / "show" / "report" / "templates"
    assert {path.name for path in folder.iterdir()} == {"page.html", "body.html", "report.css"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["scikit-build"]["wheel"]["packages"] == ["src/carouseval"]  # with every file in it


@pytest.mark.parametrize("name", NAMES)
def test_headings_are_in_order(name: str) -> None:
    page = ReportPage(report(name))
    levels = [level for level, _ in page.headings]
    assert levels.count(1) == 1
    assert levels[:2] == [1, 2]
    assert page.headings[1] == (2, "Summary")
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(text.strip() for _, text in page.headings)


@pytest.mark.parametrize("name", NAMES)
def test_landmarks_links_and_names(name: str) -> None:
    page = ReportPage(report(name))
    for landmark in ("header", "nav", "main", "footer"):
        assert len(page.attributes(landmark)) == 1
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [str(link["href"]) for link in page.attributes("a")]
    assert links[0] == "#main"
    assert {link.removeprefix("#") for link in links if link.startswith("#")} <= set(ids)
    assert [link for link in links if not link.startswith("#")] == [
        address for address in CITATIONS.values() if address
    ]
    drawings = page.attributes("svg")
    assert drawings
    for drawing in drawings:
        assert drawing["role"] == "img"
        assert set(str(drawing["aria-labelledby"]).split()) <= set(ids)
    for attributes in page.attributes("th"):
        assert attributes["scope"] in ("col", "row")
    assert len(page.attributes("caption")) == len(page.tables) > 0
    assert page.attributes("html")[0]["lang"] == "en"


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_loaded_or_run(name: str) -> None:
    text = report(name)
    page = ReportPage(text)
    assert {"http-equiv": "Content-Security-Policy", "content": POLICY} in page.attributes("meta")
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "iframe", "object", "embed", "base", "form", "img", "video", "audio"}
    for tag, attributes in page.tags:
        assert not [key for key in attributes if key.startswith("on") or key in ("src", "srcset", "action", "data")]
        address = attributes.get("href") or attributes.get("xlink:href") or ""
        if tag != "a":
            assert address.startswith(("data:image/", "#")) or not address
    assert not re.search(r"@import|@font-face|url\((?!#)", text)


@pytest.mark.parametrize("name", NAMES)
def test_reports_are_small(name: str) -> None:
    assert len(report(name).encode()) < MOST_BYTES == 3_000_000


def test_the_style_serves_dark_screens_and_print() -> None:
    text = report("comparison")
    assert text.count("@media screen and (prefers-color-scheme: dark)") == 2  # of the page, and of its charts
    (rules,) = re.findall(r"prefers-color-scheme: dark\) \{\n(\.d0.*)\n\}", text)
    classes = set(re.findall(r"\.(d\d+)\{", rules))
    assert classes == set(re.findall(r"\bd\d+\b", " ".join(re.findall(r'class="([^"]*)"', text))))
    assert "@media print" in text
    assert "details::details-content { content-visibility: visible;" in text  # what is folded is printed, too
    assert "break-inside: avoid" in text


def test_citations_are_those_of_the_project() -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    titles = re.findall(r'^ +(?:- )?title: "(.*)"', cited, flags=re.MULTILINE)
    titles += re.findall(r'^ +title: "(.*)"', cited.partition("references")[2], flags=re.MULTILINE)
    assert len({*titles}) == 3
    assert all(any(title in text for text in CITATIONS) for title in titles)
    for doi in re.findall(r"doi: (\S+)", cited):
        assert f"https://doi.org/{doi}" in CITATIONS.values()


def test_it_is_said_how_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    import carouseval as cv
    from carouseval.show.report import closing_sections

    monkeypatch.setattr(closing_sections, "today", lambda: "2026-09-01")
    first, *_ = closing_sections.origin_section("carouseval report a b").blocks
    assert f"Made on 2026-09-01 by carouseval {cv.__version__} with Python 3." in first.text  # type: ignore[union-attr]
