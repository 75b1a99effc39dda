"""Pictures, not numbers: draws results, computes none."""
