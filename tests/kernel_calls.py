"""Calls of kernels as evaluations make them, recorded and replayed: ``make sanitize`` watches the kernels alone.

Evaluations themselves would spend nearly all of their time, many times slower, in Python and Polars.
"""

import copy
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import carouseval as cv
from carouseval import _native
from tests.depth import seeds

SEEDS = seeds(300, 1500)  # of generated tables, each evaluated under settings of its own
PLAIN = (np.ndarray, int, float, bool, str, type(None), _native.Gain, _native.Ideal, _native.Repeats)


@dataclass(frozen=True)
class Call:
    """A call that gave a result."""

    kernel: str
    arguments: tuple[Any, ...]
    result: Any


def is_plain(value: Any) -> bool:
    """Whether a value can be kept: arrays, numbers and choices can; streams are used up, and tables of ids change."""
    return all(map(is_plain, value)) if isinstance(value, tuple | list) else isinstance(value, PLAIN)


@contextmanager
def recorder(calls: list[Call]) -> Iterator[None]:
    """Adds what kernels are asked and answer."""

    def recorded(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            kept = copy.deepcopy(arguments) if is_plain(arguments) else None
            result = kernel(*arguments)
            if kept is not None and is_plain(result):
                calls.append(Call(name, kept, copy.deepcopy(result)))
            return result

        return call

    kernels = {
        name: recorded(name, value)
        for name, value in vars(_native).items()
        if type(value).__name__ == "nb_func" and "instruction_set" not in name
    }
    with ExitStack() as patches:
        for name, kernel in kernels.items():
            patches.enter_context(mock.patch.object(_native, name, kernel))
        yield


def record(path: Path) -> None:
    """Evaluate generated systems, and keep the calls of kernels that they lead to."""
    from tests.evaluation.test_evaluate_oracle import arguments_of, evaluations_of
    from tests.evaluation.tiny_systems import tiny_systems

    calls: list[Call] = []
    with warnings.catch_warnings(), recorder(calls):
        warnings.simplefilter("ignore")
        for seed in SEEDS:
            try:
                evaluations_of(arguments_of(tiny_systems(seed)))
            except cv.CarousevalError:
                continue  # what is refused has been read, at least
    path.write_bytes(pickle.dumps(calls))
    kernels = sorted({call.kernel for call in calls})
    print(f"{len(calls):,} calls of {len(kernels)} kernels recorded: {', '.join(kernels)}")


def replay(path: Path) -> int:
    """Repeat the calls, whose results must be the same to the bit; how many there were."""
    calls: list[Call] = pickle.loads(path.read_bytes())
    for call in calls:
        np.testing.assert_equal(getattr(_native, call.kernel)(*call.arguments), call.result, call.kernel)
    return len(calls)


if __name__ == "__main__":
    from tests.kernel_calls import record as record_calls  # so that pickles name this module, not __main__

    record_calls(Path(sys.argv[1]))
