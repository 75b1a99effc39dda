"""Shapes that charts of several results have: bars, histograms, intervals, waterfalls, and heat maps of screens."""
