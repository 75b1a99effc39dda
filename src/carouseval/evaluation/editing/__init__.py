"""Single pages that are changed and scored again, with the numbers that ``evaluate`` and ``explain`` give them."""
