"""Measures of one list by cwl-eval, the C/W/L authors' own package, to judge browsing of one row by.

What the package does about the tail, which our models do not have (they end with the list):

- It reads a list as long as it is told to, 1000 positions unless told otherwise. A shorter list is extended by items of
  gain 0 and cost 1 each, a longer one is cut. Extended items share in W, so they lower EU, and their costs count.
- W is scaled to sum to 1 over the positions read. The last C is not used for it: as if nobody went beyond them.
- L is not scaled. With V_i = C_1 ... C_{i-1}, L_i = V_i (1 - C_i) also at the last position n, so that those who would
  go on from there, V_{n+1} in all, are counted nowhere. ETU and ETC fall short of people who end with the list by
  V_{n+1} times the list's whole gain or cost, and ETU = EU * sum(V) holds only where V_{n+1} = 0 (SDCG(k) for k <= n).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from cwl.ruler.measures.cwl_dcg import NDCGCWLMetric
from cwl.ruler.measures.cwl_inst import INSTCWLMetric
from cwl.ruler.measures.cwl_rbp import RBPCWLMetric
from cwl.ruler.ranking import Ranking

# The package calls it NDCG, but divides the discounts by their sum, not the score by an ideal: scaled DCG.
_METRICS = {"RBP": RBPCWLMetric, "SDCG": NDCGCWLMetric, "INST": INSTCWLMetric}


def cwl_values(
    measure: tuple[str, float], gains: Sequence[float], costs: Sequence[float], positions: int | None = None
) -> dict[str, Any]:
    """What the package makes of one list: EU, ETU, EC, ETC, and the vectors C, W and L.

    The measure is ("RBP", theta), ("SDCG", k) or ("INST", T); INST wants gains in [0, 1]. `positions` is how far the
    package reads, the list's own length unless given; any beyond the list hold gain 0 and cost 1.
    """
    name, parameter = measure
    metric = _METRICS[name](parameter)
    ranking = Ranking(
        "list",
        np.array(gains, dtype=np.float64),
        np.array(costs, dtype=np.float64),
        max_n=len(gains) if positions is None else positions,
    )
    metric.measure(ranking)
    return {
        "EU": float(metric.expected_utility),
        "ETU": float(metric.expected_total_utility),
        "EC": float(metric.expected_cost),
        "ETC": float(metric.expected_total_cost),
        "C": [float(value) for value in metric.c_vector(ranking)],
        "W": [float(value) for value in metric.w_vector(ranking)],
        "L": [float(value) for value in metric.l_vector(ranking)],
    }
