"""Errors whose counts add up, where the lines of a table are read in several parts that each have some."""

from dataclasses import dataclass, replace
from typing import Any

from carouseval.errors import DataError
from carouseval.messages import Message, nested


class AddedError(DataError):
    """What is wrong with a table; each of ``found`` has a ``kind``, adds up with others of that kind, and has words."""

    def __init__(self, *found: Any) -> None:
        super().__init__(str(found[0]))
        self.found = found


@dataclass(frozen=True)
class CountedLines:
    """Lines that have a defect: how many, in words, and the first of them."""

    kind: str
    count: int
    head: str
    number: tuple[str, str]  # how one and several are worded; with the number in {}
    tail: str
    of_users: bool = False  # only where all lines of users are at hand are they counted right

    def __add__(self, other: "CountedLines") -> "CountedLines":
        first = min(self, other, key=lambda found: (found.head, found.tail))
        return replace(first, count=self.count + other.count)

    def __str__(self) -> str:
        return Message(f"{self.head}{self.number[self.count != 1].format(f'{self.count:,}')}{nested(self.tail)}")


def such_lines(kind: str, count: int, head: str, remedy: str) -> CountedLines:
    """A value on a line, and how many such lines there are."""
    return CountedLines(kind, count, head, ("", " ({} such lines)"), Message(f". {nested(remedy)}"))
