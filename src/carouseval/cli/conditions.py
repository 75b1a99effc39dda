"""``--fail-if "N2DCG_cat < 0.42"``: conditions under which a command ends with status 3."""

import math
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import typer

from carouseval.errors import ParseError
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.tally import COUNTS
from carouseval.validation import did_you_mean, quoted

_OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
# parts that share no characters, and blanks removed afterwards: a text of blanks is refused at once
_PATTERN = re.compile(r"([^<>]+)(<=?|>=?)([^<>=]+)")
_NUMBER = re.compile(r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class Condition:
    """A mean or a count compared with a number."""

    name: str
    sign: str
    limit: float

    def failure(self, result: Evaluation) -> str | None:
        """The message if the condition holds for a result; a mean without any scored user always fails."""
        value = result.mean[self.name] if self.name in result.mean else float(result.counts[self.name])
        if math.isnan(value):
            return f"{self.name} is undefined: no user was scored."
        holds = _OPERATORS[self.sign](value, self.limit)
        return f"{self.name} is {value:.6g}, {self.sign} {self.limit:g}." if holds else None


def parse_conditions(texts: Sequence[str], metrics: Sequence[str]) -> list[Condition]:
    """Parse conditions on metrics or counts: ``"N2DCG_cat < 0.42"``."""
    conditions = []
    names = [*(name.strip() for name in metrics), *COUNTS]
    for text in texts:
        match = _PATTERN.fullmatch(text)
        name, sign, number = (part.strip() for part in match.groups()) if match else ("", "", "")
        try:
            limit = float(number) if _NUMBER.fullmatch(number) else math.nan
        except ValueError:
            limit = math.nan
        if not name or math.isnan(limit) or " and " in name or " or " in name:
            raise ParseError(
                f"--fail-if {quoted(text)} cannot be parsed; write a name, one of < <= > >= and a number: "
                "'N2DCG_cat < 0.42'. Repeat --fail-if for several conditions."
            )
        if name not in names:
            raise ParseError(
                f"--fail-if {quoted(text)}: {quoted(name)} is neither one of --metrics nor a count."
                f"{did_you_mean(name, names)} Choose from {', '.join(names)}."
            )
        conditions.append(Condition(name, sign, limit))
    return conditions


def parse_system_conditions(
    texts: Sequence[str], systems: Sequence[str], baseline: str | None = None
) -> list[tuple[str, str]]:
    """Parse ``"new < prod"`` into pairs of systems of which the first must not be worse than the second."""
    pairs = []
    for text in texts:
        system, sign, other = (part.strip() for part in text.partition("<" if "<" in text else ">"))
        system, other = (other, system) if sign == ">" else (system, other)
        if not (system and sign and other) or "=" in text:
            raise ParseError(f"--fail-if {quoted(text)} cannot be parsed; write two systems, such as 'new < prod'.")
        for name in (system, other):
            if name not in systems:
                raise ParseError(
                    f"--fail-if {quoted(text)}: there is no system {quoted(name)}.{did_you_mean(name, systems)}"
                )
        if baseline is not None and baseline not in (system, other):
            raise ParseError(f"--fail-if {quoted(text)}: with --baseline {baseline} the two are not compared.")
        if system == other:
            raise ParseError(f"--fail-if {quoted(text)} names the same system twice.")
        pairs.append((system, other))
    return pairs


def exit_on_failure(failures: Iterable[str | None]) -> None:
    """Print the conditions that failed, and end with status 3 if there are any."""
    messages = [failure for failure in failures if failure]
    for message in messages:
        typer.echo(f"carouseval: failed: {message}", err=True)
    if messages:
        raise typer.Exit(3)
