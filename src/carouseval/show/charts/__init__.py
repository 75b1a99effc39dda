"""Charts of every result: each is described once with Altair and drawn as HTML, SVG, PNG or PDF.

They need the packages of ``carouseval[show]``; ``kinds.py`` alone does not.
"""
