"""Results as one HTML file that people read, print and mail around."""
