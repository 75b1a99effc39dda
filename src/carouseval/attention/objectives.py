"""Arguments that are one of several words: shared by signatures, checks and the command line, so without NumPy."""

from typing import Literal, TypeAlias

Objective: TypeAlias = Literal["spearman", "pearson", "mse", "likelihood"]
"""What a fit optimises: Spearman's rho as in the paper, Pearson's r, the mean squared error after dividing both sides
by their maximum, or the likelihood of examination counts."""

RecgazeGroup: TypeAlias = Literal["bratislava", "amsterdam", "all"]
"""The participants of RecGaze: the paper's training set, its test set, or both."""
