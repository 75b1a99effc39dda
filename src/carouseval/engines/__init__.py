"""Where users are scored: what an engine is, and the evaluation and comparison that run on any."""
