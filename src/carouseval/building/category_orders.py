"""The choices of making pages and judgments by name; without imports, for the command line to load fast."""

from typing import Literal, TypeAlias

CategoryOrder: TypeAlias = Literal["remaining", "best", "mean", "sum", "fixed"]
"""How the categories of a page are ordered, from the top row down."""
Combine: TypeAlias = Literal["sum", "max", "last"]
"""How the lines of a user and an item become one value."""
