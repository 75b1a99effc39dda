"""Which system is better, and how sure one can be."""
