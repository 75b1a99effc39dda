"""Packages that only some of the work needs: what to install where they are missing."""

import importlib.util

from carouseval.errors import CarousevalError

_EXTRAS = {
    "show": ("altair", "jinja2", "starlette", "uvicorn", "vl_convert"),
    "spark": ("pyspark", "pandas", "pyarrow"),
}


def require_extra(extra: str, purpose: str) -> None:
    """Refuse work for which the packages of an extra are missing, with the line that installs them."""
    missing = [name for name in _EXTRAS[extra] if importlib.util.find_spec(name) is None]
    if missing:
        *others, last = missing
        packages = f"{', '.join(others)} and {last}, which are" if others else f"{last}, which is"
        raise CarousevalError(f'{purpose} needs {packages} not installed. Run: pip install "carouseval[{extra}]"')
