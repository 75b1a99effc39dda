"""What a user may choose of a fit: a list of settings, as of evaluations.

To add one, add a field to :class:`FitSettings` and its name and type to :class:`FitSettingsDict`; then write the code
that acts on it. ``fit_discount`` and ``carouseval fit`` have it from then on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, TypedDict

from carouseval.settings import Doc, check_types
from carouseval.validation import require_int

Objective: TypeAlias = Literal["spearman", "pearson", "mse", "likelihood"]
"""What a fit optimises: Spearman's rho as in the paper, Pearson's r, the mean squared error after dividing both sides
by their maximum, or the likelihood of examination counts."""


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """Which discount is fitted, and how."""

    discount: Annotated[
        str,
        Doc(
            "Symbol of the discount to fit.",
            option="Discount to fit, such as d_rpd, d_rpb or d_scan.",
            flags=("--model",),
        ),
    ] = "d_rpd"
    objective: Annotated[
        Objective | None,
        Doc(
            "What to optimise; by default the likelihood for browsing models and Spearman's rho for others.",
            option="Objective of the fit. Default: likelihood for browsing models, spearman for others.",
        ),
    ] = None
    form: Annotated[
        str | None,
        Doc(
            "Form of d_rpb, as in :func:`fit_likelihood`; by default :func:`choose_form` selects one.",
            option="Form of d_rpb, such as six or 'edges, first row'. Default: selected by held-out participants or, "
            "where they are unknown, by quasi-BIC, among those with at most 8 parameters.",
        ),
    ] = None
    values: Annotated[
        Mapping[str, Sequence[int | float]] | None,
        Doc(
            "Values of parameters to try in the grid search, in place of the paper's.",
            "dict of str to sequence of float",
            option="Values of a parameter to try in place of the paper's: 'mu=0.1,0.2'. Repeat for several.",
            form="<parameter=values>",
            example="mu=0.1,0.2,0.3",
        ),
    ] = None
    refine: Annotated[
        bool,
        Doc(
            "Refine the best of the grid search over real-valued parameters.",
            option="Refine the best parameters of the grid search over real numbers.",
        ),
    ] = False
    bootstrap: Annotated[
        int,
        Doc(
            "Number of bootstrap samples for intervals.",
            option="Number of bootstrap resamples for confidence intervals.",
        ),
    ] = 0
    top: Annotated[
        int, Doc("Number of candidates of the grid search to report.", option="Number of runners-up to list.")
    ] = 5

    def __post_init__(self) -> None:
        require_int("bootstrap", self.bootstrap, 0)
        check_types(self)


class FitSettingsDict(TypedDict, total=False):
    """All but the discount, which may be given by position, for type checkers."""

    objective: Objective | None
    form: str | None
    values: Mapping[str, Sequence[int | float]] | None
    refine: bool
    bootstrap: int
    top: int
