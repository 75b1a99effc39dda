"""Spark: for layouts that live in a lake and are too many for one machine."""
