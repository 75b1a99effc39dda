"""Studies whose truth is known: participants who differ, with several screens each and cells that go together."""

import numpy as np
from numpy.typing import NDArray

import carouseval as cv
from carouseval.attention import Examination
from carouseval.metrics.browsing.row_page import RowPageBrowsing
from carouseval.metrics.grid import Array, IntArray

GRID = cv.Grid(6, 9, page_size=3)
SIX = RowPageBrowsing(e=0.9, kappa=0.85, beta=0.85, sigma1=0.4, sigma2=0.7, rho=0.9, w=0, sigma1_top=0.4, fade=0)


def draw_study(
    seed: int, model: RowPageBrowsing = SIX, participants: int = 30, screens: int = 12, concentration: float = 4.0
) -> Examination:
    """Screens of participants who browse as the model says, each with an ``e`` and swipes of their own.

    The three probabilities that vary (Beta variables around the model's, the less concentrated the more they differ)
    are independent and enter the weights linearly: averaged over participants, cells are examined with exactly the
    model's probabilities. Only models without fading, so that swipes have two probabilities: row 1's and the others'.
    """
    rng = np.random.default_rng(seed)
    size = participants, screens

    def own(mean: float) -> Array:
        return rng.beta(mean * concentration, (1 - mean) * concentration, (participants, 1))

    examined = np.zeros((*size, *GRID.shape), dtype=np.bool_)
    e, swipe_top, swipe_below = own(model.e), own(model.sigma1_top), own(model.sigma1)
    in_row = rng.random(size) < e
    for row in range(GRID.rows):
        examined[:, :, row, :3] = in_row[..., None] & (_reading(rng, size, model.beta) | _leftwards(rng, size, model))
        on_page = in_row & (rng.random(size) < (swipe_below if row else swipe_top))
        for first in (3, 6):
            examined[:, :, row, first : first + 3] = on_page[..., None] & _reading(rng, size, model.rho)[..., ::-1]
            on_page &= rng.random(size) < model.sigma2
        in_row &= rng.random(size) < model.kappa
    return as_examination(examined.sum(axis=1), screens)


def independent_study(
    seed: int, model: RowPageBrowsing = SIX, participants: int = 30, screens: int = 12
) -> Examination:
    """The same without any correlation: every cell of every screen for itself."""
    weights = model.weights(GRID)
    counts = np.random.default_rng(seed).binomial(screens, weights, (participants, *GRID.shape))
    return as_examination(counts, screens)


def beta_binomial_study(
    seed: int, model: RowPageBrowsing = SIX, participants: int = 30, screens: int = 12
) -> Examination:
    """Participants with tastes of their own, cell by cell: beta-binomial counts, independent from cell to cell."""
    rng, weights = np.random.default_rng(seed), model.weights(GRID)
    own = rng.beta(4 * weights, 4 * (1 - weights), (participants, *GRID.shape))
    return as_examination(rng.binomial(screens, own), screens)


def as_examination(counts: IntArray, screens: int) -> Examination:
    people = len(counts)
    totals = counts.sum(axis=0), people * screens
    return Examination("drawn", *totals, by_participant=(counts, np.full(people, screens)))


def without_participants(study: Examination) -> Examination:
    return Examination("sums", study.counts, study.screens)


def _reading(rng: np.random.Generator, size: tuple[int, int], go_on: float) -> NDArray[np.bool_]:
    """The first slot, and each further one as long as reading goes on."""
    steps = rng.random((*size, 3)) < go_on
    steps[..., 0] = True
    return np.asarray(np.logical_and.accumulate(steps, axis=2))


def _leftwards(rng: np.random.Generator, size: tuple[int, int], model: RowPageBrowsing) -> NDArray[np.bool_]:
    """From the right edge of page 1, for those who start there, too."""
    return (rng.random((*size, 1)) < model.w) & _reading(rng, size, model.beta)[..., ::-1]
