"""The choices of `pages_from_scores` that are made by name; without imports, for the command line to load fast."""

from typing import Literal, TypeAlias

CategoryOrder: TypeAlias = Literal["best", "mean", "sum", "fixed"]
"""How the categories of a page are ordered, from the top row down."""
