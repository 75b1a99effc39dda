"""From arrays to scores: batches of pages, what metrics see of them, their ideals, and the scoring step itself."""
