"""What to do where the data leaves a choice; every choice in force is echoed in the result."""

from dataclasses import asdict, dataclass

from carouseval.errors import ParameterError
from carouseval.metrics.validation import did_you_mean

CHOICES = {
    "candidates": ("judged", "displayed"),
    "duplicates": ("best", "first", "every", "error"),
    "missing_pages": ("zero", "skip", "error"),
    "no_relevant": ("skip", "zero", "error"),
    "unjudged": ("zero", "error"),
    "invalid": ("error", "count"),
}


@dataclass(frozen=True)
class Policies:
    """The first choice of each is the default.

    candidates
        What the ideal page may show: any *judged* item of each category, one denominator per user for every system; or
        only what is *displayed*, rearranged, which judges the arrangement alone.
    duplicates
        An item shown twice counts once, where it weighs most (*best*) or where it stands *first*, row by row; or
        *every* time; or is an *error*. The ideal obeys the same rule.
    missing_pages
        A user with judgments but without a page scores *zero*, is left out (*skip*), or is an *error*.
    no_relevant
        A user without any judged item that gains is left out (*skip*), scores *zero*, or is an *error*.
    unjudged
        A shown item without a judgment gains *zero*, or is an *error*.
    invalid
        A page that repeats a category, skips a row or shows an item outside its row's category is an *error*, or is
        *counted* and scored as it is.
    """

    candidates: str = "judged"
    duplicates: str = "best"
    missing_pages: str = "zero"
    no_relevant: str = "skip"
    unjudged: str = "zero"
    invalid: str = "error"

    def __post_init__(self) -> None:
        for name, chosen in asdict(self).items():
            known = CHOICES[name]
            if chosen not in known:
                options = f"{', '.join(map(repr, known[:-1]))} or {known[-1]!r}"
                hint = did_you_mean(chosen, known) if isinstance(chosen, str) else ""
                raise ParameterError(f"{name} must be {options}, found {chosen!r}.{hint}")

    @property
    def once(self) -> bool:
        """Whether an item counts once a page."""
        return self.duplicates != "every"
