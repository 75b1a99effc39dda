"""Logs of events, as they may come."""

import math
import random
from typing import Any

NAMES = ("play", "add_to_list", "thumbs_down", "impression")
Log = list[dict[str, Any]]


def random_log(rng: random.Random, lines: int) -> Log:
    """A log with ties of time, values on thresholds, and values that mean nothing."""
    values = [0.0, 0.1, 0.25, 1.0, 9.9, 10.0, 45.0, 1 / 12, 44.999999, 100.0, 2000.0, -1.0, None, math.nan, math.inf]
    return [
        {
            "user_id": rng.randrange(4),
            "item_id": rng.choice("abc"),
            "page_id": rng.randrange(2),
            "event": rng.choices(NAMES, (8, 1, 1, 1))[0],
            "minutes": rng.choice(values),
            "time": rng.randrange(5),
        }
        for _ in range(lines)
    ]
