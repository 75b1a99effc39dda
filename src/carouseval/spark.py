"""The same evaluation on Spark: for layouts that live in a lake and are too many for one machine."""

from carouseval.extras import require_extra

require_extra("spark", "carouseval.spark")

from carouseval.engines.spark.compare import compare  # noqa: E402
from carouseval.engines.spark.evaluate import evaluate  # noqa: E402
from carouseval.engines.spark.examination import examination_counts  # noqa: E402
from carouseval.engines.spark.explain import explain  # noqa: E402

__all__ = ["compare", "evaluate", "examination_counts", "explain"]
