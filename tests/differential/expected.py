"""The differences that are meant, each with its reason; empty again once both versions have them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.differential.differences import Difference

OF_NUMBERS = ("value", "digits")


@dataclass(frozen=True)
class Expected:
    """Differences that are meant: where (a regular expression, searched for), of which natures, and how far apart."""

    reason: str
    where: str
    natures: Sequence[str] = OF_NUMBERS
    ulps: float = 0.0
    apart: float = 0.0  # or this much, where numbers near 0 are what is left of larger ones
    words: str = ""  # a regular expression that "old -> new" must match
    besides: str = ""  # a regular expression of all that differs in texts

    def covers(self, difference: Difference) -> bool:
        """Whether a difference is one of these."""
        if difference.nature not in self.natures or not re.search(self.where, difference.where):
            return False
        old, new = str(difference.old), str(difference.new)
        if self.besides:
            return re.sub(self.besides, "", old) == re.sub(self.besides, "", new)
        near = difference.ulps <= self.ulps or difference.apart <= self.apart
        return (near or difference.nature not in OF_NUMBERS) and re.search(self.words, f"{old} -> {new}") is not None


EXPECTED: list[Expected] = [
    # since 984f752; to be left out when a later version is the old one
    Expected(
        "errors whose counts add up, and those that name a system, are defined in other files",
        r"\.class$",
        ("words",),
        words=r"(added_errors\.Added|systems\.Named)Error -> .*(added_errors\.Added|systems\.Named)Error$",
    ),
    Expected(
        "names of the field",
        r"\.error$",
        ("words",),
        words="(items|carousels)_of.* -> .*(items|carousels)_from_layouts|-> .*BrowsingModel and define",
    ),
    Expected("settings stand in the order of their list", r"^judgments_from_events\..*config$", ("order",)),
    Expected(
        "settings stand in the order of their list",
        r"^judgments_from_events\..*layout$",
        ("words",),
        words="thresholds",
    ),
    Expected(
        "lists of settings are checked first",
        r"^judgments_from_events\.error$",
        ("words",),
        words=r"-> ParameterError: at_(least|most): without a column of values",
    ),
    Expected(
        "settings of comparisons are checked by type, before tables are read",
        r"^compare\.error$",
        ("words",),
        words="-> ParameterError: (simultaneous|across_metrics) must be True or False",
    ),
    Expected(
        "settings of comparisons are checked by type, before tables are read",
        r"^compare\.class$",
        ("words",),
        words=r"NamedError -> carouseval\.errors\.ParameterError$",
    ),
    Expected("bars know their place first", r"^explain\.chart\(\)\.value\.datasets", ("order",)),
    Expected(
        "another example of the setting `columns`",
        r"report(\.html)?\.value$",
        ("words",),
        besides="&#x27;(layouts|items)&#x27;: .&#x27;(row|item_id)&#x27;: &#x27;(position|sku)&#x27;",
    ),
    Expected("help texts are made of lists of settings", r"\.printed$", ("words",), words="^Usage: "),
]
