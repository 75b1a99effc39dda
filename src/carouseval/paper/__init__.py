"""The paper, end to end: its simulation and its tables (``carouseval.reproduce``)."""

from typing import TYPE_CHECKING

from carouseval.lazy_names import lazy_names

if TYPE_CHECKING:
    from carouseval.paper.simulation import simulate as simulate
    from carouseval.paper.study import Study as Study
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__, {"simulation": ("simulate",), "study": ("Study",)})
