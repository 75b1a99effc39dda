"""Arguments such as ``prod=a.parquet new=b.parquet judgments.parquet``."""

import re
from pathlib import Path

from carouseval.errors import ParseError

USAGE = "Write the systems first, then the judgments: prod=a.parquet new=b.parquet judgments.parquet."


def split_arguments(arguments: list[str], *, at_least: int = 2) -> tuple[dict[str, list[str]], str]:
    """The layouts of each system by its name, and the judgments.

    Judgments come last, or first where every other argument has a name. Without any names, systems are called after
    their files.
    """
    pairs = [_name_and_path(text) for text in arguments]
    unnamed = [position for position, (name, _) in enumerate(pairs) if not name]
    if not unnamed:
        raise ParseError(
            f"no judgments are given: every argument is NAME=LAYOUTS, the last {arguments[-1]!r}. {USAGE} If the path "
            "of the judgments contains '=', write ./ before it."
        )
    if len(unnamed) == len(pairs):
        pairs = [(Path(path).name.partition(".")[0], path) for _, path in pairs]
        names = [name for name, _ in pairs[:-1]]
        if len(set(names)) < len(names):
            raise ParseError(f"two systems are called {max(names, key=names.count)!r} after their files. {USAGE}")
        at = len(pairs) - 1
    elif len(unnamed) > 1 or unnamed[0] not in (0, len(pairs) - 1):
        text = arguments[next(position for position in unnamed if position < len(pairs) - 1)]
        raise ParseError(f"{text!r} is neither NAME=LAYOUTS nor the judgments. {USAGE}")
    else:
        at = unnamed[0]
    judgments = pairs.pop(at)[1]
    layouts: dict[str, list[str]] = {}
    for name, path in pairs:
        layouts.setdefault(name, []).append(path)
    if len(layouts) < at_least:
        raise ParseError(f"compare needs at least two systems, found {', '.join(layouts)}. {USAGE}")
    return layouts, judgments


def _name_and_path(text: str) -> tuple[str, str]:
    """``NAME=PATH`` in two; without a name, or with a folder before the first ``=``, all of it is a path."""
    match = re.fullmatch(r"([^=/\\]*)=(.*)", text, re.DOTALL)
    if match is None:
        return "", text
    name, path = match.groups()
    if not (name and path):
        raise ParseError(f"{text!r} cannot be parsed; write NAME=LAYOUTS, such as prod=layouts-prod.parquet.")
    if Path(text).exists() and not Path(path).exists():
        raise ParseError(
            f"{text!r} is a path that contains '='; write NAME={text} for layouts, ./{text} for judgments."
        )
    return name, path
