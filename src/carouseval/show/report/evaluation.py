"""The report of an evaluation."""

from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.result_columns import MEANS
from carouseval.evaluation.result_table import ShownColumn, shown_table
from carouseval.evaluation.results import Evaluation
from carouseval.show.charts.drawing import count_text
from carouseval.show.report.document import Block, Detail, Document, Figure, Section, table_block
from carouseval.show.report.evaluation_words import evaluation_summary
from carouseval.show.report.explanation import loss_blocks, page_blocks, score_note
from carouseval.show.report.settings_section import settings_section


def evaluation_document(result: Evaluation, detail: Detail, explanation: Explanation | None = None) -> Document:
    """Scores and their distribution, segments and, with an explanation, losses and the worst pages."""
    scores: list[Block] = [Figure(result.chart("means"))]
    scores += [Figure(result.chart("distribution"))] if result.metrics else []
    table = shown_table(result.to_frame(), MEANS, [*map(ShownColumn.of_name, result.by)])
    means = "Means over users, with 95% intervals (low, high)."
    scores.append(table_block(table, means, "to_frame() has all"))
    sections = [Section("Scores", scores)]
    if explanation is not None:
        mean = result.mean.get(explanation.metric, next(iter(result.mean.values())))
        losses = [*score_note(explanation, mean), *loss_blocks(explanation, detail)]
        sections.append(Section("What is lost", losses))
        sections.append(Section("Single pages", page_blocks(explanation, detail.pages, detail.posters)))
    sections.append(settings_section(result.config, {"": result.counts}, result.caption))
    pages, users = count_text(result.counts["pages"], "page"), count_text(result.counts["users"], "user")
    subtitle = f"{', '.join(result.mean)}; {pages} of {users}"
    return Document("Evaluation", subtitle, evaluation_summary(result, explanation), sections)
