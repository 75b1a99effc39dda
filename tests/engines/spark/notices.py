"""What a call returns, and what it warns of."""

import warnings
from collections.abc import Callable
from typing import Any

from carouseval.errors import DataWarning

ToSpark = Callable[[Any], Any]


def with_notices(run: Callable[[], Any]) -> tuple[Any, list[str]]:
    """The result of a function, and the notices that it gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        result = run()
    return result, [str(warning.message) for warning in caught if issubclass(warning.category, DataWarning)]
