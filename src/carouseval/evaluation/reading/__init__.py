"""From tables to arrays: every table opened, checked and packed."""
