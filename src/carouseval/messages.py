"""Messages that name settings: ``permutations=600`` in Python is ``--permutations 600`` on the command line.

A message is written as an f-string, in which ``setting`` and ``function`` stand for what it names:

>>> message = Message(f"5 is too few. Set {setting('permutations')} to 600, or use {setting('test', 't')}.")
>>> message
"5 is too few. Set permutations to 600, or use test='t'."
>>> message.worded(lambda field: f"--{field.name}")
'5 is too few. Set --permutations to 600, or use --test.'

Where one message goes into another, ``nested`` keeps its fields: ``Message(f"prod: {nested(message)}")``.
"""

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

# Until a Message is made of it, text holds a field between characters that Unicode keeps for internal use. The key of
# this process comes first: whatever the text of data holds, it is no field.
_OPEN, _NEXT, _CLOSE = "\ufdd0", "\ufdd1", "\ufdd2"
_KEY = os.urandom(8).hex()
_RESERVED = re.compile("[\ufdd0-\ufdef]")
_FIELD = re.compile(f"{_OPEN}([0-9a-f]{{16}})((?:{_NEXT}[^\ufdd0-\ufdef]*){{3,}}){_CLOSE}")


class Field(NamedTuple):
    """What a message names: a setting or function by its ``name`` in Python, and as Python writes it (``text``).

    ``values`` are Python expressions: those of a setting that the message suggests or found. ``of`` is the function
    that has the setting, where it is another than the one that was called.
    """

    name: str
    text: str
    of: str = ""
    values: tuple[str, ...] = ()


_Part: TypeAlias = str | Field


class Expression(str):
    """What Python writes, such as ``cv.Grid(rows=2, cols=3)``, as the value of a setting."""

    def __repr__(self) -> str:
        return str(self)


class Message(str):
    """Text for Python, which remembers what it names, so that it can be worded for others."""

    parts: tuple[_Part, ...]

    def __new__(cls, text: str) -> "Message":
        """A message is itself; of other text, what ``setting`` and ``function`` put into it are the fields."""
        return text if isinstance(text, Message) else cls.of(_parts(text))

    @classmethod
    def of(cls, parts: Iterable[_Part]) -> "Message":
        """A message of text and fields."""
        parts = tuple(parts)
        message = super().__new__(cls, "".join(map(_text, parts)))
        message.parts = parts
        return message

    def __str__(self) -> "Message":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Message.of, (self.parts,)

    def worded(self, word: Callable[[Field], str]) -> str:
        """The text with other words for its fields."""
        return "".join(word(part) if isinstance(part, Field) else part for part in self.parts)

    def shortened(self, longest: int) -> "Message":
        """The message with at most so many characters, and an ellipsis where there were more."""
        if len(self) <= longest:
            return self
        parts: list[_Part] = []
        for part in self.parts:
            if len(_text(part)) > longest:
                parts.append(_text(part)[:longest])
                break
            parts.append(part)
            longest -= len(_text(part))
        return Message.of([*parts, " ..."])


def setting(name: str, *values: Any, text: str = "", of: str = "") -> str:
    """A setting, a parameter of public functions, for an f-string; several ``values`` are alternatives.

    ``text`` is what Python reads where that is not ``name`` or ``name=value``; ``of`` is the function that has the
    setting, if it is not the one that was called. A mapping that goes on has ``...`` among its keys.

    >>> Message(f"use {setting('missing_pages', 'skip', 'zero')} or {setting('columns', {'row': 'shelf', ...: ...})}")
    "use missing_pages='skip' or 'zero' or columns={'row': 'shelf', ...}"
    """
    expressions = [_expression(value) for value in values]
    return _marked(name, text or (f"{name}={' or '.join(expressions)}" if values else name), of, *expressions)


def function(name: str) -> str:
    """A public function for an f-string; it may be a command, too."""
    return _marked(name, name, "")


def nested(message: Any) -> str:
    """A message, an error or whatever else is worded by ``str``, for an f-string: its fields are kept."""
    text = str(message)
    if not isinstance(text, Message):
        return text
    return "".join(
        _marked(part.name, part.text, part.of, *part.values) if isinstance(part, Field) else part for part in text.parts
    )


def _expression(value: Any) -> str:
    if isinstance(value, Mapping):
        entries = ("..." if key is ... else f"{key!r}: {entry!r}" for key, entry in value.items())
        return f"{{{', '.join(entries)}}}"
    return repr(value)


@functools.lru_cache(1024)
def _marked(*texts: str) -> str:
    escaped = (_RESERVED.sub(lambda match: f"\\u{ord(match[0]):x}", text) for text in texts)
    return f"{_OPEN}{_KEY}{''.join(f'{_NEXT}{text}' for text in escaped)}{_CLOSE}"


def _parts(text: str) -> Iterable[_Part]:
    """Text and fields; a field of another process, where it was not made a Message, is what Python writes."""
    end = 0
    for match in _FIELD.finditer(text):
        _, name, written, of, *values = match[2].split(_NEXT)
        yield text[end : match.start()]
        yield Field(name, written, of, tuple(values)) if match[1] == _KEY else written
        end = match.end()
    yield text[end:]


def _text(part: _Part) -> str:
    return part.text if isinstance(part, Field) else part
