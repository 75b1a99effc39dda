"""What pages show, category by category: a look at pages before they are evaluated."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from carouseval.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class PageSummary(Result):
    """How many pages there are, and on which row each category stands."""

    pages: int
    lines: int
    rows: float  # mean per page
    items: float  # mean per page
    layouts: pl.DataFrame  # the pages
    categories: pl.DataFrame  # category, pages (that show it), mean_row, mean_items
    config: dict[str, Any]

    @classmethod
    def of(cls, layouts: pl.DataFrame, config: dict[str, Any]) -> "PageSummary":
        """Summarise layouts with a column ``category`` and one page per user."""
        carousels = layouts.group_by("user_id", "row").agg(pl.col("category").first(), items=pl.len())
        categories = carousels.group_by("category").agg(
            pages=pl.len(), mean_row=pl.col("row").mean(), mean_items=pl.col("items").mean()
        )
        pages = layouts["user_id"].n_unique()
        return cls(
            pages=pages,
            layouts=layouts,
            lines=layouts.height,
            rows=carousels.height / max(1, pages),
            items=layouts.height / max(1, pages),
            categories=categories.sort(-pl.col("pages").cast(pl.Int64), "mean_row", "category"),
            config=config,
        )

    @property
    def heading(self) -> str:
        pages = f"{self.pages:,} page{'s' * (self.pages != 1)}"
        return f"{pages}, {self.rows:.1f} rows and {self.items:.1f} items on average"

    def to_frame(self) -> pl.DataFrame:
        """One line per category: the pages that show it, its mean row and its mean number of items there."""
        return self.categories

    def to_dict(self) -> dict[str, Any]:
        content = {"pages": self.pages, "lines": self.lines, "rows": self.rows, "items": self.items}
        return content | {"categories": self.categories.to_dicts(), "config": self.config}
