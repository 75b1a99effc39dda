"""Where the package's source names settings in messages, found in the syntax of its files."""

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import carouseval as cv
from carouseval.cli.wording import _COMMANDS, _OTHER_NAMES, _options
from carouseval.messages import Expression, function, setting

SOURCE = Path(cv.__file__).parent
CHECKS = ("require_int", "require_float", "require_choice", "subject", "check_name")  # whose first argument is a name

# what messages name that no command has an option for, and why
PYTHON_ONLY = {
    "categories_per_item": "cv.sample",
    "collect": "cv.spark.compare; commands on Spark never collect",
    "comparisons": "cv.users_needed",
    "cutoff": "cv.metric; on the command line it is part of a metric's name",
    "deviation": "cv.users_needed",
    "effect": "cv.users_needed and Comparison.plan; on the command line --plan checks it first",
    "explain": "cv.compare, for reports; carouseval report asks for it itself",
    "explanations": "Comparison.report",
    "group": "cv.attention; an argument of carouseval fit",
    "ideal": "arrays; on the command line it follows from the metric",
    "ids": "cv.sample",
    "judgments": "cv.sample",
    "lines_at_once": "cv.spark",
    "missing": "cv.sample",
    "power": "cv.users_needed and Comparison.plan",
    "samples": "cv.attention.bootstrap",
    "scroll_cost": "cv.behavior",
    "swipe_cost": "cv.behavior",
    "theme": "charts; --chart-theme checks it first",
}


@dataclass(frozen=True)
class Called:
    """A call of a helper that makes a field; ``name`` is None where it is not known before the code runs."""

    path: str
    line: int
    helper: str
    name: str | None
    source: str  # of the call

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"

    def sample(self) -> str:
        """The field, with samples of what is only known when the code runs."""
        if self.helper not in ("setting", "function"):
            return setting(self.name or "rows")
        call: Any = ast.parse(self.source, mode="eval").body
        call.args[0] = _sampled(call.args[0], ast.Constant("rows"))
        grid = ast.parse("Expression('cv.Grid(rows=2, cols=3)')", mode="eval").body
        value = grid if self.name == "grid" else ast.Constant("it's {} %s")
        call.args[1:] = [_sampled(argument, value) for argument in call.args[1:]]
        for keyword in call.keywords:
            keyword.value = _sampled(keyword.value, ast.Constant("the words"))
        text: str = eval(ast.unparse(call), {"setting": setting, "function": function, "Expression": Expression})
        return text

    def options(self) -> dict[str, str | None]:
        """How each command begins the field: with its option, or None if it has none."""
        name = self.name or "rows"
        if name in _COMMANDS:
            return dict.fromkeys(commands(), f"carouseval {_COMMANDS[name]}")
        if "_from_layouts(" in self.source:  # what is made in Python
            return dict.fromkeys(commands())
        other = re.search(r"of='(\w+)'", self.source)  # of another function
        name = _OTHER_NAMES.get(name, name)
        return {command: _options(other[1] if other else command).get(name) for command in commands()}


@functools.cache
def commands() -> list[str]:
    """The names of all commands."""
    import typer

    from carouseval.cli.app import app

    group: Any = typer.main.get_command(app)
    return list(group.commands)


def options_of_all_commands() -> set[str]:
    """What settings may be called that some command has an option for."""
    return {name for command in commands() for name in _options(command)} | _OTHER_NAMES.keys()


def names_of_settings() -> set[str]:
    """Whatever messages name, or could."""
    return options_of_all_commands() | {call.name for call in calls() if call.name is not None}


@functools.cache
def calls() -> list[Called]:
    """All calls of the helpers, and of checks whose argument is the name of a setting alone."""
    found = []
    for path, tree in _trees():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
                continue
            helper, first = node.func.id, node.args[0]
            name = str(first.value) if isinstance(first, ast.Constant) else None
            if helper in ("setting", "function") or (helper in CHECKS and name is not None and name.isidentifier()):
                found.append(Called(path, node.lineno, helper, name, ast.unparse(node)))
    return found


def strings() -> Iterator[tuple[str, str]]:
    """The files of the package, without the command line, and their strings that are no documentation."""
    for path, tree in _trees():
        nodes = list(ast.walk(tree))
        other: set[ast.AST] = set()  # documentation, and parts of f-strings
        for node in nodes:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                other.add(node.value)
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Doc":
                other.update(ast.walk(node))
            elif isinstance(node, ast.JoinedStr):
                other.update(node.values)
        for node in nodes:
            if isinstance(node, ast.JoinedStr):
                values = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
                yield path, "".join(map(str, values))
            elif node not in other and isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path, node.value


@functools.cache
def _trees() -> list[tuple[str, ast.Module]]:
    paths = (path for path in sorted(SOURCE.rglob("*.py")) if SOURCE / "cli" not in path.parents)
    return [(path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def _sampled(argument: ast.expr, sample: ast.expr) -> ast.expr:
    """What is written out, or the sample in place of anything else."""
    names = {node.id for node in ast.walk(argument) if isinstance(node, ast.Name)}
    return argument if names <= {"Expression"} else sample
