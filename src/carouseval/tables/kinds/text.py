"""Text with a header and one line per record: CSV and TSV."""

import contextlib
import csv
import itertools
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from carouseval.errors import DataError
from carouseval.tables.columns import separator_words
from carouseval.tables.kinds.contract import FileKind, open_text, text_lines

csv.field_size_limit(max(csv.field_size_limit(), 1 << 30))  # Polars has no limit; files that it reads are read here too


class SeparatedText(FileKind):
    """A header and one line per record; fields that contain the separator are quoted."""

    spark_format: ClassVar[str] = "csv"

    def scan(self, path: Path) -> pl.LazyFrame:
        return pl.scan_csv(path, separator=self.separator, infer_schema=False, glob=False)

    def scan_cloud(self, url: str, options: dict[str, Any] | None = None) -> pl.LazyFrame:
        return pl.scan_csv(url, separator=self.separator, infer_schema=False, storage_options=options)

    def where(self, path: Path, record: int) -> str:
        """The line a record starts on. Not simply ``record + 2``: quoted text may run over several lines."""
        with contextlib.suppress(csv.Error, UnicodeDecodeError, OSError):
            for line, _ in itertools.islice(self.lines(path), record + 1, None):
                return f"line {line}"
        return f"line {record + 2}"

    def diagnose(self, path: Path) -> str:
        width = 0
        try:
            for line, fields in self.lines(path):
                width = width or len(fields)
                if fields and len(fields) > width:
                    remedy = f"Quote text that contains {separator_words(self.separator)}."
                    return f"line {line} has {len(fields)} fields, but the header has {width}. {remedy}"
        except csv.Error as error:
            return f"{error}. Close the quotes, or export the file again."
        return ""

    def check_contents(self, path: Path, columns: Collection[str]) -> None:
        """Refuse quotes that are not closed, or closed too early, which Polars takes for text without an error."""
        other = f'[^"{self.separator}\ufeff]'
        suspects = (
            pl.col("line").str.count_matches('"', literal=True).sum() % 2 == 1,
            pl.col("line").str.contains(f'{other}"{other}|\\x00').any(),
        )
        lines = text_lines(path).select(pl.any_horizontal(*suspects))
        if lines.collect(engine="streaming").item():  # a full parse decides
            try:
                for _ in self.lines(path):
                    pass
            except UnicodeDecodeError:
                raise DataError("it is not in UTF-8. Save it as UTF-8.") from None
            except csv.Error as error:
                raise DataError(f"{error}. Close the quotes, or export the file again.") from None

    def check_lines(self, path: Path, fields: int) -> None:
        if not self._suspect_lines(path, fields):
            return
        # quoted text may run over several lines and mislead that count; a full parse decides
        remedy = "Is the file complete? Download or export it again."
        try:
            for line, values in self.lines(path):
                if values and len(values) != fields:
                    problem = "cut off" if len(values) < fields else "too long"
                    counts = f"it has {len(values)} fields, the header has {fields}"
                    raise DataError(f"{path}: line {line} is {problem}: {counts}. {remedy}")
        except (csv.Error, UnicodeDecodeError, OSError) as error:
            raise DataError(f"{path} cannot be parsed as {self.name}: {error}. {remedy}") from None

    def _suspect_lines(self, path: Path, fields: int) -> bool:
        """Whether some line, by itself, has more or fewer separators than the header, or an open quote."""
        lines = pl.scan_csv(
            path, has_header=False, schema={"line": pl.String}, separator="\x1f", quote_char=None, glob=False
        )
        unquoted = pl.col("line").str.replace_all('"[^"]*"', "")
        separators = unquoted.str.count_matches(self.separator, literal=True)
        is_blank = (separators == 0) & (unquoted.str.strip_chars() == "")
        wrong_count = ~is_blank & (separators != fields - 1)
        open_quote = unquoted.str.contains('["\r]')
        return not lines.filter(wrong_count | open_quote).head(1).collect(engine="streaming").is_empty()

    def lines(self, path: Path) -> Iterator[tuple[int, list[str]]]:
        """Every record from the header on, with the line it starts on; blank lines above the header are skipped."""
        with open_text(path) as file:
            reader = csv.reader(file, delimiter=self.separator, strict=True)
            start, in_table = 1, False
            try:
                for fields in reader:
                    in_table = in_table or bool(fields)
                    if in_table:
                        yield start, fields
                    start = reader.line_num + 1
            except csv.Error as error:
                raise csv.Error(f"line {start}: {error}") from None


CSV = SeparatedText("CSV", (".csv",), separator=",")
TSV = SeparatedText("TSV", (".tsv",), separator="\t")
