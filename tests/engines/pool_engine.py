"""A process pool as an engine: what it takes to add one whose tables are in memory."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from carouseval.engines.local import LocalEngine, Made


@dataclass(frozen=True, kw_only=True)
class PoolEngine(LocalEngine):
    """Frames whose users are scored by the processes of a pool."""

    pool: Executor
    place = "the pool"

    def each(self, call: Callable[[Any], Made], parts: Sequence[Any]) -> Iterable[Made]:
        """What a function makes of each part, in the processes of the pool."""
        return self.pool.map(call, parts)
