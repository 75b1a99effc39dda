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


_STATISTICS = "low|high|error|run_error|df|run_df|lift_low|lift_high|effect|detectable|break_even|deviation"
_EXACT_SUMS = "sums over users are exact, so that statistics made of them have other last digits"
_NO_COMMON_USER = "comparisons whose segments have no user in common have their column, and can be shown"
_TIED_ROWS = "of rows that lose the same, the upper one is the worst; it was any of them"
_TOO_LONG = "has (more than 20 brackets|[0-9,]+ characters)"

EXPECTED: list[Expected] = [
    # since 555febf; to be left out when a later version is the old one
    Expected(_EXACT_SUMS, rf"\.({_STATISTICS})(\.values)?$", ulps=1e5, apart=1e-12),
    Expected(_EXACT_SUMS, r"\.intervals\.|interval\(.*\)\.value$", ulps=1e5, apart=1e-12),
    Expected(_EXACT_SUMS, r"\.(p|p_adjusted)(\.values)?$", ulps=100),
    Expected("errors of runs that do not vary are what rounding leaves", r"\.run_error(\.values)?$", apart=1e-8),
    Expected(_EXACT_SUMS, r"chart\(\)\.value\.(datasets\.|.*\.scale\.domain$)", ulps=1e5, apart=1e-12),
    Expected(f"{_EXACT_SUMS}, in texts", r"\.(value|printed|said)$", ("digits",), ulps=1e5, apart=1e-12),
    Expected(
        "spaces around a discount are left out first",
        r"^discount\.error$",
        ("words",),
        words=f"{_TOO_LONG}.*{_TOO_LONG}",
    ),
    Expected(_NO_COMMON_USER, r"^compare", ("outcome",), words=r"^KeyError: '\w+' -> a value"),
    Expected(_NO_COMMON_USER, r"^compare.*\.columns\.\w+$", ("added",), words=r"'values': \['\(all\)'"),
    Expected(_NO_COMMON_USER, r"^compare\.save\(\)\.value$", ("words",), words=r"-> \w+,metric,baseline,system"),
    Expected(_TIED_ROWS, r"^explain|explanations", ("digits",), besides=r"Row \d+ falls furthest short"),
    Expected(_TIED_ROWS, r"\.worst_row$", besides=r"\d+"),
    Expected("an explanation holds the pages that it shows", r"(^explain.*value|explanations.*)\.pages$", ("added",)),
    Expected(
        "what needs all users at once is refused on Spark with the tests that do not",
        r"^spark\.compare\.error$",
        ("words",),
        words="collect=True, which brings the scores of all pages to the driver, or a test whose parts add up",
    ),
    Expected(
        "of pages with another ideal, one 'has' it, and runs of a system are told apart",
        r"\.error$",
        ("words",),
        words="-> .*(1 page has|of run [0-9,]+ ha(s|ve)) a different ideal page than in",
    ),
    # since 3163d42
    Expected(
        "errors that name a system are what tables from the layouts of several systems raise, too",
        r"\.class$",
        ("words",),
        words=r"comparison\.systems\.NamedError -> carouseval\.evaluation\.systems\.NamedError$",
    ),
]
