"""What a user may choose of the paired-layout study: a list of settings, as of evaluations.

To add one, add a field to :class:`SimulationSettings`, and the parameter to ``simulate``; then write the code that acts
on it. ``carouseval simulate`` has it from then on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, get_args

from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.settings import Doc, check_types
from carouseval.validation import require_float, require_int

if TYPE_CHECKING:  # the command line reads this list before it needs NumPy
    from fractions import Fraction

    from carouseval.metrics.discounts import Discount
    from carouseval.metrics.grid import Grid
    from carouseval.paper.truth import Truth

Mode: TypeAlias = Literal["binary", "graded"]
Stream: TypeAlias = Literal["paper", "fast"]
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True, kw_only=True)
class SimulationSettings:
    """Which discounts are compared with what, on which layouts."""

    discounts: Annotated[
        "Sequence[str | Discount]",
        Doc(
            "Discounts to compare with the truth; corrections and regressions are relative to the first.",
            "sequence of str or Discount",
            option="Discount to study; the others are compared with the first. Repeat for several.",
            form="<discount>",
            flags=("--discount", "-d"),
        ),
    ] = ("d_a", "d_rpd")
    truth: Annotated[
        "Truth",
        Doc(
            "Examination counts, which are compared exactly in integers, or any discount, with ties within 1e-12; as "
            "text a group of RecGaze, a file of counts, or the name of a discount. By default the counts of the "
            "paper's test set.",
            "Examination, str or Discount",
            option="True attention: bratislava, amsterdam or all (RecGaze), a file of counts, or a discount such as "
            "d_rpd or @fitted.json.",
        ),
    ] = "amsterdam"
    mode: Annotated[
        Mode,
        Doc(
            'Relevant items have relevance 1 ("binary") or 1 to 5 ("graded").',
            option="Relevance of relevant items: 1 (binary) or 1 to 5 (graded).",
        ),
    ] = "binary"
    trials: Annotated[int, Doc("Pairs of layouts to draw.", option="Number of pairs of layouts to draw.")] = 20_000
    seed: Annotated[
        int, Doc("The same seed gives the same pairs.", option="Random seed; the same seed gives the same pairs.")
    ] = 42
    stream: Annotated[
        Stream,
        Doc(
            '"paper" repeats the authors\' random draws one by one. "fast" draws in chunks, each trial from a random '
            "stream of its own, so that results do not depend on threads or chunks.",
            option="Random numbers: drawn in parallel (fast), or as the authors drew them (paper).",
        ),
    ] = "fast"
    grid: Annotated[
        "Grid | None",
        Doc(
            "The screen. By default the grid of ``truth`` if it is a table, else :data:`carouseval.RECGAZE`.",
            "Grid",
        ),
    ] = None
    thresholds: Annotated[
        "Sequence[str | float | Fraction]",
        Doc(
            "Smallest differences of the true scores, as shares of the ideal score, for which results are reported.",
            "sequence of str, float or Fraction",
            option="Also report pairs whose true scores differ by at least this much. Repeat for several.",
            form="<number>",
            flags=("--at-least",),
        ),
    ] = ("0", "0.01", "0.02", "0.05", "0.1")
    share: Annotated[
        float,
        Doc("Expected share of relevant items, above 0 and at most 1.", option="Share of relevant items."),
    ] = 0.15
    categories: Annotated[
        int | None,
        Doc(
            "Carousels to draw, by default as many as the grid has rows. Of more, each layout shows as many as fit.",
            option="Number of carousels drawn. Default: one per row.",
        ),
    ] = None
    threads: Annotated[int | None, Doc('Most threads to use with ``stream="fast"``; by default all cores.')] = None

    def __post_init__(self) -> None:
        require_int("trials", self.trials, 1)
        if require_int("seed", self.seed, 0) >= 2**64:
            raise ParameterError(f"{setting('seed')} must be below 2^64, found {self.seed}.")
        require_float("share", self.share, above=0, at_most=1)
        if self.categories is not None:
            require_int("categories", self.categories, 1)
        check_types(self)
