"""Judging real systems: from tables of layouts and judgments to scores, explanations and comparisons."""
