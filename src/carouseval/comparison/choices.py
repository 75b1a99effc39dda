"""The choices of `compare` that are made by name; without imports, for the command line to load fast."""

from typing import Literal, TypeAlias

NamedTest: TypeAlias = Literal["permutation", "t", "wilcoxon", "bootstrap"]
"""A significance test of paired differences, by name."""
Correction: TypeAlias = Literal["holm", "bh", "none"]
"""A correction of p-values for multiple comparisons: Holm, Benjamini-Hochberg, or none."""
RunEffects: TypeAlias = Literal["random", "paired", "fixed"]
"""How several runs of a system are treated: as a random sample of its runs, paired between systems, or as given."""
