"""The paper, end to end: its simulation and its tables."""
