"""What compare lets people choose by name; read by the command line before it needs NumPy."""

from typing import Literal, TypeAlias

NamedTest: TypeAlias = Literal["permutation", "t", "wilcoxon", "bootstrap"]
Correction: TypeAlias = Literal["holm", "bh", "none"]
