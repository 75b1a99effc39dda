"""RecGaze: the embedded examination counts.

Figures of the free-browsing task of RecGaze (de Leon-Martinez et al., SIGIR 2025), as used by Kang et al. (CIKM 2026).
"""

import functools
import json
from importlib import resources

from carouseval.attention.examination import Examination
from carouseval.metrics.validation import require_choice

GROUPS = ("bratislava", "amsterdam", "all")


@functools.cache
def recgaze_counts(group: str) -> Examination:
    """Examination counts of ``"bratislava"`` (the paper's training set), ``"amsterdam"`` (its test set) or ``"all"``.

    >>> recgaze_counts("amsterdam").counts[0, :3].tolist(), recgaze_counts("amsterdam").screens
    ([619, 502, 531], 710)
    """
    require_choice("group", group, GROUPS)
    content = json.loads(resources.files("carouseval.attention").joinpath("recgaze.json").read_text(encoding="utf-8"))
    groups = {name: Examination(name, **values) for name, values in content["groups"].items()}
    both = groups["bratislava"] + groups["amsterdam"]
    groups["all"] = Examination("all", both.counts, both.screens, both.row_counts, both.participants)
    return groups[group]
