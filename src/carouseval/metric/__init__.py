"""What a page is worth: grids, discounts, gains, ideals and the metrics built from them.

``carouseval.metric`` is this package and, called, the function that makes a metric from its name:
``cv.metric("N2DCG_cat@3x5")``; see :func:`carouseval.metric.names.metric`.
"""

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **named: Any) -> Any:
        from carouseval.metric.names import metric

        return metric(*arguments, **named)


sys.modules[__name__].__class__ = _CallablePackage
