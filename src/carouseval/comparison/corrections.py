"""The choices of `compare` that are made by name, but for tests; without imports, for the command line to load fast."""

from typing import Literal, TypeAlias

Correction: TypeAlias = Literal["holm", "bh", "none"]
"""A correction of p-values for multiple comparisons: Holm, Benjamini-Hochberg, or none."""
RunEffects: TypeAlias = Literal["random", "paired", "fixed"]
"""How several runs of a system are treated: as a random sample of its runs, paired between systems, or as given."""
