"""Reading reports back."""

import re
from html.parser import HTMLParser

_VOID = {"meta", "br", "hr", "img", "input", "link"}


class ReportPage(HTMLParser):
    """A page: its tags in order, whether they are balanced, its headings, texts and tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[tuple[int, str]] = []
        self.texts: list[str] = []
        self.tables: list[list[list[str]]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append((int(tag[1]), ""))
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._open and re.fullmatch("h[1-6]", self._open[-1]):
            level, heading = self.headings[-1]
            self.headings[-1] = (level, heading + data)
        if {"td", "th"} & set(self._open):
            self.tables[-1][-1][-1] += data

    @property
    def text(self) -> str:
        """All that is read, without styles."""
        return " ".join(" ".join(self.texts).split())

    def attributes(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def table(self, *header: str) -> list[list[str]]:
        """The lines of the first table that has these columns."""
        return next(rows[1:] for rows in self.tables if set(header) <= set(rows[0]))
