"""Users with many rated films of several genres each, drawn to the statistics of MovieLens 100K (genres.json)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

_STATISTICS = json.loads((Path(__file__).parent / "genres.json").read_text())


@dataclass(frozen=True)
class GenreUsers:
    """The films that users rated: gains, and the genres of each film by number."""

    gains: list[Any]  # for each user, an array of gains above 0
    genres: list[list[list[int]]]  # for each user, the genres of each of these films
    names: list[str]


def genre_users(
    seed: int,
    *,
    users: int | None = None,
    held_out: bool = False,
    grades: str = "graded",
    most_genres: int = 6,
    most_ratings: int | None = None,
    sigma: float = 1.5,
) -> GenreUsers:
    """Draw users with tastes: each has a weight for every genre, lognormal, and rates films by popularity times weight.

    ``held_out`` keeps a fifth of a user's ratings. ``grades`` are "graded" (2^grade - 1), "half" (half stars) or "binary"
    (1 from four stars on). Up to ``most_genres`` of a film, and up to ``most_ratings`` of a user, scale the statistics up.
    """
    rng = np.random.default_rng(seed)
    films, names = _catalogue(rng, most_genres, most_ratings)
    membership = np.zeros((len(films), len(names)), bool)
    for film, genres in enumerate(films):
        membership[film, genres] = True
    popularity = rng.permutation(1.0 / (10.0 + np.arange(len(films))))
    sizes = np.array(_STATISTICS["user_sizes"])
    if most_ratings is not None:
        sizes = np.unique(np.round(sizes.astype(float) ** (np.log(most_ratings) / np.log(sizes.max()))).astype(int))
        sizes = np.maximum(20, rng.choice(sizes, len(_STATISTICS["user_sizes"])))
    if users is not None:
        sizes = rng.choice(sizes, users, replace=False)
    gains, chosen_genres = [], []
    for size in sizes:
        taste = rng.lognormal(0.0, sigma, len(names))
        worth = popularity * (membership @ taste) / membership.sum(axis=1)
        rated = np.argsort(rng.exponential(size=len(films)) / worth)[: min(size, len(films))]
        if held_out:
            rated = rng.permutation(rated)[: max(1, len(rated) // 5)]
        gain = _gains(rng, len(rated), grades)
        relevant = gain > 0
        gains.append(gain[relevant])
        chosen_genres.append([films[film] for film in rated[relevant]])
    return GenreUsers(gains, chosen_genres, names)


def _catalogue(rng: Generator, most_genres: int, most_ratings: int | None) -> tuple[list[list[int]], list[str]]:
    names = sorted({name for genres in _STATISTICS["sets"] for name in genres.split("|")})
    number = {name: at for at, name in enumerate(names)}
    films = [
        sorted(number[name] for name in genres.split("|"))
        for genres, count in _STATISTICS["sets"].items()
        for _ in range(count)
    ]
    if most_ratings is not None and most_ratings > len(films):  # a larger catalogue of the same kinds
        films = [films[at] for at in rng.integers(len(films), size=4 * most_ratings)]
    if most_genres > 6:  # the sets of two films together, for one film in ten
        for at in np.flatnonzero(rng.random(len(films)) < 0.1):
            films[at] = sorted({*films[at], *films[rng.integers(len(films))]})[:most_genres]
    return films, names


def _gains(rng: Generator, count: int, grades: str) -> Any:
    stars = np.array([float(star) for star in _STATISTICS["grades"]])
    share = np.array([*_STATISTICS["grades"].values()], float)
    star = rng.choice(stars, count, p=share / share.sum())
    if grades == "binary":
        return (star >= 4).astype(float)
    if grades == "half":
        star = np.maximum(0.5, star - 0.5 * (rng.random(count) < 0.5))
    return np.exp2(star) - 1


def candidate_sets(data: GenreUsers, cols: int, rows: int) -> tuple[Any, ...]:
    """The arguments of the kernel up to the weights."""
    count, categories = len(data.gains), len(data.names)
    films = [genres for user in data.genres for genres in user]
    return (
        np.concatenate(data.gains),
        np.concatenate([[0], np.cumsum([len(gains) for gains in data.gains])]),
        np.concatenate([np.asarray(genres, np.int32) for genres in films]),
        np.concatenate([[0], np.cumsum([len(genres) for genres in films])]),
        np.full(count * categories, cols, np.int32),
        np.full(count * categories, -1, np.int32),
        np.arange(count + 1) * categories,
        np.full(count, min(categories, rows), np.int32),
    )
