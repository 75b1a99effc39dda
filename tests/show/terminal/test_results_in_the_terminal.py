"""Evaluations, comparisons and explanations in the terminal carry their caption, in lines that fit."""

import pytest
from rich.text import Text

import carouseval as cv
from carouseval.building.sample import Sample
from carouseval.show.terminal.comparison import comparison
from carouseval.show.terminal.evaluation import evaluation
from carouseval.show.terminal.explanation import explanation
from carouseval.show.terminal.text_blocks import WIDTH, sentences

GRID = "grid 10x15, swipe pages of 5, 3 visible rows; 19 users."


@pytest.fixture(scope="module")
def data() -> Sample:
    return cv.sample(20, systems=["new", "random"])


def style_of(text: Text, part: str) -> str:
    """The style of a part of a text, which must be in one line."""
    at = text.plain.index(part)
    return " ".join(str(span.style) for span in text.spans if span.start <= at and span.end >= at + len(part))


def paragraph(text: Text, begin: str) -> str:
    """The text that begins somewhere, without its line breaks."""
    return " ".join(text.plain[text.plain.index(begin) :].split())


@pytest.mark.parametrize("width", [None, 60])
def test_sentences_fit(width: int | None) -> None:
    text = sentences("some-words and more " * 20, width, "dim")
    lines = text.plain.splitlines()
    assert (width or WIDTH) - 12 < max(map(len, lines)) <= (width or WIDTH)
    assert not any(line.endswith("-") for line in lines)
    assert sentences("a b", 500).plain == "a b"


def test_an_evaluation_shows_its_caption_below_the_table(data: Sample) -> None:
    result = cv.evaluate(data.layouts["new"], data.judgments, data.items, candidates="displayed")
    text = evaluation(result, 70)
    assert text.plain.startswith("Arrangement only: each page is scored against the best arrangement")
    assert paragraph(text, "N2DCG_cat with").startswith(f"{result.caption} Counted: ")
    assert style_of(text, "N2DCG_cat with d_rpd(alpha=4") == "dim"
    notes = text.plain[text.plain.index("N2DCG_cat with") :]
    assert max(map(len, notes.splitlines())) <= 70
    assert text.plain.count("10x15") == 1


def test_a_comparison_shows_its_caption_below_the_tables(data: Sample) -> None:
    result = cv.compare(data.layouts, data.judgments, data.items, permutations=99)
    text = comparison(result, width=70)
    assert "99 random draws, seed 0." in paragraph(text, "N2DCG_cat with")
    assert paragraph(text, "N2DCG_cat with").startswith(f"{result.caption} Test: permutation test paired")
    assert GRID in result.caption
    assert style_of(text, "N2DCG_cat with d_rpd(alpha=4") == "dim"
    assert max(map(len, text.plain.partition("\n\n")[0].splitlines())) <= 70
    assert style_of(text, "new (0.") == "bold"


def test_an_explanation_shows_its_caption_below_the_summary(data: Sample) -> None:
    result = cv.explain(data.layouts["new"], data.judgments, data.items)
    text = explanation(result, 0, None, 70)
    assert paragraph(text, "These pages").startswith(f"{result.summary} {result.caption} score")
    assert style_of(text, "N2DCG_cat with d_rpd(alpha=4") == "dim"
