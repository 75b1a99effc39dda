"""Judging real systems: tables of pages, and sample data to try them on (``carouseval.evaluation.sample``)."""
