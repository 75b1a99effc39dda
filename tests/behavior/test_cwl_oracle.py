"""The package's numbers against C/W/L written out by hand."""

import math
from typing import Any

import pytest

from tests.behavior.cwl_oracle import cwl_values

GAINS = [0.0, 1.0, 0.25, 0.0, 0.5, 1.0]
COSTS = [1.0, 2.0, 1.5, 1.0, 3.0, 0.5]
MEASURES = [
    ("RBP", 0.3),
    ("RBP", 0.8),
    ("SDCG", 1),
    ("SDCG", 4),
    ("SDCG", 6),
    ("SDCG", 20),
    ("INST", 0.75),
    ("INST", 1.0),
    ("INST", 3.0),
]
measures = pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: f"{measure[0]}({measure[1]})")


def continuation(measure: tuple[str, float], gains: list[float]) -> list[float]:
    """C_i for i = 1..n."""
    name, parameter = measure
    values = []
    for i in range(1, len(gains) + 1):
        if name == "RBP":
            values.append(parameter)
        elif name == "SDCG":
            values.append(math.log2(i + 1) / math.log2(i + 2) if i < parameter else 0.0)
        else:
            found = i + 2 * parameter - sum(gains[:i])  # i + T + T_i, where T_i is what is still wanted
            values.append(((found - 1) / found) ** 2)
    return values


def by_hand(measure: tuple[str, float], gains: list[float], costs: list[float]) -> dict[str, Any]:
    n = len(gains)
    c = continuation(measure, gains)
    v = [math.prod(c[:i]) for i in range(n + 1)]  # V_1 = 1 to V_{n+1}
    w = [v[i] / sum(v[:n]) for i in range(n)]
    last = [v[i] - v[i + 1] for i in range(n)]
    return {
        "EU": sum(w[i] * gains[i] for i in range(n)),
        "ETU": sum(last[i] * sum(gains[: i + 1]) for i in range(n)),
        "EC": sum(w[i] * costs[i] for i in range(n)),
        "ETC": sum(last[i] * sum(costs[: i + 1]) for i in range(n)),
        "C": c,
        "W": w,
        "L": last,
    }


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-12, abs=1e-15), name


@measures
def test_the_list_as_it_is(measure: tuple[str, float]) -> None:
    assert_same(cwl_values(measure, GAINS, COSTS), by_hand(measure, GAINS, COSTS))
    assert_same(cwl_values(measure, GAINS[:1], COSTS[:1]), by_hand(measure, GAINS[:1], COSTS[:1]))


@measures
def test_positions_beyond_the_list_hold_no_gain_and_cost_one(measure: tuple[str, float]) -> None:
    longer = by_hand(measure, GAINS + [0.0] * 34, COSTS + [1.0] * 34)
    assert_same(cwl_values(measure, GAINS, COSTS, positions=40), longer)
    assert_same(cwl_values(measure, GAINS, COSTS, positions=3), by_hand(measure, GAINS[:3], COSTS[:3]))


@measures
def test_people_who_would_go_on_are_counted_nowhere(measure: tuple[str, float]) -> None:
    """With them, who have seen it all, totals are what people who end with the list find: sum V g."""
    found = cwl_values(measure, GAINS, COSTS)
    v = [math.prod(found["C"][:i]) for i in range(len(GAINS) + 1)]
    assert sum(found["L"]) == pytest.approx(1 - v[-1])
    assert sum(found["W"]) == pytest.approx(1)
    for total, mean, values in ("ETU", "EU", GAINS), ("ETC", "EC", COSTS):
        whole = sum(share * value for share, value in zip(v[:-1], values, strict=True))
        assert found[total] + v[-1] * sum(values) == pytest.approx(whole)
        assert found[mean] * sum(v[:-1]) == pytest.approx(whole)


def test_by_hand_on_two_items() -> None:
    """RBP(0.5): V = 1, 1/2, then 1/4 go on; W = 2/3, 1/3; L = 1/2, 1/4."""
    found = cwl_values(("RBP", 0.5), [1.0, 0.5], [1.0, 3.0])
    assert_same(
        found,
        {
            "EU": 2 / 3 + 0.5 / 3,
            "ETU": 0.5 * 1 + 0.25 * 1.5,
            "EC": 2 / 3 + 1,
            "ETC": 0.5 * 1 + 0.25 * 4,
            "C": [0.5, 0.5],
            "W": [2 / 3, 1 / 3],
            "L": [0.5, 0.25],
        },
    )


def test_inst_refuses_gains_beyond_one() -> None:
    with pytest.raises(ValueError, match="maximum allowable gain"):
        cwl_values(("INST", 1.0), [2.0], [1.0])
