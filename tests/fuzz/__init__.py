"""Random, damaged and hostile input: a right result or an error of ours, never anything else.

Each kind of input has a module that draws a case from a random generator (``draw``) and checks it (``check``, which
returns how it ended, in a few words, and raises a :class:`ViolationError`). ``python -m tests.fuzz`` runs them.
"""

KINDS = {
    "tables": "layouts, judgments, items and carousels in any form, right or wrong, through evaluate, compare, ...",
    "files": "damaged files of every format",
    "arrays": "arrays and lists of any shape, type and content as relevances",
    "strings": "any text as a name, a condition, a grid or an option",
}


class ViolationError(AssertionError):
    """What a case did that none may."""
