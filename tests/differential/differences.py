"""Where two versions differ, and how: numbers by how much, texts by their words."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.differential.plain import NUMBER, float_of

_METRIC = re.compile(r"(N2DCG_cat|N2DCG|2DCG|NDCG|DCG|Precision|Recall|Hit|RR|Coverage|_gain_sum)(\(.*\))?(@[\dx]+)?")


@dataclass(frozen=True)
class Difference:
    """One of a case's values in both versions.

    ``nature`` is "value", "digits" (texts that differ in numbers alone), "words", "length", "order", "missing", "added"
    or "outcome" (one version refuses, or ended). ``ulps`` is how far numbers are apart, in units of the last place of
    the larger one, ``apart`` by how much; both are infinite for what is no float.
    """

    where: str
    nature: str
    old: Any
    new: Any
    ulps: float = math.inf
    apart: float = math.inf

    @property
    def kind(self) -> str:
        """What differences of the same kind have in common."""
        words = f": {_changed_words(self.old, self.new)}" if self.nature == "words" else ""
        if self.nature == "outcome":
            words = f": {masked(self.old)} -> {masked(self.new)}"
        return f"{self.where} [{self.nature}]{words}"


def differences(old: Any, new: Any, where: str = "") -> Iterator[Difference]:
    """All differences of two plain values."""
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _of_dicts(old, new, where)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield Difference(where, "length", old, new)
        for one, other in zip(old, new, strict=False):
            yield from differences(one, other, where)
    elif old != new or type(old) is not type(new):
        yield _of_values(old, new, where)


def _of_dicts(old: dict[str, Any], new: dict[str, Any], where: str) -> Iterator[Difference]:
    if "warnings" in old and "warnings" in new and ("error" in old) != ("error" in new):
        yield Difference(where, "outcome", old.get("error", "a value"), new.get("error", "a value"))
        return
    for name in dict.fromkeys([*old, *new]):
        known = "{system}" if where.endswith(("evaluations", "explanations")) else _general(name)
        inside = f"{where}.{known}" if where else known
        if name not in new:
            yield Difference(inside, "missing", old[name], None)
        elif name not in old:
            yield Difference(inside, "added", None, new[name])
        else:
            yield from differences(old[name], new[name], inside)
    if old.keys() == new.keys() and list(old) != list(new):
        yield Difference(where, "order", list(old), list(new))


def _of_values(old: Any, new: Any, where: str) -> Difference:
    one, other = float_of(old), float_of(new)
    if one is not None and other is not None:
        return Difference(where, "value", one, other, ulps(one, other), abs(one - other))
    if not isinstance(old, str) or not isinstance(new, str):
        return Difference(where, "value", old, new)
    if NUMBER.sub("#", old) != NUMBER.sub("#", new):
        return Difference(where, "words", old, new)
    pairs = [pair for pair in zip(NUMBER.findall(old), NUMBER.findall(new), strict=True) if pair[0] != pair[1]]
    most = max(_printed_ulps(*pair) for pair in pairs)
    apart = max(abs(_number(one) - _number(other)) for one, other in pairs)
    return Difference(where, "digits", old, new, most, apart if math.isfinite(most) else math.inf)


def ulps(one: float, other: float) -> float:
    """How many floats of the larger one's size lie between two."""
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.inf
    return abs(one - other) / math.ulp(max(abs(one), abs(other)))


def _printed_ulps(one: str, other: str) -> float:
    """The same of printed numbers: 1 where they are rounded to neighbours; infinite for integers."""
    decimals = len(one.partition(".")[2]), len(other.partition(".")[2])
    if not any(decimals):
        return math.inf
    if decimals[0] == decimals[1] and "e" not in (one + other).lower() and len(one) < 12:
        return 1.0 if abs(_number(one) - _number(other)) * 10.0 ** decimals[0] < 1.5 else math.inf
    return ulps(_number(one), _number(other))


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def masked(value: Any) -> str:
    """A text without its numbers and names."""
    return re.sub(r"'[^']*'", "'...'", NUMBER.sub("#", str(value)))[:300]


def _general(name: str) -> str:
    """A key without what was asked for, and the names of metrics and systems."""
    name = re.sub(r" \w+ \d+(?=$|\.)|(?<=data )\d+", "", re.sub(r"\(.*\)", "()", name))
    return _METRIC.sub("{metric}", name)


def _changed_words(old: str, new: str) -> str:
    """The first words that differ, and what they became."""
    ours, theirs = re.split(r"(\s+)", masked_all(old)), re.split(r"(\s+)", masked_all(new))
    start = next((n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    return f"{''.join(ours[start : start + 12])!r} -> {''.join(theirs[start : start + 12])!r}"


def masked_all(value: str) -> str:
    """A text without its numbers."""
    return NUMBER.sub("#", value)
