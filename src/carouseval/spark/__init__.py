"""The same evaluation on Spark: for layouts that live in a lake and are too many for one machine."""

from carouseval.extras import require_extra

require_extra("spark", "carouseval.spark")

from carouseval.spark.compare import compare  # noqa: E402
from carouseval.spark.evaluate import evaluate  # noqa: E402
from carouseval.spark.examination import examination_counts  # noqa: E402
from carouseval.spark.results import SparkComparison, SparkEvaluation  # noqa: E402

__all__ = ["SparkComparison", "SparkEvaluation", "compare", "evaluate", "examination_counts"]
