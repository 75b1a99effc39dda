"""The report of an evaluation, and what it shows in plain words."""

import math
from typing import Any

from carouseval.comparison.crossed_effects import TIE
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.mean_estimates import FEW_USERS
from carouseval.evaluation.page_table import NO_PAGE
from carouseval.evaluation.result_columns import MEANS
from carouseval.evaluation.result_table import ShownColumn, shown_table
from carouseval.evaluation.results import Evaluation
from carouseval.show.charts.drawing import count_text
from carouseval.show.report.cautions import evaluation_cautions, is_unmatched
from carouseval.show.report.closing_sections import settings_section
from carouseval.show.report.document import Block, Detail, Document, Figure, Point, Section, Summary, Tile, table_block
from carouseval.show.report.explanation import fixes, loss_blocks, page_blocks, score_note

_MOST_METRICS = 6


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


def evaluation_summary(result: Evaluation, explanation: Explanation | None) -> Summary:
    """How well the pages score, in which segments, and what to fix."""
    metric, mean = next(iter(result.mean.items()))
    cautions = evaluation_cautions(result)
    if is_unmatched(result):
        return Summary("Nothing can be concluded: the pages do not match the judgments", [], (), cautions, "care")
    if math.isnan(mean):
        return Summary("No user was scored", [], (), cautions, "care")
    if metric in result.config["ideals"]:
        headline = f"These pages score {100 * mean:.1f} of 100 by {metric}, where 100 is the score of ideal pages"
    else:
        headline = f"The {'' if metric in result.figures else 'mean '}{metric} of these pages is {mean:.4f}"
    score = [_score(result, name) for name in list(result.mean)[:_MOST_METRICS]]
    few = [result.few_users_note] if _users(result) < FEW_USERS and result.few_users_note else []
    points = [
        Point("Score", [*score, *few]),
        Point("What to fix", fixes({"": explanation}) if explanation else []),
        Point("Segments", _segments(result, not few)),
    ]
    tiles = [Tile(name, f"{value:.4f}", _interval(result, name)) for name, value in list(result.mean.items())[:3]]
    missing = result.counts["missing"]
    pages = Tile("pages", f"{result.counts['pages']:,}", f"{missing:,} more are missing" if missing else "")
    tiles += [Tile("users", f"{_users(result):,}", "scored"), pages]
    stated = [point for point in points if point.sentences]
    return Summary(headline, stated, tiles, cautions, "care" if cautions else "clear")


def _users(result: Evaluation) -> int:
    """How many users the first mean is over."""
    return int(result.per_user[result.metrics[0]].count()) if result.metrics else result.counts["users"]


def _score(result: Evaluation, metric: str) -> str:
    if metric in result.figures:
        return f"{metric}: {result.mean[metric]:.4f}, of all pages together."
    interval, users = _interval(result, metric), result.per_user[metric].count()
    if not interval:
        return f"{metric}: {result.mean[metric]:.4f} on {count_text(users, 'user')}, too few for an interval."
    about = f"on average over {count_text(users, 'user')} (95% confidence interval {interval})"
    return f"{metric}: {result.mean[metric]:.4f} {about}."


def _interval(result: Evaluation, metric: str) -> str:
    low, high = result.intervals.get(metric, (math.nan, math.nan))
    return "" if math.isnan(low) else f"{low:.4f} to {high:.4f}"


def _segments(result: Evaluation, with_note: bool) -> list[str]:
    """The segments with the highest and the lowest mean."""
    if not result.by or not result.metrics:
        return []
    metric, by = result.metrics[0], " and ".join(result.by)
    rows = [
        row
        for row in result.segments.iter_rows(named=True)
        if not math.isnan(row[metric]) and any(row[name] != NO_PAGE for name in result.by)  # no segment of pages
    ]
    if len(rows) < 2:
        return []
    rows.sort(key=lambda row: -row[metric])
    if rows[0][metric] - rows[-1][metric] <= TIE:
        return [f"The {len(rows):,} segments by {by} have the same mean, {rows[0][metric]:.4f}."]

    def named(end: dict[str, Any]) -> str:
        name = f"{' / '.join(str(end[column]) for column in result.by)} ({end[metric]:.4f}, "
        others = len([row for row in rows if abs(row[metric] - end[metric]) <= TIE]) - 1
        more = f" and {others:,} more" if others else ""
        return f"{name}{count_text(end['users'], 'user')}){more}"

    return [
        f"Of {len(rows):,} segments by {by}, the highest mean is that of {named(rows[0])}, the lowest that of "
        f"{named(rows[-1])}. Whether segments differ was not tested.",
        *([result.few_users_note] if with_note and result.few_users_note else []),
    ]
