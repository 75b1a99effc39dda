"""Arguments that are one of several words: shared by signatures, checks and the command line, so without NumPy."""

from typing import Literal, TypeAlias

GainName: TypeAlias = Literal["exp2", "linear"]
"""The built-in gains: ``"exp2"`` is 2^relevance - 1, as in the paper; ``"linear"`` is the relevance itself."""

IdealName: TypeAlias = Literal["category", "unconstrained"]
"""The ideal pages: ``"category"`` keeps each row to the items of one carousel, ``"unconstrained"`` lets any item go
anywhere."""
