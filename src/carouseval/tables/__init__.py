"""The one way tables are read, checked and written."""
