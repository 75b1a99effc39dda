"""Values of any kind as plain ones that two processes can compare: lists, dicts, text, integers, floats to the bit."""

import dataclasses
import datetime
import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import PurePath
from typing import Any

import numpy as np
import polars as pl

NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?")
_FLOAT = re.compile(r"=(nan|-?inf|-?0x[01]\.?[0-9a-f]*p[-+]\d+)")


def plain(value: Any) -> Any:
    """A value for JSON; equal ones are the same value of the same type."""
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, str):  # such as a Message
        return "".join(value)
    if isinstance(value, float):
        return ("" if type(value) is float else f"{type(value).__name__} ") + float_text(value)
    if isinstance(value, pl.DataFrame):
        return {"columns": {name: plain(value[name]) for name in value.columns}}
    if isinstance(value, pl.Series):
        return {"type": str(value.dtype), "values": plain(value.to_list())}
    if isinstance(value, np.ndarray):
        return {"type": str(value.dtype), "shape": list(value.shape), "values": plain(value.reshape(-1).tolist())}
    if isinstance(value, Mapping):
        return {name if isinstance(name, str) else repr(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(one) for one in value), key=str)
    if isinstance(value, np.generic | datetime.date | datetime.time | datetime.timedelta | Decimal | PurePath):
        return f"{type(value).__name__} {value}"
    if isinstance(value, bytes):
        return f"bytes {value!r}"
    if callable(value) and hasattr(value, "__name__"):
        return f"function {value.__name__}"
    if dataclasses.is_dataclass(value) and type(value).__str__ is object.__str__:
        return {name: plain(one) for name, one in fields_of(value).items()}
    return f"{type(value).__name__} {value}"


def fields_of(value: Any) -> dict[str, Any]:
    """All that an object says without being called: its fields and properties, but for private ones."""
    found = {}
    for name in dir(value):
        if not name.startswith("_") and name not in vars(type(value)).get("__slots__", ()):
            try:
                found[name] = getattr(value, name)
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
    return {name: one for name, one in found.items() if not callable(one)}


def float_text(value: float) -> str:
    """A float to the bit."""
    return f"={float(value).hex()}" if math.isfinite(value) else f"={float(value)}"


def float_of(text: Any) -> float | None:
    """The float of a plain value; None if it is none."""
    if not isinstance(text, str) or not (found := _FLOAT.fullmatch(text)):
        return None
    return float.fromhex(found[1])


def plain_json(text: str) -> Any:
    """A JSON text as its layout, in which every number is ``#``, and its content."""
    return {"layout": NUMBER.sub("#", text), "content": plain(json.loads(text))}
