"""Users with many rated films of several genres each, drawn to the statistics of MovieLens 100K (GroupLens).

``genres.json`` counts how many of its films have which set of genres, how many ratings each user gave, and how often
each grade was given; ratings themselves are not included. https://grouplens.org/datasets/movielens/100k/
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

_STATISTICS = json.loads((Path(__file__).parent / "genres.json").read_text(encoding="utf-8"))
_FEWEST_RATINGS = min(_STATISTICS["user_sizes"])
_MOST_GENRES = max(len(genres.split("|")) for genres in _STATISTICS["sets"])


Problem = tuple[Any, Any, Any, Any, Any, Any, Any, Any]  # the arguments of the kernel up to the weights


@dataclass(frozen=True)
class GenreUser:
    """The relevant films of one user: their gains, and the genres of each by number."""

    gains: Any
    genres: list[list[int]]
    genre_count: int  # of the catalogue

    def problem(self, rows: int, cols: int) -> Problem:
        """The best page of the user: every genre is a carousel that may fill a row."""
        return (
            self.gains,
            np.array([0, len(self.gains)]),
            np.concatenate(self.genres).astype(np.int32),
            np.concatenate([[0], np.cumsum([len(genres) for genres in self.genres])]),
            np.full(self.genre_count, cols, np.int32),
            np.full(self.genre_count, -1, np.int32),
            np.array([0, self.genre_count]),
            np.array([min(self.genre_count, rows)], np.int32),
        )


def genre_users(
    seed: int,
    *,
    users: int | None = None,
    held_out: bool = False,
    grades: str = "graded",
    most_genres: int = _MOST_GENRES,
    most_ratings: int | None = None,
) -> list[GenreUser]:
    """Draw users with tastes: each has a weight per genre and rates films by popularity times the mean weight.

    ``held_out`` keeps a fifth of a user's ratings. ``grades`` are "graded" (1 to 5 stars), "half" (half stars from 0.5)
    or "binary" (relevant from four stars on). ``most_genres`` of a film and ``most_ratings`` of a user scale the
    statistics. ``users`` draws some of the 943. Users without a relevant film are left out.
    """
    rng = np.random.default_rng(seed)
    sizes = np.array(_STATISTICS["user_sizes"])
    films, genre_count = _films(rng, most_genres, most_ratings)
    if most_ratings is not None:  # the fewest stay, the most become most_ratings, in between on a logarithmic scale
        power = np.log(most_ratings / _FEWEST_RATINGS) / np.log(sizes.max() / _FEWEST_RATINGS)
        sizes = np.rint(_FEWEST_RATINGS * (sizes / _FEWEST_RATINGS) ** power).astype(int)
    if users is not None:
        sizes = rng.choice(sizes, users, replace=False)
    membership = np.zeros((len(films), genre_count))
    for film, genres in enumerate(films):
        membership[film, genres] = 1 / len(genres)
    popularity = rng.permutation(1 / (10 + np.arange(len(films))))
    drawn = []
    for size in sizes:
        taste = rng.lognormal(0, rng.uniform(1.2, 1.8), genre_count)
        # the smallest of exponential variables by rate: drawn without replacement
        rated = np.argsort(rng.exponential(size=len(films)) / (popularity * (membership @ taste)))[:size]
        if held_out:
            rated = rng.permutation(rated)[: max(1, len(rated) // 5)]
        gains = _gains(rng, len(rated), grades)
        relevant = gains > 0
        if relevant.any():
            drawn.append(GenreUser(gains[relevant], [films[film] for film in rated[relevant]], genre_count))
    return drawn


def _films(rng: Generator, most_genres: int, most_ratings: int | None) -> tuple[list[list[int]], int]:
    """The genres of each film, and the number of genres."""
    names = sorted({name for genres in _STATISTICS["sets"] for name in genres.split("|")})
    films = [
        [names.index(name) for name in genres.split("|")]
        for genres, count in _STATISTICS["sets"].items()
        for _ in range(count)
    ]
    if most_ratings is not None and most_ratings > len(films):  # a larger catalogue of the same kinds
        films = [films[at] for at in rng.integers(len(films), size=4 * most_ratings)]
    if most_genres > _MOST_GENRES:  # one film in ten has up to so many, those of other films added to its own
        for at in np.flatnonzero(rng.random(len(films)) < 0.1):
            wanted, genres = int(rng.integers(2, most_genres + 1)), [*films[at]]
            while len(genres) < wanted:
                genres += [genre for genre in films[rng.integers(len(films))] if genre not in genres]
            films[at] = genres[: max(wanted, len(films[at]))]
    return [
        sorted(genres if len(genres) <= most_genres else rng.choice(genres, most_genres, replace=False).tolist())
        for genres in films
    ], len(names)


def _gains(rng: Generator, count: int, grades: str) -> Any:
    share = np.array([*_STATISTICS["grades"].values()], float)
    stars = rng.choice(np.array([*_STATISTICS["grades"]], float), count, p=share / share.sum())
    if grades == "binary":
        return (stars >= 4).astype(float)
    if grades == "half":
        stars -= 0.5 * (rng.random(count) < 0.5)
    return np.exp2(stars) - 1
