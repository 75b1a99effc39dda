"""The figures of the paper, and those beyond it."""
