"""Packages that only some of the work needs: what to install where they are missing, or too old."""

import importlib.util
import re

from carouseval.errors import CarousevalError

_EXTRAS = {
    "show": ("altair", "jinja2", "starlette", "uvicorn", "vl_convert"),
    "spark": ("pyspark", "pandas", "pyarrow"),
}
SPARK = "4.0"  # the oldest Spark, as pyproject.toml has it: results come by DataFrame.toArrow, which is new there


def require_extra(extra: str, purpose: str) -> None:
    """Refuse work for which the packages of an extra are missing, with the line that installs them."""
    missing = [name for name in _EXTRAS[extra] if importlib.util.find_spec(name) is None]
    if missing:
        *others, last = missing
        packages = f"{', '.join(others)} and {last}, which are" if others else f"{last}, which is"
        raise CarousevalError(f'{purpose} needs {packages} not installed. Run: pip install "carouseval[{extra}]"')


def require_pyspark(purpose: str, server: str | None = None) -> None:
    """Refuse a PySpark, or a ``server`` of Spark Connect or a cluster, that is too old."""
    import pyspark

    if _is_older(pyspark.__version__):
        raise CarousevalError(
            f"{purpose} needs PySpark {SPARK} or newer, found {pyspark.__version__}. "
            'Run: pip install --upgrade "carouseval[spark]"'
        )
    if server is not None and _is_older(server):
        raise CarousevalError(f"{purpose} needs Spark {SPARK} or newer, found {server}. Use a newer cluster.")


def _is_older(version: str) -> bool:
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and list(map(int, numbers.groups())) < list(map(int, SPARK.split(".")))
