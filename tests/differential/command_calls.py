"""Commands on small tables: what they print, how they end, and the files they write."""

import random
from functools import cache

import polars as pl

import carouseval as cv
from tests.command_line import run
from tests.differential.outcomes import Outcomes

TABLE_OPTIONS = [
    *("--items items.csv", "--items items.csv", "--items items.csv", "--candidates displayed", "--gain linear"),
    *("--duplicates first", "--missing-pages skip", "--no-relevant zero", "--invalid count", "--by device"),
    *("--capacity shown", "--threads 2", "-m N2DCG_cat(d_rpb)@3x5", "-m N2DCG_cat -m NDCG@10 -m Coverage", "-m 2DCG"),
    *(
        "--grid recgaze",
        "--grid 10x15/1,5",
        "--grid tv --page-size 4",
        "--columns items.item_id=item_id",
        "--work 0.001",
    ),
    *("--tolerance 0.1", "--memory 0.001"),
]
WRONG = [
    *(
        "--candidates judgd",
        "--threads 0",
        "--by nope",
        "--grid 1x1",
        "--grid x",
        "-m NDCGG",
        "--weight nope",
        "--nope",
    ),
    *("--capacity shwn", "--columns user=u", "--tolerance 2", "--memory 0", "--duplicates error", "--unjudged error"),
    *(
        "--missing-pages error",
        "--no-relevant error",
        "--carousels missing.csv",
        "--columns layouts.row=r",
        "--work -1",
    ),
]
COMPARE_OPTIONS = [
    *("--baseline prod", "--baseline prod", "--baseline nope", "--test t", "--test wilcoxon", "--test bootstrap"),
    *("--runs fixed", "--correction bh", "--across-metrics", "--simultaneous", "--ci 0.9", "--seed 3", "--margin 0.01"),
    *("--sensitivity", "--permutations 5", "--ci 2", "--plan 0.01", "--fail-if new<prod", "--fail-if nope<prod"),
]
PRINTED = ["--format table", "--format json", "--format csv", "--format markdown", "--format latex", ""]
WRITTEN = [
    *(
        "--out out/result.json",
        "--out out/result.md",
        "--out out/result.csv",
        "--out out/result.parquet",
        "--out x.nope",
    ),
    *("--chart out/chart.svg", "", "", ""),
]
OTHERS = [
    *("evaluate", "evaluate --help", "compare --help", "--help", "--version", "nope", "recgaze", "examination all"),
    *(
        "judgments events.csv --value minutes --grades 1,10 --out out/judgments.csv",
        "judgments events.csv --combine max",
    ),
    *("pages scores.csv --items items.csv --out out/pages.csv", "pages scores.csv --items items.csv --grid tv"),
    *("adds new.csv judgments.csv --items items.csv", "adds new.csv judgments.csv --items items.csv --greedy --rows 3"),
    *(
        "adds new.csv judgments.csv --layouts prod.csv --row 2 --format json",
        "score page.csv",
        "score page.csv --grid 2x2",
    ),
    *(
        "score page.csv --discount d_a -m N2DCG --format json",
        "score - --chart-kind weights",
        "sample out/few --users 5",
    ),
    *("sample out/home --kind home --users 4 --format csv", "simulate --trials 50 --seed 1", "reproduce --help"),
    *("fit bratislava --discount d_rcb --objective likelihood", "fit nowhere.csv"),
]


@cache
def _tables() -> dict[str, pl.DataFrame]:
    data = cv.sample(30, seed=4, missing=0.1, items=200)
    return {
        "judgments": data.judgments,
        "items": data.items,
        **{name: data.layouts[name] for name in ("new", "prod", "random")},
        "events": data.judgments.with_columns(minutes=pl.col("relevance") * 7, event=pl.lit("play")),
        "scores": data.judgments.rename({"relevance": "score"}),
    }


def commands(rng: random.Random, outcomes: Outcomes) -> None:
    """One command, with some of its options."""
    text = _drawn(rng)
    for name, table in _tables().items():
        if f"{name}.csv" in text:
            table.write_csv(outcomes.folder / f"{name}.csv")
    (outcomes.folder / "page.csv").write_text("3,0,1\n0,2\n")
    written = outcomes.folder / "out"
    written.mkdir(exist_ok=True)
    outcomes.call(
        "carouseval",
        lambda: run(*text.split(), stdin="1,0\n0,1\n", cwd=outcomes.folder),
        lambda done: {"status": done.returncode, "printed": done.stdout, "said": done.stderr},
    )
    outcomes.note("command", text)
    for path in sorted(path for path in written.rglob("*") if path.is_file()):
        outcomes.file(str(path.relative_to(outcomes.folder)), path)


def _drawn(rng: random.Random) -> str:
    kind = rng.choice(["evaluate", "evaluate", "compare", "compare", "explain", "check", "report", "other", "other"])
    if kind == "other":
        return rng.choice(OTHERS)
    options = rng.sample(TABLE_OPTIONS, rng.choice([1, 1, 2, 3]))
    if rng.random() < 0.15:
        options.append(rng.choice(WRONG))
    systems = "new.csv"
    if kind == "compare" or (kind == "report" and rng.random() < 0.5):
        others = ["", "", "random=random.csv", "new=random.csv"]
        systems = f"prod=prod.csv new=new.csv {rng.choice(others)}".strip()
        options += ["--permutations 599", *rng.sample(COMPARE_OPTIONS[: None if kind == "compare" else -3], 2)]
    if kind == "report":
        options.append("--out out/report.html")
    elif kind != "check":
        options.append(rng.choice(WRITTEN))
    if kind == "evaluate" and rng.random() < 0.3:
        options.append("--per-page out/pages.csv --per-user out/users.parquet")
    return " ".join([kind, systems, "judgments.csv", *options, "" if kind == "report" else rng.choice(PRINTED)])
