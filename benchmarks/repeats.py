"""Displayed ideals of pages that repeat films in several genre carousels, where the first copy counts.

.venv/bin/python benchmarks/repeats.py [--users 100]

Prints how many ideals are proven and the CPU time on one thread, as a ratio to the same evaluation where every copy
counts, which needs no search.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
import polars as pl

import carouseval as cv
from genre_users import GenreUser, genre_users

COLS = 15
SETS: dict[str, dict[str, Any]] = {
    "graded": {"seed": 1},
    "binary": {"seed": 2, "grades": "binary"},
    "graded, few relevant films": {"seed": 3, "few": True},
    "held-out graded": {"seed": 4, "held_out": True},
    "half stars, ten genres, 18 rows": {"seed": 5, "rows": 18, "grades": "half", "most_genres": 10},
    "binary, ten genres, 18 rows": {"seed": 6, "rows": 18, "grades": "binary", "most_genres": 10},
}


def page_lines(number: int, user: GenreUser, rows: int, few: bool, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """The genres with most films the user likes, in any order, each with popular ones of these among other films."""
    films_of: dict[int, list[int]] = {}
    for film, genres in enumerate(user.genres):
        for genre in genres:
            films_of.setdefault(genre, []).append(film)
    popularity = rng.random(len(user.gains)) + (0.0 if few else 0.15) * np.log2(user.gains + 1)
    genres_shown = sorted(films_of, key=lambda genre: -len(films_of[genre]))[:rows]
    rng.shuffle(genres_shown)
    lines: list[tuple[int, ...]] = []
    for row, genre in enumerate(genres_shown, 1):
        most = int(rng.integers(1, COLS // 2)) if few else COLS
        films = sorted(films_of[genre], key=lambda film: -popularity[film])[:most]
        others = [-(100 * row + at) for at in range(COLS - len(films))]
        cells = rng.permutation([*films, *others]).tolist()
        lines += [(number, row, col, film, genre) for col, film in enumerate(cells, 1)]
    return lines


def tables(users: int | None, seed: int, rows: int = 10, few: bool = False, **options: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    layouts, judgments = [], []
    for number, user in enumerate(genre_users(seed, users=users, **options)):
        layouts += page_lines(number, user, rows, few, rng)
        judgments += [(number, film, float(np.log2(gain + 1))) for film, gain in enumerate(user.gains)]
    names = ["user_id", "row", "col", "item_id", "category"]
    return (
        pl.DataFrame(layouts, schema=names, orient="row"),
        pl.DataFrame(judgments, schema=["user_id", "item_id", "relevance"], orient="row"),
    )


def repeated_share(layouts: pl.DataFrame) -> float:
    """The share of the relevant films of pages that more than one row shows."""
    counts = layouts.filter(pl.col("item_id") >= 0).group_by("user_id", "item_id").len()
    return counts.filter(pl.col("len") > 1).height / counts.height


def measure(name: str, users: int | None, options: dict[str, Any]) -> None:
    layouts, judgments = tables(users, **options)
    seconds, result = {}, None
    for duplicates in ("every", "first"):
        start = time.process_time()
        result = cv.evaluate(
            layouts, judgments, grid=cv.Grid(options.get("rows", 10), COLS), candidates="displayed",
            duplicates=duplicates, threads=1,
        )  # fmt: skip
        seconds[duplicates] = time.process_time() - start
    assert result is not None
    pages = result.per_page
    unproven = result.counts["bounded"]
    gaps = pages["N2DCG_cat.ideal"] / pages["N2DCG_cat.ideal_found"] - 1 if unproven else pl.Series([0.0])
    print(
        f"  {name:32} {pages.height:4} pages, {repeated_share(layouts):3.0%} repeated: {unproven:3} unproven (largest "
        f"gap {np.max(gaps):.1e}), {seconds['first']:5.2f} s, {seconds['first'] / seconds['every']:5.1f}x",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, help="users in each set (default: all 943)")
    options = parser.parse_args()
    warnings.simplefilter("ignore", cv.DataWarning)  # the notice of what is unproven, which is printed here
    print('Displayed ideals with duplicates="first", CPU time and ratio to duplicates="every":')
    for name, kind in SETS.items():
        measure(name, options.users, kind)


if __name__ == "__main__":
    main()
