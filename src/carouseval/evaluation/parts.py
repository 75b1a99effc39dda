"""Some users scored apart from the others, wherever they are; what is known of them adds up to an evaluation."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from carouseval.evaluation.columns import Columns
from carouseval.evaluation.evaluate import decide_outcomes, score_pages
from carouseval.evaluation.per_page import per_page
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources, OtherUsers
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.results import Evaluation, pages_of, scores_and_weights, users_by_segment
from carouseval.evaluation.score_sums import ScoreSums
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.tally import Tally

Segment = tuple[str, ...]


@dataclass(frozen=True)
class SegmentSums:
    """The users and pages of a segment that any metric scores, and the sums of every metric."""

    users: int
    pages: int
    metrics: Mapping[str, ScoreSums]

    def __add__(self, other: "SegmentSums") -> "SegmentSums":
        metrics = {name: sums + other.metrics[name] for name, sums in self.metrics.items()}
        return SegmentSums(self.users + other.users, self.pages + other.pages, metrics)


@dataclass(frozen=True)
class PartSums:
    """What some users add to an evaluation: counts, means, and what is said of ideals and of the whole system."""

    tally: Tally
    segments: Mapping[Segment, SegmentSums]
    shown: pl.DataFrame  # what pages show of carousels
    fillings: pl.DataFrame  # how many ideals hold how many items of a category
    ideals: int
    figures: Mapping[str, pl.Series]  # of each figure of the system: the items in view on any page
    items: pl.Series  # the same of the catalogue: items of single users or, where nothing has a category, on any page

    def __add__(self, other: "PartSums") -> "PartSums":
        segments = dict(self.segments)
        for key, sums in other.segments.items():
            segments[key] = segments[key] + sums if key in segments else sums
        fillings = pl.concat([self.fillings, other.fillings])
        return PartSums(
            tally=self.tally + other.tally,
            segments=segments,
            shown=longest_shown(pl.concat([self.shown, other.shown])),
            fillings=fillings.group_by("grid", "category", "items", maintain_order=True).agg(pl.col("ideals").sum()),
            ideals=self.ideals + other.ideals,
            figures={name: _distinct(items, other.figures[name]) for name, items in self.figures.items()},
            items=_distinct(self.items, other.items),
        )


def longest_shown(shown: pl.DataFrame) -> pl.DataFrame:
    """The longest rows of each category and grid."""
    return shown.group_by("category", "grid", maintain_order=True).agg(pl.col("longest", "longest_pinned").max())


def _distinct(*items: pl.Series) -> pl.Series:
    return pl.concat(items).unique().sort()


@contextlib.contextmanager
def open_part(
    tables: Mapping[str, pl.DataFrame], items: pl.DataFrame | None, plan: ScoringPlan, others: OtherUsers
) -> Iterator[Inputs]:
    """The pages of some users, for use in a ``with`` block.

    ``tables`` have the users' layouts, judgments and own lines of items and carousels; ``items`` and the plan's
    carousels hold for everyone.
    """
    with part_sources(tables, items, plan, others).open(tables["layouts"]) as inputs:
        yield inputs


def part_sources(
    tables: Mapping[str, pl.DataFrame], items: pl.DataFrame | None, plan: ScoringPlan, others: OtherUsers
) -> JudgedSources:
    """What the pages of some users are judged by."""
    own, shared = tables.get("carousels"), plan.settings.carousels
    if own is not None and isinstance(shared, pl.DataFrame):
        carousels = pl.concat([shared, own], how="diagonal_relaxed")
        plan = replace(plan, settings=replace(plan.settings, carousels=carousels))
    parts = [part for part in (items, tables.get("items")) if part is not None]
    members = pl.concat(parts, how="diagonal_relaxed") if parts else None
    return JudgedSources(tables["judgments"], members, plan, needs_judgments=False, others=others)


def score_part(
    inputs: Inputs, ideals: PageIdeals | None = None, on_batch: Callable[[PageBatch], None] | None = None
) -> tuple[pl.DataFrame, PartSums]:
    """Score the pages of some users: the table of pages, and what adds up.

    Systems share ``ideals``. ``on_batch`` is called with every scored batch.
    """
    plan = inputs.plan
    ideals = PageIdeals(inputs.judged, plan, inputs.shown) if ideals is None else ideals
    outcomes = decide_outcomes(inputs)
    scores = score_pages(inputs, None, ideals, on_batch)
    pages = per_page(inputs, outcomes, scores, all_columns=True)
    names, by, members = inputs.codebook.items.values(), plan.settings.by_columns, inputs.judged.membership
    assert inputs.shown is not None
    common = pl.col("category").is_in(_common_categories(inputs).implode())
    return pages, PartSums(
        tally=Tally.of(inputs, outcomes, scores),
        segments=_segments(Evaluation(tuple(plan.metrics), pages, {}, {}, by)),
        shown=inputs.shown.of_several_users(inputs.codebook).filter(common),
        fillings=ideals.fillings(inputs.codebook.categories.values()).filter(common),
        ideals=ideals.solved,
        figures={name: names.gather(codes) for name, codes in scores.items.items()},
        items=names.gather(scores.shown if members is None or not plan.figures else members.own_items),
    )


def _common_categories(inputs: Inputs) -> pl.Series:
    """The categories that may be several users': what single users have is as much as there are users."""
    members, shown, names = inputs.judged.membership, inputs.shown, inputs.codebook.categories.values()
    is_common = np.zeros(len(names), bool)
    if members is not None and shown is not None:
        is_common[: len(shown.owner)] = shown.several_users & ~shown.has_one_user
        is_common[: len(members.sizes)] |= members.sizes > 0
        is_common[inputs.judged.carousels.known_to_all] = True
    return names.filter(pl.Series(is_common))


def _segments(result: Evaluation) -> dict[Segment, SegmentSums]:
    segments = {}
    for key, users in users_by_segment(result).items():
        metrics = {
            name: ScoreSums.of(*scores_and_weights(users, name), int(users[pages_of(name)].sum()))
            for name in result.metrics
        }
        segments[key] = SegmentSums(users.height, int(users[Columns.PAGES].sum()), metrics)
    return segments
