"""Settings for functions that do not take all of them yet."""  # integrator: drop this file and pass **settings

import inspect
from collections.abc import Callable, Mapping
from typing import Any

_POLICIES = ("duplicates", "missing_pages", "no_relevant", "unjudged", "invalid", "memory")


def known(function: Callable[..., Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a function takes."""
    parameters = inspect.signature(function).parameters
    taken = {*parameters, *(_POLICIES if "policies" in parameters else ())}
    one = {"metric": settings["metrics"][0]} if "metric" in taken else {}
    return one | {name: value for name, value in settings.items() if name in taken}
