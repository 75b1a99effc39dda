"""The forms listed in docs/attention.md, computed again."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import carouseval as cv
from carouseval.attention import choose_form, recgaze_counts
from carouseval.attention.fisher_scoring import BinomialCounts, maximise
from carouseval.metrics.grid import Array

SEEN = recgaze_counts("bratislava")
PAGE = (Path(__file__).parents[2] / "docs" / "attention.md").read_text(encoding="utf-8")

i = cv.RECGAZE.row_index
p, slot = cv.RECGAZE.swipe_page, cv.RECGAZE.slot
first = p == 1


def later(swipe: Array, sigma2: Array, rho: Array) -> Array:
    return np.asarray(swipe * sigma2 ** np.maximum(p - 2, 0) * rho ** (5 - slot))


def edges(beta: Array, w: Array, right: Array | None = None) -> Array:
    decay = beta if right is None else right
    return np.asarray(1 - (1 - beta ** (slot - 1)) * (1 - w * decay ** (5 - slot)))


# every parameter is a share, an array (sets, 1, 1)
FORMS: dict[str, tuple[int, Callable[..., Array]]] = {
    "six, with a separate row decay after a swipe": (
        7,
        lambda e, k, b, s1, s2, r, k2: (
            e * np.where(first, k ** (i - 1) * b ** (slot - 1), k2 ** (i - 1) * later(s1, s2, r))
        ),
    ),
    "edges, with a separate row decay after a swipe": (
        8,
        lambda e, k, b, s1, s2, r, w, k2: (
            e * np.where(first, k ** (i - 1) * edges(b, w), k2 ** (i - 1) * later(s1, s2, r))
        ),
    ),
    "edges, with a separate decay from the right edge": (
        8,
        lambda e, k, b, s1, s2, r, w, c: e * k ** (i - 1) * np.where(first, edges(b, w, c), later(s1, s2, r)),
    ),
    "edges, with a separate w in row 1": (
        8,
        lambda e, k, b, s1, s2, r, w, top: (
            e * k ** (i - 1) * np.where(first, edges(b, np.asarray(np.where(i == 1, top, w))), later(s1, s2, r))
        ),
    ),
    "edges, w fading by row": (
        8,
        lambda e, k, b, s1, s2, r, w, q: (
            e * k ** (i - 1) * np.where(first, edges(b, w * q ** (i - 1)), later(s1, s2, r))
        ),
    ),
    "six, with a separate step from row 1 to row 2": (
        7,
        lambda e, k, b, s1, s2, r, step: (
            e * np.where(i == 1, 1, step) * k ** (i - 1) * np.where(first, b ** (slot - 1), later(s1, s2, r))
        ),
    ),
    "edges, s_i = sigma1 i^-q": (
        8,
        lambda e, k, b, s1, s2, r, w, q: (
            e * k ** (i - 1) * np.where(first, edges(b, w), later(s1 * i.astype(float) ** -q, s2, r))
        ),
    ),
    "edges, s_i = sigma1 + (sigma1_top - sigma1) / i^2": (
        8,
        lambda e, k, b, s1, s2, r, w, top: (
            e * k ** (i - 1) * np.where(first, edges(b, w), later(s1 + (top - s1) / i**2, s2, r))
        ),
    ),
    "edges, s_i = sigma1 + (sigma1_top - sigma1) 0.25^(i-1)": (
        8,
        lambda e, k, b, s1, s2, r, w, top: (
            e * k ** (i - 1) * np.where(first, edges(b, w), later(s1 + (top - s1) * 0.25 ** (i - 1), s2, r))
        ),
    ),
    "edges, s_i = sigma1 (1 + q^i)": (
        8,
        lambda e, k, b, s1, s2, r, w, q: e * k ** (i - 1) * np.where(first, edges(b, w), later(s1 * (1 + q**i), s2, r)),
    ),
}


def bic(size: int, formula: Callable[..., Array]) -> float:
    """The lowest of several starts."""
    starts = np.random.default_rng(0).normal(1, 1, (8, size))
    counts, screens = np.repeat(SEEN.counts.reshape(1, -1), 8, axis=0), np.full((8, 150), float(SEEN.screens))

    def probabilities(at: Array) -> Array:
        shares = 1 / (1 + np.exp(-at))
        return formula(*shares.T[:, :, None, None]).reshape(len(at), -1)

    data, bound = BinomialCounts(counts.astype(float), screens), np.full(size, 16)
    found = maximise(probabilities, data, starts, -bound, bound)
    return size * math.log(SEEN.screens * 150) - 2 * float(found.log_likelihood.max())


def lines(heading: str, column: int = 2) -> dict[str, float]:
    """The last table under a heading: its first column and another one."""
    table = PAGE.split(heading)[1].split("\n\n")[1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {re.sub(r"\*\*| \(`d_rcb`\)", "", row[0]): float(row[column]) for row in rows}


@pytest.mark.deep
def test_further_forms_are_as_documented() -> None:
    said = lines("Further forms were tried on the same counts")
    assert list(said) == list(FORMS)
    lowest = min(one.fit.bic for one in choose_form(SEEN).trials)
    for name, (size, formula) in FORMS.items():
        assert bic(size, formula) - lowest == pytest.approx(said[name], abs=0.06), name


def test_forms_of_the_list_are_as_documented() -> None:
    frame = choose_form(SEEN).to_frame()
    for column, name in ((2, "BIC above the lowest"), (3, "quasi-BIC above the lowest")):
        computed = dict(zip(frame["form"], frame[name].round(1), strict=True))
        assert lines("lists every form with its likelihood", column) == computed
