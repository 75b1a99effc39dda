"""Results as text in the terminal; needs no extra packages."""
