"""A process pool as an engine: what it takes to add one."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import cloudpickle

from carouseval.engines.local import LocalEngine, Made


@dataclass(frozen=True)
class PoolEngine(LocalEngine):
    """Frames whose users are scored by processes."""

    pool: ProcessPoolExecutor | None = None
    place = "the pool"

    def each(self, call: Callable[[Any], Made], parts: Sequence[Any]) -> Iterable[Made]:
        """What a function makes of each part, in the processes of the pool."""
        assert self.pool is not None
        return self.pool.map(partial(_unpickled, cloudpickle.dumps(call)), parts)


def _unpickled(pickled: bytes, part: Any) -> Made:
    call: Callable[[Any], Made] = cloudpickle.loads(pickled)
    return call(part)
