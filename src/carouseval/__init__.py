"""Offline evaluation of pages of carousels: the metric of "Revisiting N2DCG" (CIKM '26), exact and fast.

>>> import carouseval as cv
>>> page = [[3, 0, 1], [0, 2]]  # relevance; a row is a carousel, and carousels may differ in length
>>> round(cv.n2dcg_cat(page), 4)
0.9597
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from carouseval import attention as attention
    from carouseval import study as study
    from carouseval.surface import *  # noqa: F403
    from carouseval.surface import __all__ as __all__
else:  # hidden from type checkers, which would take any name for granted

    def __getattr__(name: str) -> Any:
        """Names are imported when first used, so that the command line answers without waiting for NumPy."""
        if name in ("attention", "discounts", "metric", "study"):
            return importlib.import_module(f"carouseval.{name}")
        if name == "__all__" or not name.startswith("_"):
            surface = importlib.import_module("carouseval.surface")
            globals().update({each: getattr(surface, each) for each in ("__all__", *surface.__all__)})
            if name in globals():
                return globals()[name]
        raise AttributeError(f"module 'carouseval' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*__getattr__("__all__"), *globals()})
