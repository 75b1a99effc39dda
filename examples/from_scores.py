"""One recommender's scores in the output formats of five libraries, each turned into pages and evaluated in two calls.

Run it with ``python examples/from_scores.py``. None of the libraries is used: the scores are made up here, what users
like plus noise, and written in each library's format. So all formats must lead to the same pages and the same score,
which says nothing about the libraries.
"""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import carouseval as cv

USERS, TOP, NOISE = 300, 200, 1.5
data = cv.sample(USERS, systems=["new"], ids="int")
user_ids = data.judgments["user_id"].unique().sort().to_numpy()
item_ids = data.items["item_id"].unique().sort().to_numpy()


def recommend(rows: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
    """The best items of some users, as implicit returns them: columns of its matrix, not ids, and scores."""
    scores = np.random.default_rng(0).normal(0, NOISE, (len(user_ids), len(item_ids))).astype(np.float32)
    row, column = (
        np.searchsorted(user_ids, data.judgments["user_id"]),
        np.searchsorted(item_ids, data.judgments["item_id"]),
    )
    scores[row, column] += data.judgments["relevance"].to_numpy()
    columns = np.argsort(-scores[rows], axis=1)[:, :top].astype(np.int32)
    return columns, np.take_along_axis(scores[rows], columns, axis=1)


def recommendations() -> pl.DataFrame:
    """The same as a table with one line per user and item, as LensKit and RecTools return it."""
    columns, scores = recommend(np.arange(len(user_ids)), TOP)
    rank = np.tile(np.arange(1, TOP + 1), len(user_ids))
    return pl.DataFrame(
        {"user_id": user_ids.repeat(TOP), "item_id": item_ids[columns].ravel(), "score": scores.ravel(), "rank": rank}
    )


def lenskit() -> pl.DataFrame:
    """LensKit: ``recs.to_df()`` has user_id, item_id, score and rank; before 2025 the ids were user and item."""
    recs = recommendations().rename({"user_id": "user", "item_id": "item"})
    return cv.pages_from_scores(recs, data.items, columns={"scores": {"user_id": "user", "item_id": "item"}})


def recbole() -> pl.DataFrame:
    """RecBole: ``full_sort_topk`` returns scores and inner ids, which ``dataset.id2token`` turns into text ids."""
    columns, scores = recommend(np.arange(len(user_ids)), TOP)
    tokens = cv.scores_from_arrays(user_ids.astype(str), item_ids.astype(str)[columns], scores)
    return cv.pages_from_scores(tokens.cast({"user_id": pl.Int64, "item_id": pl.Int64}), data.items)


def rectools() -> pl.DataFrame:
    """RecTools: ``model.recommend`` returns user_id, item_id, score and rank."""
    return cv.pages_from_scores(recommendations(), data.items)


def implicit() -> pl.DataFrame:
    """implicit: ``model.recommend(rows, matrix[rows], N=200)`` returns columns of the matrix, to be mapped to ids."""
    rows = np.arange(len(user_ids))
    columns, scores = recommend(rows, TOP)
    return cv.pages_from_scores(cv.scores_from_arrays(user_ids[rows], item_ids[columns], scores), data.items)


def trec() -> pl.DataFrame:
    """A TREC run file: ``user Q0 item rank score tag``."""
    lines = [f"{user} Q0 {item} {rank} {score} mine" for user, item, score, rank in recommendations().iter_rows()]
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "system.run"
        run.write_text("\n".join(lines))
        return cv.pages_from_scores(cv.read_run(run), data.items)


if __name__ == "__main__":
    print("The same made-up scores in five formats:\n")
    print(f"{'format of':<12}{'N2DCG_cat':>10}")
    for pages in (lenskit, recbole, rectools, implicit, trec):
        score = cv.evaluate(pages(), data.judgments, data.items).mean["N2DCG_cat"]
        print(f"{pages.__name__:<12}{score:>10.4f}")
