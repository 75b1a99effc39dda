"""The paper's figures, and those beyond it."""
