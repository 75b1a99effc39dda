"""Where users are scored: the same evaluations, comparisons and explanations wherever tables are.

``contract.py`` says what an engine is; ``local.py`` is one of frames in memory, ``spark/`` one of Spark. On any of them
``evaluate_on``, ``compare_on`` and ``explain_on`` (in the files of these names) check the columns of all tables
(``given_tables.py``), find what must be known of all users (``all_users.py``), and have the engine score users, some at
a time. What a pass over users reports adds up (``reports.py``); their pages stay on the engine (``kept_pages.py``).
"""
