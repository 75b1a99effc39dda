"""Which results have reports, and how they are written; to add one, write a function and name it here."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from carouseval.errors import ParameterError
from carouseval.evaluation.explanation import PAGES_SHOWN
from carouseval.show.report.closing_sections import citation_section, origin_section
from carouseval.show.report.document import Detail, Document, Paragraph, Section, without_figures
from carouseval.show.report.page import page_html
from carouseval.tables.writing import REPORTS, check_outputs, write_atomically
from carouseval.validation import did_you_mean

MOST_BYTES = 3_000_000
# what is drawn, from most to least, until the report is small enough
DETAILS = (
    Detail(PAGES_SHOWN, True, True),
    Detail(PAGES_SHOWN, False, True),
    Detail(1, False, True),
    Detail(0, False, False),
)
_NO_CHARTS = "Charts are left out, so that the file stays small enough to be mailed; their descriptions replace them."
# by the name of the result's class: the module in carouseval, and the function of (result, detail, parts)
DOCUMENTS = {
    "Evaluation": ("show.report.evaluation", "evaluation_document"),
    "Comparison": ("show.report.comparison", "comparison_document"),
    "Explanation": ("show.report.explanation", "explanation_document"),
    "Sensitivity": ("show.report.comparison", "sensitivity_document"),
    "Reproduction": ("paper.reproduction_report", "reproduction_document"),
}


def document_function(result: type) -> Callable[..., Document]:
    """The function that makes the document of a result."""
    module, name = next(DOCUMENTS[base.__name__] for base in result.__mro__ if base.__name__ in DOCUMENTS)
    function: Callable[..., Document] = getattr(import_module(f"carouseval.{module}"), name)
    return function


def write_report(result: object, path: str | Path, title: str | None, parts: Mapping[str, Any]) -> Path:
    """Write a report, completely or not at all."""
    check_outputs(path, kinds=REPORTS)
    return write_atomically(path, report_html(result, title, parts))


def report_html(result: object, title: str | None, parts: Mapping[str, Any]) -> str:
    """The report of a result, with as much detail as fits."""
    document_of = document_function(type(result))
    parameters = [name for name in inspect.signature(document_of).parameters if name not in ("result", "detail")]
    takes = [*parameters, "notices", "command"]
    for name in parts:
        if name not in takes:
            hint = did_you_mean(name, takes)
            raise ParameterError(f"a report of {type(result).__name__} takes {', '.join(takes)}, found {name!r}.{hint}")
    options = {name: value for name, value in parts.items() if name in parameters}
    for detail in DETAILS:
        document = document_of(result, detail, **options)
        document = replace(document, title=title or document.title)
        whole = _with_origin(document, list(parts.get("notices", ())), parts.get("command", ""))
        html = page_html(whole)
        if len(html.encode()) < MOST_BYTES:
            return html
    return page_html(without_figures(whole).with_caution(_NO_CHARTS))


def _with_origin(document: Document, notices: Sequence[str], command: str) -> Document:
    """A document with the warnings, how to cite and how it was made."""
    sections = [*document.sections, citation_section(), origin_section(command)]
    if not notices:
        return replace(document, sections=sections)
    caution = f"There {'was 1 warning' if len(notices) == 1 else f'were {len(notices):,} warnings'}: see Warnings."
    warnings = Section("Warnings", [Paragraph(notice) for notice in notices])
    return replace(document.with_caution(caution), sections=[warnings, *sections])
