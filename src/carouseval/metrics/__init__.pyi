from carouseval.metrics.metric_base import Metric as Metric
from carouseval.metrics.metric_base import SystemMetric as SystemMetric
from carouseval.metrics.metric_base import register_metric as register_metric
from carouseval.metrics.pages import Pages as Pages
