"""``--fail-if "N2DCG_cat < 0.42"``: what must not hold of a result."""

import math
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import typer

from carouseval.errors import ParseError
from carouseval.evaluation.notices import COUNTS
from carouseval.evaluation.results import Evaluation
from carouseval.metrics.validation import did_you_mean

_OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_SPELLING = re.compile(r"\s*(.+?)\s*(<=|>=|<|>)\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*")


@dataclass(frozen=True)
class Condition:
    """A mean or a count against a number."""

    name: str
    sign: str
    limit: float

    def failure(self, result: Evaluation) -> str | None:
        """What to say if the condition holds; a mean of nobody always fails."""
        value = result.mean[self.name] if self.name in result.mean else float(result.counts[self.name])
        if math.isnan(value):
            return f"{self.name} is not known: nobody was scored."
        return f"{self.name} is {value:.6g}, {self.sign} {self.limit:g}." if self.holds(value) else None

    def holds(self, value: float) -> bool:
        """Whether a value fulfils the condition."""
        return bool(_OPERATORS[self.sign](value, self.limit))


def parse_conditions(texts: Sequence[str], metrics: Sequence[str]) -> list[Condition]:
    """Conditions on the metrics asked for, or on counts."""
    conditions = []
    known = [*(name.strip() for name in metrics), *COUNTS]
    for text in texts:
        match = _SPELLING.fullmatch(text)
        try:
            limit = float(match[3]) if match else math.nan
        except ValueError:
            limit = math.nan
        if not match or math.isnan(limit) or re.search(r"[<>]| and | or ", match[1]):
            raise ParseError(
                f"--fail-if {text!r} does not read; write a name, one of < <= > >= and a number: 'N2DCG_cat < 0.42'. "
                "Repeat --fail-if for more."
            )
        if match[1] not in known:
            raise ParseError(
                f"--fail-if {text!r}: {match[1]!r} is no metric asked for and no count.{did_you_mean(match[1], known)} "
                f"There are {', '.join(known)}."
            )
        conditions.append(Condition(match[1], match[2], limit))
    return conditions


def parse_worse(texts: Sequence[str], systems: Sequence[str], baseline: str | None = None) -> list[tuple[str, str]]:
    """``"new < prod"``: pairs of systems of which the first must not be worse than the second."""
    pairs = []
    for text in texts:
        one, sign, other = (part.strip() for part in text.partition("<" if "<" in text else ">"))
        one, other = (other, one) if sign == ">" else (one, other)
        if not (one and sign and other) or "=" in text:
            raise ParseError(f"--fail-if {text!r} does not read; write two systems, such as 'new < prod'.")
        for name in (one, other):
            if name not in systems:
                raise ParseError(f"--fail-if {text!r}: there is no system {name!r}.{did_you_mean(name, systems)}")
        if baseline is not None and baseline not in (one, other):
            raise ParseError(f"--fail-if {text!r}: with --baseline {baseline} the two are not compared.")
        if one == other:
            raise ParseError(f"--fail-if {text!r} names one system twice.")
        pairs.append((one, other))
    return pairs


def exit_if_failed(checked: Iterable[str | None]) -> None:
    """End with status 3 if a condition holds that must not, saying which."""
    failures = [failure for failure in checked if failure]
    for failure in failures:
        typer.echo(f"carouseval: failed: {failure}", err=True)
    if failures:
        raise typer.Exit(3)
