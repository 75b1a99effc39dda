"""Making pages: from scores, greedily, what a carousel adds; sample data to try things on."""
