"""What a page is worth: grids, discounts, gains, ideals and the metrics built from them."""
