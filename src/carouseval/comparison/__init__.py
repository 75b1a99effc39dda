"""Which system is better, and whether the difference is statistically significant."""
