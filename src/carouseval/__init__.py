"""Offline evaluation of pages of carousels: the metric of "Revisiting N2DCG" (CIKM '26), exact and fast.

>>> import carouseval as cv
>>> page = [[3, 0, 1], [0, 2]]  # relevance; a row is a carousel, and carousels may differ in length
>>> round(cv.n2dcg_cat(page), 4)
0.9597
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# what costs more than NumPy to import, and where it is; imported when first used
_LATER = {
    "Comparison": "evaluation.comparison",
    "Evaluation": "evaluation.results",
    "Evaluator": "evaluation.evaluate",
    "attention": "attention",
    "build_pages": "evaluation.building",
    "check": "evaluation.check",
    "compare": "evaluation.compare",
    "evaluate": "evaluation.evaluate",
    "evaluation": "evaluation",
    "explain": "evaluation.explain",
    "items_of": "evaluation.evaluate",
    "sensitivity": "evaluation.sensitivity",
    "pages_from_scores": "evaluation.from_scores",
    "study": "study",
    "what_adds": "evaluation.adding",
}

if TYPE_CHECKING:
    from carouseval import attention as attention
    from carouseval import evaluation as evaluation
    from carouseval import study as study
    from carouseval.evaluation.adding import what_adds as what_adds
    from carouseval.evaluation.building import build_pages as build_pages
    from carouseval.evaluation.check import check as check
    from carouseval.evaluation.compare import compare as compare
    from carouseval.evaluation.comparison import Comparison as Comparison
    from carouseval.evaluation.evaluate import Evaluator as Evaluator
    from carouseval.evaluation.evaluate import evaluate as evaluate
    from carouseval.evaluation.evaluate import items_of as items_of
    from carouseval.evaluation.explain import explain as explain
    from carouseval.evaluation.from_scores import pages_from_scores as pages_from_scores
    from carouseval.evaluation.results import Evaluation as Evaluation
    from carouseval.evaluation.sensitivity import sensitivity as sensitivity
    from carouseval.surface import *  # noqa: F403
    from carouseval.surface import __all__ as __all__
else:  # hidden from type checkers, which would take any name for granted

    def __getattr__(name: str) -> Any:
        if name in ("discounts", "metric"):  # modules of these names
            return importlib.import_module(f"carouseval.{name}")
        if name in _LATER:
            module = importlib.import_module(f"carouseval.{_LATER[name]}")
            found = module if _LATER[name] == name else getattr(module, name)
        elif name == "__all__" or not name.startswith("_"):
            surface = importlib.import_module("carouseval.surface")
            globals().update({each: getattr(surface, each) for each in surface.__all__})
            globals()["__all__"] = sorted([*surface.__all__, *_LATER])
            found = globals().get(name)
        else:
            found = None
        if found is None:
            raise AttributeError(f"module 'carouseval' has no attribute {name!r}")
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*__getattr__("__all__"), "__doc__", "__file__", "__name__", "__path__", "__version__"})

    # The command line answers without waiting for NumPy; whoever imports the package gets the metric ready for use.
    _program = (getattr(sys, "argv", None) or [""])[0].replace("\\", "/").rpartition("/")[2]
    if _program.removesuffix(".exe") not in ("carouseval", "-m"):
        __getattr__("__all__")
