"""The output formats of five recommender libraries, each turned into pages and evaluated in two calls.

Run it with ``python examples/from_scores.py``. The scores are synthetic: what users like plus noise, with more noise
from one library to the next.
"""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import carouseval as cv

USERS, TOP = 300, 200
data = cv.sample(USERS, systems=["new"], ids="int")


def top_items(noise: float) -> tuple[pl.Series, np.ndarray, np.ndarray]:
    """Users, and the ids and scores of each user's top items: arrays of shape (users, TOP)."""
    rng = np.random.default_rng(int(noise * 10))
    users, items = data.judgments["user_id"].unique().sort(), data.items["item_id"].unique().sort()
    preference = rng.normal(0, noise, (len(users), len(items)))
    user, item = users.search_sorted(data.judgments["user_id"]), items.search_sorted(data.judgments["item_id"])
    preference[user.to_numpy(), item.to_numpy()] += data.judgments["relevance"].to_numpy()
    best = np.argsort(-preference, axis=1)[:, :TOP]
    return users, items.to_numpy()[best], np.take_along_axis(preference, best, axis=1)


def table(noise: float) -> pl.DataFrame:
    """The same as a table with one line per user and item."""
    users, ids, scores = top_items(noise)
    rank = np.tile(np.arange(1, TOP + 1), len(users))
    return pl.DataFrame(
        {"user_id": users.to_numpy().repeat(TOP), "item_id": ids.ravel(), "score": scores.ravel(), "rank": rank}
    )


def lenskit() -> float:
    """LensKit: ``recs.to_df()`` has user_id, item_id, score and rank; before 2025 the ids were user and item."""
    recs = table(1.0).rename({"user_id": "user", "item_id": "item"})
    pages = cv.pages_from_scores(recs, data.items, columns={"scores": {"user_id": "user", "item_id": "item"}})
    return cv.evaluate(pages, data.judgments, data.items).mean["N2DCG_cat"]


def recbole() -> float:
    """RecBole: ``full_sort_topk`` returns scores and inner ids, which ``dataset.id2token`` turns into text ids."""
    users, ids, scores = top_items(1.5)
    tokens = cv.scores_from_arrays(users.cast(pl.String).to_numpy(), ids.astype(str), scores)
    pages = cv.pages_from_scores(tokens.cast({"user_id": pl.Int64, "item_id": pl.Int64}), data.items)
    return cv.evaluate(pages, data.judgments, data.items).mean["N2DCG_cat"]


def rectools() -> float:
    """RecTools: ``model.recommend`` returns user_id, item_id, score and rank."""
    pages = cv.pages_from_scores(table(2.0), data.items)
    return cv.evaluate(pages, data.judgments, data.items).mean["N2DCG_cat"]


def implicit() -> float:
    """implicit: ``model.recommend(users, user_items, N=200)`` returns arrays of ids and scores."""
    users, ids, scores = top_items(2.5)
    pages = cv.pages_from_scores(cv.scores_from_arrays(users, ids, scores.astype(np.float32)), data.items)
    return cv.evaluate(pages, data.judgments, data.items).mean["N2DCG_cat"]


def trec() -> float:
    """A TREC run file: ``user Q0 item rank score tag``."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "system.run"
        lines = [f"{user} Q0 {item} {rank} {score} mine" for user, item, score, rank in table(3.0).iter_rows()]
        run.write_text("\n".join(lines))
        pages = cv.pages_from_scores(cv.read_run(run), data.items)
    return cv.evaluate(pages, data.judgments, data.items).mean["N2DCG_cat"]


if __name__ == "__main__":
    print(f"{'library':<12}{'N2DCG_cat':>10}")
    for system in (lenskit, recbole, rectools, implicit, trec):
        print(f"{system.__name__:<12}{system():>10.4f}")
