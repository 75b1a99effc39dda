"""Messages name settings for Python and, on the command line, as options of the command that runs."""

import itertools
import re
import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import carouseval as cv
from carouseval.cli.wording import with_options
from carouseval.evaluation.settings import Settings
from carouseval.messages import Expression, Message, setting
from carouseval.metrics.grid import TV, grid_text
from tests.command_line import run

LAYOUTS: dict[str, Any] = {
    "user_id": [1, 1, 2],
    "row": [1, 1, 1],
    "col": [1, 2, 1],
    "item_id": [1, 2, 3],
    "category": ["a", "a", "b"],
}
JUDGMENTS: dict[str, Any] = {"user_id": [1, 2], "item_id": [1, 3], "relevance": [1, 1]}
ITEMS = {"item_id": [1, 2, 3], "category": ["a", "a", "b"]}
SYSTEMS = {"prod": LAYOUTS, "new": LAYOUTS}
LOG = {"user_id": [1, 1], "item_id": ["a", "b"], "event": ["play", "thumbs_down"]}
FIT = cv.attention.FitData.read("bratislava")


def without(table: Mapping[str, Any], *columns: str) -> dict[str, Any]:
    return {name: values for name, values in table.items() if name not in columns}


def renamed(table: Mapping[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(name, name): values for name, values in table.items()}


def said(call: Callable[[], Any]) -> list[str]:
    """What a call raises or warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except cv.CarousevalError as error:
            return [str(error)]
    return [str(warning.message) for warning in caught]


# a command, a call that leads to the same message, and the message: «what Python reads → what the command prints»
MESSAGES: list[tuple[str, Callable[[], Any], str]] = [
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, missing_pages="none"),  # type: ignore[arg-type]
        "«missing_pages → --missing-pages» must be 'zero', 'skip' or 'error', found 'none'.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, memory=-1),
        "«memory → --memory» must be a finite number above 0 and at most 1e+09, found -1.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, split=""),
        "«split → --split» must be a separator such as '|', found ''.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, split="|"),
        "«split → --split»: there is no items table whose categories could be split. Give «items → "
        "--items», or leave out «split → --split».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, by="device"),
        "«by → --by»: there is no column 'device' in layouts or judgments.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, by="mean"),
        "«by='mean' → --by mean» is a column of the results; choose one that is the same on all lines "
        "of a page, such as device, or rename yours.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, weight="row"),
        "«weight → --weight» must be the name of a column of your own, found 'row'.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, capacity="all"),  # type: ignore[arg-type]
        "«capacity → --capacity» must be 'grid', 'shown' or a dict such as {'Top 10': 10}, found 'all'.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, capacity={"a": 0}),
        "«capacity → --capacity» of 'a' must be an integer of at least 1, found 0.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, metrics="N2DCG_kat"),
        "there is no metric 'N2DCG_kat'. Did you mean 'N2DCG_cat'? Write one of 2DCG, Coverage, DCG, "
        "Hit, N2DCG, N2DCG_cat, NDCG, Precision, RR, Recall, such as N2DCG_cat(d_rpd(mu=0.5))@3x5 or "
        "NDCG@10.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, metrics=["NDCG@10", "NDCG@10"]),
        "«metrics → --metrics»: NDCG@10 is listed twice.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, metrics="NDCG@x"),
        "«metric → --metrics» 'NDCG@x': NDCG takes a cutoff of one integer from 1 to 999,999,999, such "
        "as NDCG@10, found 'x'.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, columns={"usr": "x"}),
        "«columns → --columns»: there is no column 'usr'. Did you mean 'user_id'? Write our name first, "
        "then yours: «{'user_id': 'customer'} → --columns user_id=customer».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, columns={"user_id": "usr"}),
        "«columns → --columns»: there is no column 'usr' in any table. Did you mean 'user_id'?",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, grid={"tv": cv.Grid(2, 2)}),
        "«grid → --grid»: a dict of grids needs «by='column' → --by column», one column whose values are its keys.",
    ),
    (
        "score",
        lambda: cv.Grid(rows=0),
        "«Grid → --grid»: rows must be an integer of at least 1, found 0.",
    ),
    (
        "score",
        lambda: cv.Grid(3, 3, page_size=(1, 0, 2)),
        "«Grid: page_size → --page-size» of row 2 must be an integer of at least 1, found 0.",
    ),
    (
        "score",
        lambda: cv.Grid(3, 3, page_size=(1, 2)),
        "«Grid: page_size → --page-size» has 2 numbers for 3 rows. Give one number for all rows, or one "
        "for each, such as «page_size=(1, 2, 2) → --page-size 1,2,2».",
    ),
    (
        "score",
        lambda: cv.n2dcg([[2000]]),
        "relevance: row 1, col 1 is 2000, and 2^2000 is too large for a float. Rescale it, or use "
        "«gain='linear' → --gain linear».",
    ),
    (
        "score",
        lambda: cv.n2dcg([[1] * 5], grid=cv.Grid(1, 3)),
        "relevance: a page of 1x5 does not fit the 1x3 grid. Use «grid=cv.Grid(rows=1, cols=5, "
        "page_size=5) → --grid 1x5».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(without(LAYOUTS, "row"), JUDGMENTS),
        "layouts: missing column row; it has user_id, col, item_id, category. If yours have other "
        "names, use «columns={'user_id': 'customer', ...} → --columns user_id=customer».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(renamed(LAYOUTS, user_id="userId", item_id="Item ID"), JUDGMENTS),
        "layouts: missing columns user_id (found 'userId'), item_id (found 'Item ID'); it has userId, "
        "row, col, Item ID, category. Rename them, or use «columns={'user_id': 'userId', 'item_id': "
        "'Item ID'} → --columns user_id=userId --columns 'item_id=Item ID'».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, grid=cv.Grid(2, 1, page_size=1)),
        "layouts: 1 cell lies outside the grid, first user_id=1 row=1 col=2 on a grid of 2x1 (line 2). "
        "Use «grid=cv.Grid(rows=2, cols=2, page_size=1) → --grid 2x2 --page-size 1», or drop these "
        "cells.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(
            LAYOUTS | {"device": ["tv", "tv", "it's"]},
            JUDGMENTS,
            by="device",
            grid={"tv": cv.Grid(1, 1, page_size=(5,)), "it's": cv.Grid(1, 1)},
        ),
        "layouts: 1 cell lies outside the grid, first user_id=1 row=1 col=2 on a grid of 1x1 (line 2). "
        "Use «grid={'tv': cv.Grid(rows=1, cols=2, page_size=5), \"it's\": cv.Grid(rows=1, cols=1, "
        "page_size=5)} → --grid tv=1x2 --grid 'it'\"'\"'s=1x1'», or drop these cells.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(
            LAYOUTS | {"device": ["tv", "tv", "pc"]}, JUDGMENTS, by="device", grid={"tv": cv.Grid(1, 2)}
        ),
        "layouts: device has 'pc', which «grid → --grid» does not list; it lists 'tv'. Give a grid for every value.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS | {"row": [2, 2, 1]}, JUDGMENTS),
        "layouts: 1 row is skipped, first user_id=1 row=2, with no row 1 (line 1). Number rows 1, 2, 3 "
        "without gaps, or use «invalid='count' → --invalid count».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS | {"category": ["a", "a", "c"]}, JUDGMENTS, ITEMS),
        "layouts: 1 item is outside its row's category, first user_id=2 row=1 col=1 item_id=3 "
        "category='c' (line 3). Items does not list this category: 'c'. Add its items, declare it "
        "personal in «carousels → --carousels», or leave out «items → --items» to take categories from "
        "layouts; or use «invalid='count' → --invalid count».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(without(LAYOUTS, "category"), JUDGMENTS),
        "no table gives the categories of items, which the ideal page needs. Give «items → --items» "
        "(item_id, category) or a column category in layouts; or use «candidates='displayed' → "
        "--candidates displayed», which scores the arrangement alone.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, capacity={"a": 1}),
        "layouts: 1 row holds more than the capacity of its category, first user_id=1 row=1, where 'a' "
        "has 2 and holds 1 (line 1). Raise the capacity in «carousels → --carousels» or «capacity= → "
        "--capacity», drop the cells beyond it, or use «invalid='count' → --invalid count».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS | {"user_id": [1, 3]}, missing_pages="error"),
        "layouts: 1 user has judgments but no page, first user_id=3. Add the pages, or use "
        "«missing_pages='zero' or 'skip' → --missing-pages zero or skip».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS | {"relevance": [0, 1]}, no_relevant="error"),
        "judgments: 1 page has no relevant item, first user_id=1. Add judgments of relevant items, or "
        "use «no_relevant='skip' or 'zero' → --no-relevant skip or zero».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, unjudged="error"),
        "layouts: 1 item is shown without a judgment, first user_id=1 row=1 col=2 item_id=2 (line 2). "
        "Add judgments, or use «unjudged='zero' → --unjudged zero».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS | {"item_id": [1, 1, 3]}, JUDGMENTS, duplicates="error"),
        "layouts: 1 item is repeated on its page, first user_id=1 row=1 col=2 item_id=1 (line 2). Drop "
        "the repeats, or use «duplicates='best' → --duplicates best».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS | {"relevance": [2000.0, 1]}),
        "judgments: column relevance, line 1: found 2000, and 2^2000 is too large for a float. Rescale "
        "it, or use «gain='linear' → --gain linear».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, {"user_id": [1, 1], "item_id": [1, 1], "event": ["a", "b"]}),
        "judgments: 1 item is judged twice, first user_id=1 item_id=1 (line 2). Keep one judgment per "
        "item, the latest or the largest. If these are events, such as plays, make judgments of them "
        "with «judgments_from_events → carouseval judgments».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, ITEMS | {"category": [1, 1, 2]}, split="|"),
        "items: column category holds Int64, which «split='|' → --split '|'» cannot split. Leave out "
        "«split → --split».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, {"item_id": [], "category": []}),
        "items: the table has no lines. Give at least one line of item_id, category, or leave «items → --items» out.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, carousels={"category": []}),
        "carousels: the table has no lines. Give at least one line of category, or leave «carousels → "
        "--carousels» out.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, carousels={"category": ["a"], "capacity": [0]}),
        "carousels: column capacity, line 1: found 0. A capacity is an integer of at least 1, or null "
        "for that of «the setting capacity → --capacity».",
    ),
    (
        "compare",
        lambda: cv.compare(SYSTEMS, JUDGMENTS, baseline="nobody"),
        "«baseline → --baseline»: there is no system 'nobody'. Systems: prod, new.",
    ),
    (
        "compare",
        lambda: cv.compare(SYSTEMS, JUDGMENTS, test="z"),  # type: ignore[arg-type]
        "«test → --test» must be 'permutation', 't', 'wilcoxon', 'bootstrap' or a function of differences, found 'z'.",
    ),
    (
        "compare",
        lambda: cv.compare(SYSTEMS, JUDGMENTS, ci=2),
        "«ci → --ci» must be a finite number above 0 and below 1, found 2.",
    ),
    (
        "compare",
        lambda: cv.compare(SYSTEMS, JUDGMENTS, seed=2**64),
        "«seed → --seed» must be below 2^64, found 18446744073709551616.",
    ),
    (
        "compare",
        lambda: cv.compare(SYSTEMS, JUDGMENTS, permutations=0),
        "«permutations → --permutations» must be an integer of at least 1, found 0.",
    ),
    (
        "compare",
        lambda: cv.compare({"prod": LAYOUTS, "new": [LAYOUTS, LAYOUTS]}, JUDGMENTS, runs="paired"),
        "«runs='paired' → --runs paired» needs the same number of runs of every system, found: prod has 1, new has 2.",
    ),
    (
        "compare",
        lambda: cv.compare({"prod": LAYOUTS, "new": [LAYOUTS, LAYOUTS]}, JUDGMENTS, test="wilcoxon"),
        "«test='wilcoxon' → --test wilcoxon» takes runs as given, and new has several. Leave out «test "
        "→ --test», to test users and runs that both vary, or set «runs='fixed' → --runs fixed».",
    ),
    (
        "compare",
        lambda: cv.compare(
            {"prod": LAYOUTS | {"w": [1, 1, 2]}, "new": LAYOUTS | {"w": [1, 1, 2]}},
            JUDGMENTS,
            test="wilcoxon",
            weight="w",
        ),
        "«test='wilcoxon' → --test wilcoxon» does not support weights; choose another test, or leave "
        "out «weight → --weight».",
    ),
    (
        "compare",
        lambda: cv.compare({"prod": LAYOUTS, "new": LAYOUTS | {"row": [2, 2, 1]}}, JUDGMENTS),
        "new: layouts: 1 row is skipped, first user_id=1 row=2, with no row 1 (line 1). Number rows 1, "
        "2, 3 without gaps, or use «invalid='count' → --invalid count».",
    ),
    (
        "compare",
        lambda: cv.sensitivity(SYSTEMS, JUDGMENTS, metrics="NDCG@10"),
        "«metrics → --metrics»: sensitivity takes one N2DCG_cat, with any discount and cutoff, found NDCG@10.",
    ),
    (
        "compare",
        lambda: cv.compare(SYSTEMS, JUDGMENTS, metrics="Coverage"),
        "«metrics → --metrics»: a figure of a whole system cannot be tested user by user, found "
        "Coverage. Add a metric of pages, such as 'N2DCG_cat'.",
    ),
    (
        "explain",
        lambda: cv.explain(LAYOUTS, JUDGMENTS, metrics="NDCG@10"),
        "«metrics → --metrics»: explain takes one N2DCG_cat, with any discount and cutoff, found NDCG@10.",
    ),
    (
        "explain",
        lambda: cv.explain(LAYOUTS, JUDGMENTS).page(page_id=1),
        "«page_id → --page» needs «user_id → --user»: pages of different users may have the same id.",
    ),
    (
        "judgments",
        lambda: cv.judgments_from_events(LOG, grades=[10, 1]),
        "«grades → --grades» must increase, found 1 after 10.",
    ),
    (
        "judgments",
        lambda: cv.judgments_from_events(LOG, grades=[1], quantiles=[0.5]),
        "«quantiles → --quantiles»: give «grades → --grades» or «quantiles → --quantiles», not both.",
    ),
    (
        "judgments",
        lambda: cv.judgments_from_events(LOG, at_most=3),
        "«at_most → --at-most»: without a column of values every line counts 1. Name the column in «value → --value».",
    ),
    (
        "judgments",
        lambda: cv.judgments_from_events(LOG, value="minutes"),
        "«value → --value»: there is no column 'minutes' in events. Columns: user_id, item_id, event.",
    ),
    (
        "judgments",
        lambda: cv.judgments_from_events(LOG, combine="last"),
        "events: missing column time; it has user_id, item_id, event. The last line of a user and an "
        "item is found by its time. If yours have other names, use «columns={'user_id': 'customer', "
        "'time': 'timestamp', ...} → --columns user_id=customer --columns time=timestamp».",
    ),
    (
        "judgments",
        lambda: cv.judgments_from_events(LOG, event_relevance={"a": -1}),
        "«event_relevance → --event-relevance»: the relevance of 'a' must be a finite number of at least 0, found -1.",
    ),
    (
        "pages",
        lambda: cv.pages_from_scores({"user_id": [1], "item_id": [1], "score": [1.0]}, ITEMS, order="fixed"),
        "«order='fixed' → --order fixed» needs «categories → --categories», listed from the top row down.",
    ),
    (
        "pages",
        lambda: cv.pages_from_scores({"user_id": [1], "item_id": [1], "score": [1.0]}, ITEMS, pinned={"z": 1}),
        "«pinned → --pinned»: items has no category 'z'.",
    ),
    (
        "adds",
        lambda: cv.marginal_gains(LAYOUTS, {"user_id": [1], "col": [1], "item_id": [2]}, JUDGMENTS),
        "candidates: missing column carousel (or category, used as the name of the carousel); it has "
        "user_id, col, item_id. If yours have other names, use «columns={'carousel': 'shelf', ...} → "
        "--columns carousel=shelf».",
    ),
    (
        "adds",
        lambda: cv.marginal_gains(
            LAYOUTS,
            {"user_id": [1], "carousel": ["z"], "col": [1], "item_id": [2], "category": ["a"]},
            JUDGMENTS,
            row=99,
        ),
        "«row → --row» must be at most 10, the last row of the grid of 10x15, found 99.",
    ),
    (
        "adds",
        lambda: cv.marginal_gains(
            LAYOUTS,
            {"user_id": [1], "carousel": ["z"], "col": [1], "item_id": [2], "category": ["b"]},
            JUDGMENTS,
            ITEMS,
        ),
        "candidates: 1 carousel shows items outside their category, first user_id=1 carousel='z'. Add "
        "the category to items, correct the carousel, or use «invalid='count' → --invalid count».",
    ),
    (
        "adds",
        lambda: cv.marginal_gains(
            LAYOUTS, {"user_id": [1], "carousel": ["z"], "col": [1], "item_id": [2]}, JUDGMENTS, metrics=["NDCG@10"]
        ),
        "«metrics → --metrics»: give one of 2DCG, N2DCG and N2DCG_cat, with any discount and cutoff, found NDCG@10.",
    ),
    (
        "adds",
        lambda: cv.marginal_gains(
            without(LAYOUTS, "category"), {"user_id": [1], "carousel": ["z"], "col": [1], "item_id": [2]}, JUDGMENTS
        ),
        "no table gives the categories of items, which the ideal page needs. Give «items → --items» "
        "(item_id, category) or a column category in layouts.",
    ),
    (
        "fit",
        lambda: cv.attention.fit_discount(FIT, "d_rpd", form="six"),
        "«form → --form» is for d_rpb, fitted by likelihood.",
    ),
    (
        "fit",
        lambda: cv.attention.fit_discount(FIT, "d_mir", bootstrap=2, refine=True),
        "«bootstrap → --bootstrap» repeats the search by spearman; leave out «objective → --objective» "
        "and «refine → --refine».",
    ),
    (
        "fit",
        lambda: cv.attention.fit_discount(FIT, "d_rpb", refine=True),
        "d_rpb is already fitted over real numbers; leave out «refine → --refine».",
    ),
    (
        "fit",
        lambda: cv.attention.read_attention("bratislava", screens=3),
        "«screens → --screens» is for files of counts; the number of screens of bratislava is known.",
    ),
    (
        "simulate",
        lambda: cv.simulate(["d_a"], truth="nobody"),
        "«truth → --truth»: there is no group, file or discount 'nobody'. Give bratislava, amsterdam, "
        "all, a file of counts, or a discount such as d_rpd or @fitted.json.",
    ),
    (
        "simulate",
        lambda: cv.simulate(["d_a"], truth="bratislava", thresholds=[2]),
        "«thresholds → --thresholds» must be decimals from 0 to below 1, such as 0.05, found 2.",
    ),
    (
        "sample",
        lambda: cv.sample(kind="home", items=9),
        "«items → items» must be left out for home pages; they take «users → --users», «seed → --seed», "
        "«ids → ids» and «systems → --systems».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, {"user_id": [1, 2], "item_id": [1, 3], "clicked": [1, 1]}),
        "judgments: there is no column relevance, so every judgment counts as relevance 1. Not read: "
        "clicked. If one holds the relevance, use «columns={'relevance': 'clicked'} → --columns "
        "relevance=clicked».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS | {"relevance": [50, 1]}),
        "judgments: column relevance: 1 relevance of 2 is above 10, the largest 50 (line 1); with "
        "«gain='exp2' → --gain exp2» one such item has a gain of 2^50 - 1 = 1.13e+15, as much as "
        "1.1e+12 items of relevance 10, and decides the score alone. Use «gain='linear' → --gain "
        "linear», or make grades of minutes or plays with «judgments_from_events → carouseval "
        "judgments».",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, {"item_id": [1, 2], "category": ["a", "a"]}, invalid="count"),
        "judgments: 1 relevant item has no category in items, so no ideal page shows it. Give «items → "
        "--items» (item_id, category) for all judged items.",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(
            {"user_id": [1] * 3, "row": [1, 1, 2], "col": [1, 2, 1], "item_id": [1, 2, 3], "category": ["a", "a", "b"]},
            {"user_id": [1] * 5, "item_id": [1, 2, 3, 4, 5], "relevance": [1] * 5},
            {"item_id": [1, 2, 3, 4, 5], "category": ["a", "a", "b", "a", "a"]},
        ),
        "layouts: ideal pages fill a category beyond what any page shows: 'a' holds up to 4 there and "
        "at most 2 on any page, for 100% of users. If a carousel cannot hold more than it shows, use "
        "«capacity='shown' → --capacity shown», or declare it in «carousels → --carousels» (category, "
        "capacity).",
    ),
    (
        "evaluate",
        lambda: cv.evaluate(LAYOUTS, JUDGMENTS, metrics="Coverage"),
        "Coverage: there is no items table, so the catalogue is taken from these layouts. Give «items → "
        "--items» (item_id, category).",
    ),
    (
        "compare",
        lambda: cv.compare(SYSTEMS | {"c": LAYOUTS | {"item_id": [2, 1, 3]}}, JUDGMENTS, permutations=5),
        "«permutations=5 → --permutations 5» is too few for 3 tests: after Holm correction the smallest "
        "p-value is 0.5. Set «permutations → --permutations» to 600, or «test='t' → --test t».",
    ),
    (
        "judgments",
        lambda: cv.judgments_from_events({"user_id": [1, 1], "item_id": ["a", "b"], "event": ["play", "dislike"]}),
        "events: every line counts 1, but column event has several names: 1 'dislike', 1 'play'. Give "
        "dislikes and other events a relevance of their own: «event_relevance={'thumbs_down': 0} → "
        "--event-relevance thumbs_down=0».",
    ),
    (
        "judgments",
        lambda: cv.judgments_from_events({"user_id": [1, 1], "item_id": ["a", "b"], "n": [50, 1]}, value="n"),
        "events: without «grades → --grades» or «quantiles → --quantiles», values are relevances, up to "
        "50; with «gain='exp2' → --gain exp2» one above 10 outweighs all others. Give «grades=(1, 10, "
        "45) → --grades 1,10,45» or «quantiles=(0, 0.5, 0.9) → --quantiles 0,0.5,0.9», or use "
        "«gain='linear' → --gain linear» when evaluating.",
    ),
    (
        "judgments",
        lambda: cv.judgments_from_events(LOG, event_relevance={"plya": 0}),
        "events: no event is called 'plya', as «event_relevance → --event-relevance» has it. Did you mean 'play'?",
    ),
]
BOTH = re.compile("«(.*?) → (.*?)»")


@pytest.mark.parametrize(("command", "call", "message"), MESSAGES, ids=[message[:60] for _, _, message in MESSAGES])
def test_both_ways(command: str, call: Callable[[], Any], message: str) -> None:
    python = BOTH.sub(lambda match: match[1], message)
    messages = said(call)
    assert python in messages
    assert with_options(messages[messages.index(python)], command) == BOTH.sub(lambda match: match[2], message)


@pytest.mark.parametrize(
    ("field", "command", "message"),
    [
        (setting("missing_pages"), "score", "missing_pages"),  # a command without the option
        (setting("missing_pages", "zero"), "", "missing_pages='zero'"),  # no command
        (setting("metric"), "evaluate", "--metrics"),
        (setting("by", "my device"), "evaluate", "--by 'my device'"),
        (setting("weight", "-w; rm *"), "evaluate", "--weight '-w; rm *'"),
        (setting("columns", {"a": "it's", "b": "c", ...: ...}), "check", "--columns 'a=it'\"'\"'s' --columns b=c"),
        (setting("capacity", {"Top 10": 10}), "studio", "--capacity 'Top 10=10'"),
        (setting("across_metrics", True), "compare", "--across-metrics"),
        (setting("grid", grid_text(TV)), "evaluate", "--grid tv"),
        (setting("grid", {"tv": grid_text(TV)}), "evaluate", "--grid tv=tv"),
        (setting("carousels", Expression("made(layouts)")), "evaluate", "carousels=made(layouts)"),
        (setting("gain", "linear", of="evaluate"), "judgments", "--gain linear"),
    ],
    ids=itertools.count(),
)
def test_values(field: str, command: str, message: str) -> None:
    assert with_options(Message(f"Use {field}."), command) == f"Use {message}."


@pytest.mark.parametrize("name", [field.name for field in fields(Settings)])
def test_every_setting_has_its_option(name: str) -> None:
    option = f"--{name.replace('_', '-')}"
    for command in ("evaluate", "compare", "explain", "check", "report", "studio"):
        assert with_options(Message(f"{setting(name)} must be another."), command) == f"{option} must be another."


@pytest.mark.parametrize(
    "text", ["missing_pages must be", "use work=2", "leave out refine", "\ufdd0work\ufdd1work\ufdd2"]
)
def test_other_text_stays(text: str) -> None:
    """Names of columns, tables and systems may be those of settings."""
    assert with_options(text, "evaluate") == text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    write(folder / "new.csv", LAYOUTS)
    write(folder / "prod.csv", LAYOUTS | {"item_id": [2, 1, 3]})
    write(folder / "seed.csv", LAYOUTS | {"col": [1, 2, 2]})
    write(folder / "judgments.csv", JUDGMENTS)
    write(folder / "odd.csv", without(JUDGMENTS, "relevance") | {"clicked": [1, 1]})
    write(folder / "log.csv", {"user_id": [1], "item_id": ["a"], "minutes": [50]})
    return folder


def write(path: Path, table: Mapping[str, Sequence[object]]) -> None:
    lines = [table, *zip(*table.values(), strict=True)]
    path.write_text("".join(f"{','.join(map(str, line))}\n" for line in lines))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "compare new=new.csv prod=prod.csv seed=seed.csv judgments.csv --permutations 5",
            "warning: --permutations 5 is too few for 3 tests: after Holm correction the smallest p-value is 0.5. Set "
            "--permutations to 600, or --test t.",
        ),
        ("compare new=new.csv prod=prod.csv judgments.csv --baseline x", "--baseline: there is no system 'x'."),
        ("fit bratislava --discount d_rpd --form six", "--form is for d_rpb, fitted by likelihood."),
        (
            "fit bratislava --discount d_mir --bootstrap 2 --refine",
            "--bootstrap repeats the search by spearman; leave out --objective and --refine.",
        ),
        (
            "fit bratislava --screens 3",
            "--screens is for files of counts; the number of screens of bratislava is known.",
        ),
        ("evaluate new.csv judgments.csv --split ,", "Give --items, or leave out --split."),
        ("evaluate new.csv judgments.csv --grid 0x2", "--grid: rows must be an integer of at least 1, found 0."),
        ("evaluate new.csv judgments.csv --grid 1x1", "Use --grid 1x2, or drop these cells."),
        ("evaluate seed.csv odd.csv", "If one holds the relevance, use --columns relevance=clicked."),
        ("check new.csv judgments.csv --grid 1x1", "Use --grid 1x2, or drop these cells."),
        ("explain new.csv judgments.csv --metrics NDCG", "--metrics: explain takes one N2DCG_cat"),
        (
            "judgments log.csv --value minutes",
            "with --gain exp2 one above 10 outweighs all others. Give --grades 1,10,45 or --quantiles 0,0.5,0.9, or "
            "use --gain linear when evaluating.",
        ),
    ],
)
def test_commands(command: str, message: str, folder: Path) -> None:
    done = run(*shlex.split(command), cwd=folder)
    shown = " ".join((done.stdout + done.stderr).split())
    assert message in shown
    assert not re.search("[\ufdd0-\ufdef]", shown)
