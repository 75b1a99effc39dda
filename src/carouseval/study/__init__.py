"""The paper, end to end: its simulation and its tables (``carouseval.reproduce``)."""

from carouseval.study.simulation import Study, simulate

__all__ = ["Study", "simulate"]
