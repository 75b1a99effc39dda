"""The one way tables are read, checked and written.

``open_table`` (``opening.py``) opens a source (``sources.py``): a frame, Python's own values (``python_values.py``), or
files on disk (``files.py``) or in the cloud (``cloud.py``), of one of the kinds in ``kinds/``. It finds the columns
that are declared (``columns.py``), turns lists into lines (``lists.py``), and returns a ``Table`` (``table.py``), which
reads and checks the lines, and names that of every defect. ``writing.py`` writes files.
"""
