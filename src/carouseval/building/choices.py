"""The choices of `judgments_from_events` that are made by name; without imports, for the command line to load fast."""

from typing import Literal, TypeAlias

Combine: TypeAlias = Literal["sum", "max", "last"]
"""How the lines of a user and an item become one value."""
