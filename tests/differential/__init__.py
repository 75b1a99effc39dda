"""One version of the package against another: the same calls on random tables, and the same bits but for a list.

``python -m tests.differential OLD NEW`` runs cases in a process of each version, whose results arrive as plain values
(:mod:`tests.differential.plain`), and prints each kind of difference with its first example. The modules of
:mod:`tests.differential.calls` draw the cases, with the generators of other tests, and call public names only, so that
a version may be laid out in any way. Differences that are meant are in :mod:`tests.differential.expected`.
"""

# kinds of cases: how many of each are run for 100 of the quickest kind, and what they are
KINDS = {
    "arrays": (100, "array functions and metrics of arrays in any form"),
    "texts": (30, "metrics, discounts and grids by any text; discounts in files"),
    "evaluate": (
        30,
        "evaluate and Evaluator, every setting, tables in any form, right or wrong; all that results show",
    ),
    "compare": (20, "compare, with one to three systems, several runs, and every test"),
    "explain": (20, "explain, with the pages of some users"),
    "check": (20, "check"),
    "building": (20, "build_pages, what_adds, pages_from_scores, judgments_from_events, items_of, ..."),
    "files": (20, "damaged files of every format, through evaluate and check"),
    "sensitivity": (5, "sensitivity"),
    "show": (1, "charts and reports of all kinds of results"),
    "commands": (5, "the command line: what it prints, its status, and the files it writes"),
    "spark": (1, "spark.evaluate and spark.compare, with collect(); only with --spark"),
}
