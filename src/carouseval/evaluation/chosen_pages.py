"""Which pages an explanation holds: the worst, a typical one, and those that are named."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from carouseval.errors import ParameterError
from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.explanation import PAGES_SHOWN, is_id, worst_pages
from carouseval.evaluation.outcomes import SCORED
from carouseval.evaluation.page_view import ids_text
from carouseval.messages import setting

PageId = tuple[Any, ...]


@dataclass(frozen=True)
class ChosenPages:
    """The ids of the pages that an explanation holds: of the user and, if pages have ids, of the page."""

    worst: tuple[PageId, ...] = ()
    typical: PageId | None = None
    named: tuple[PageId, ...] = ()

    @classmethod
    def of(cls, scored: pl.DataFrame, metric: str, named: Sequence[Any] = ()) -> "ChosenPages":
        """Choose by the scores of all pages; those that show something relevant are more instructive."""
        columns = {
            Columns.SCORE: metric,
            Columns.DCG: of_metric(Columns.METRIC_DCG, metric),
            Columns.IDEAL: of_metric(Columns.METRIC_IDEAL, metric),
        }
        keys = [key for key in (Columns.USER, Columns.PAGE) if key in scored.columns]
        weight = [Columns.WEIGHT] if Columns.WEIGHT in scored.columns else []
        pages = scored.filter(pl.col(Columns.STATUS) == SCORED).select(
            *keys, *weight, *(pl.col(theirs).alias(ours) for ours, theirs in columns.items())
        )
        by_score = worst_pages(pages)
        relevant = by_score.filter(pl.col(Columns.DCG) > 0)
        ids = (by_score if relevant.is_empty() else relevant).select(keys).rows()
        typical = ids[(len(ids) - 1) // 2] if ids else None
        return cls(
            tuple(ids[:PAGES_SHOWN]), typical, tuple(dict.fromkeys(_named(one, pages.select(keys)) for one in named))
        )

    def __iter__(self) -> Iterator[PageId]:
        """Each of them once."""
        yield from dict.fromkeys([*self.worst, *([] if self.typical is None else [self.typical]), *self.named])


def _named(wanted: Any, pages: pl.DataFrame) -> PageId:
    """The ids of a page that is named by its user or, in a tuple, by its user and its own id."""
    ids = wanted if isinstance(wanted, tuple) else (wanted,)
    if len(ids) > len(pages.columns):
        raise ParameterError(f"{setting('pages')}: layouts have no column page_id, found {wanted!r}.")
    for page in pages.sort(pages.columns).iter_rows():
        if all(is_id(one, own) for one, own in zip(ids, page, strict=False)):
            return page
    raise ParameterError(
        f"{setting('pages')}: there is no page of {ids_text(*ids, *[None] * (2 - len(ids)))} that was scored."
    )
