"""Charts of what carousels add, of built pages, and of judgments made of events."""

from carouseval.building.event_judgments import EventJudgments
from carouseval.building.greedy_page import BuiltPages
from carouseval.building.marginal_gain import MarginalGains
from carouseval.building.page_summary import PageSummary
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import count_text
from carouseval.show.charts.shapes.bars import Bar, Step, bar_chart, waterfall
from carouseval.show.charts.shapes.intervals import IntervalLine, interval_chart

_MOST_LINES = 40


def carousel_gains(result: MarginalGains) -> Chart:
    """What each candidate adds to the mean score, with its interval, largest first."""
    frame = result.to_frame()
    lines = [
        IntervalLine(str(row["carousel"]), row["gain"], row["low"], row["high"], signed=True)
        for row in frame.head(_MOST_LINES).iter_rows(named=True)
    ]
    left_out = f" The first {_MOST_LINES} of {frame.height:,}." if frame.height > _MOST_LINES else ""
    notes = (
        f"{result.metric} of the pages: {result.score:.4f}. Each candidate is added alone; 95% intervals over "
        f"{count_text(len(result.users), 'user')}.{left_out}"
    )
    numbers = "; ".join(f"{line.name} {line.text}" for line in lines[:10])
    alternative = f"{result.heading}. Gains with 95% intervals: {numbers}."
    return interval_chart({"": lines}, "What each carousel adds", notes, alternative, reference=0.0)


def built_rows(result: BuiltPages) -> Chart:
    """What each row of the built page adds to the mean score, from the top."""
    steps: list[Step] = []
    for row in result.to_frame().iter_rows(named=True):
        steps.append(Step(f"{row['row']}. {row['carousel']}", steps[-1].end if steps else 0.0, row["score"]))
    steps.append(Step("score of the page", 0.0, result.score, is_total=True))
    numbers = ", ".join(f"{step.name} {step.label(4)}" for step in steps[:-1][:10])
    notes = f"{result.heading}; no order of as many carousels scores above {result.bound:.4f}."
    title = "What each row adds to the score"
    return waterfall(steps, title, notes, f"{notes} Rows from the top: {numbers}.", f"mean {result.metric}", places=4)


def shown_categories(result: PageSummary) -> Chart:
    """On how many pages each category is shown, and where."""
    frame = result.categories
    bars = [
        Bar(
            str(row["category"]),
            row["pages"],
            f"{row['pages'] / max(1, result.pages):.0%}; row {row['mean_row']:.1f}, {row['mean_items']:.1f} items",
        )
        for row in frame.head(_MOST_LINES).iter_rows(named=True)
    ]
    left_out = f" The first {_MOST_LINES} of {frame.height:,} categories." if frame.height > _MOST_LINES else ""
    notes = f"{result.heading}. Beside the bars: share of pages, mean row and items.{left_out}"
    numbers = "; ".join(f"{bar.name} on {bar.text}" for bar in bars[:10])
    return bar_chart(bars, "Categories that pages show", notes, f"{result.heading}: {numbers}.", "pages")


def judgment_grades(result: EventJudgments) -> Chart:
    """How many judgments have which relevance."""
    bars = [
        Bar(
            f"from {row['from']:g}" if row["relevance"] is None else f"{row['relevance']:g}",
            row["pairs"],
            f"{row['pairs']:,} ({row['share']:.1%})",
            marked=bool(row["relevance"] or row["from"]),
        )
        for row in result.table.iter_rows(named=True)
    ]
    numbers = "; ".join(f"relevance {bar.name} {bar.text}" for bar in bars[:10])
    notes = f"{result.heading}. Grey: not relevant."
    return bar_chart(bars, "Judgments by relevance", notes, f"{result.heading}: {numbers}.", "judgments")
