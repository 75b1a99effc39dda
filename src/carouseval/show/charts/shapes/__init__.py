"""Shapes that charts of several results have: bars and waterfalls, histograms, intervals, and heat maps of screens."""
