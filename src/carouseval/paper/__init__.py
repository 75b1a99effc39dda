"""The paper, end to end: its simulation and its tables (``carouseval.reproduce``)."""

from typing import TYPE_CHECKING

from carouseval.lazy_names import lazy_names

if TYPE_CHECKING:
    from carouseval.paper.simulation import Study as Study
    from carouseval.paper.simulation import simulate as simulate
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__, {"simulation": ("Study", "simulate")})
