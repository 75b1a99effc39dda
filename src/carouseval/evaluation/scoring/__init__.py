"""From arrays to scores: batches of pages, their metrics and ideals, and the scoring step itself."""
