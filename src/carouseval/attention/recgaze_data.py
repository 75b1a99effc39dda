"""RecGaze: the embedded examination counts.

Counts of the free-browsing task of RecGaze (de Leon-Martinez et al., SIGIR 2025), as used by Kang et al. (CIKM 2026).
"""

import functools
import json
from importlib import resources
from typing import Literal, TypeAlias, TypeGuard, get_args

from carouseval.attention.examination import Examination
from carouseval.validation import require_choice

RecgazeGroup: TypeAlias = Literal["bratislava", "amsterdam", "all"]
"""The participants of RecGaze: the paper's training set, its test set, or both."""

GROUPS: tuple[RecgazeGroup, ...] = get_args(RecgazeGroup)


def is_recgaze_group(name: object) -> TypeGuard[RecgazeGroup]:
    """Whether this is the name of a group of RecGaze's participants."""
    return name in GROUPS


def recgaze_counts(group: RecgazeGroup) -> Examination:
    """Return the examination counts of RecGaze's free-browsing task.

    Parameters
    ----------
    group : {"bratislava", "amsterdam", "all"}
        The participants: the training set of "Revisiting N2DCG", its test set, or both.

    Returns
    -------
    Examination
        Counts on the 10x15 grid :data:`carouseval.RECGAZE`.

    References
    ----------
    de Leon-Martinez et al. RecGaze: The First Eye Tracking and User Interaction Dataset for Carousel Interfaces. SIGIR
    2025. Data: Zenodo record 15270518.

    Examples
    --------
    >>> import carouseval as cv
    >>> test = cv.attention.recgaze_counts("amsterdam")
    >>> test
    Examination('amsterdam', 10x15 cells, 710 screens)
    >>> test.counts[0, :3].tolist()
    [619, 502, 531]
    """
    require_choice("group", group, GROUPS)
    return _embedded_counts()[group]


@functools.cache
def _embedded_counts() -> dict[str, Examination]:
    content = json.loads(resources.files("carouseval.attention").joinpath("recgaze.json").read_text(encoding="utf-8"))
    groups = {name: Examination(name, **values) for name, values in content["groups"].items()}
    both = groups["bratislava"] + groups["amsterdam"]
    groups["all"] = Examination("all", both.counts, both.screens, both.row_counts, both.participants)
    return groups
