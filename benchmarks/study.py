"""Speed of the study, as ratios against a rival written from the definitions, measured in the same run.

.venv/bin/python benchmarks/study.py           part of `make bench`
"""

import argparse
import itertools
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import spearmanr

import carouseval as cv
from carouseval.attention import recgaze_counts
from carouseval.attention.parameters import DECAYS, FACTORS
from carouseval.attention.rank_fit import PAPER_DISCOUNTS, grid_search
from carouseval.paper.simulation import simulate
from carouseval.paper.simulation_settings import MODES
from timing import best_of, interleaved

TRAIN, TEST = recgaze_counts("bratislava"), recgaze_counts("amsterdam")
WEIGHTS = [cv.discounts.parse(symbol).weights(cv.RECGAZE) for symbol in ("d_a", "d_rpd")]


def paper_draws(mode: str, trials: int) -> None:
    """The authors' draws and nothing else."""
    rng = np.random.default_rng(42)
    ranks = np.arange(15)
    for _ in range(trials):
        if mode == "graded":
            grades = np.zeros((10, 15), np.uint8)
            for row in grades:
                relevant = min(max(int(rng.binomial(15, 0.15)), 1), 14)
                row[:relevant] = rng.integers(1, 6, size=relevant)
        else:
            grades = (ranks < rng.binomial(15, 0.15, size=10).clip(1, 14)[:, None]).view(np.uint8)
        for _ in range(2):
            rng.permuted(grades[rng.permutation(10)], axis=1)


def rival_trials(mode: str, trials: int) -> int:
    """One trial at a time, NumPy inside the trial, an assignment for each of truth and two discounts."""
    rng = np.random.default_rng(42)
    agreed = 0
    for _ in range(trials):
        grades = np.zeros((10, 15))
        for row in grades:
            relevant = min(max(int(rng.binomial(15, 0.15)), 1), 14)
            row[:relevant] = rng.integers(1, 6, size=relevant) if mode == "graded" else 1
        layouts = []
        for _ in range(2):
            shown = grades[rng.permutation(10)]
            layouts.append(np.exp2(np.array([rng.permutation(row) for row in shown])) - 1)
        scores = []
        for weights in (TEST.frequencies, *WEIGHTS):
            table = np.sort(layouts[0], axis=1) @ np.sort(weights, axis=1).T
            ideal = table[linear_sum_assignment(table, maximize=True)].sum()
            scores.append((layouts[0] * weights).sum() / ideal - (layouts[1] * weights).sum() / ideal)
        agreed += np.sign(scores[0]) == np.sign(scores[2])
    return agreed


def rival_search(symbol: str, sample: int) -> int:
    """One discount and one spearmanr call per parameter set; returns how many of the grid were tried."""
    cls: Any = type(cv.discounts.parse(symbol))
    axes = [DECAYS if name in getattr(cls, "decays", ()) else FACTORS for name in cv.discounts.parse(symbol).parameters]
    target = TRAIN.frequencies.ravel()
    tried = 0
    for values in itertools.islice(itertools.product(*axes), sample):
        spearmanr(cls(*values).weights(cv.RECGAZE).ravel(), target)
        tried += 1
    return tried


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repeats and trials")
    quick = parser.parse_args().quick
    trials, sample = (4_000, 300) if quick else (20_000, 1_500)

    print(f"Table 2 in the paper's stream, {trials:,} trials")
    for mode in MODES:
        ours, bare = interleaved(
            partial(simulate, truth=TEST, mode=mode, trials=trials, stream="paper"),
            partial(paper_draws, mode, trials),
            3,
        )
        print(f"  {mode:7} {ours / bare:5.2f}x the time of its bare NumPy draws   (goal: at most 1.5x)")

    print("\nThe fast stream, per trial")
    print("rival: one trial at a time, NumPy inside, three SciPy assignments")
    many = 400_000 if quick else 2_000_000
    for mode in MODES:
        rival = best_of(partial(rival_trials, mode, sample), 2) / sample
        ours = best_of(partial(simulate, truth=TEST, mode=mode, trials=many), 2) / many
        print(f"  {mode:7} {1 / ours / 1e6:5.2f} million trials/s   {rival / ours:6.0f}x the rival   (goal 40x)")

    print("\nThe six grid searches")
    print("rival: one SciPy spearmanr call per parameter set (timed on a sample)")
    ours = best_of(lambda: [grid_search(TRAIN, symbol) for symbol in PAPER_DISCOUNTS], 3)
    rival = sum(
        best_of(partial(rival_search, symbol, sample), 1) / min(sample, grid_search(TRAIN, symbol).tried)
        * grid_search(TRAIN, symbol).tried
        for symbol in PAPER_DISCOUNTS
    )  # fmt: skip
    print(f"  92,400 parameter sets in {ours:.2f} s   {rival / ours:6.0f}x the rival   (goal 20x)")

    print("\nPeak memory of the fast stream, in fresh processes")
    code = """
import resource, sys
from carouseval.attention import recgaze_counts
from carouseval.paper.simulation import simulate
simulate(truth=recgaze_counts("amsterdam"), trials=int(sys.argv[1]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
    for count in (10**4, 10**5, 10**6) if quick else (10**4, 10**5, 10**6, 10**7):
        out = subprocess.run(
            [sys.executable, "-c", code, str(count)], capture_output=True, text=True, check=True
        ).stdout
        print(f"  {count:10,} trials   {float(out):5.0f} MiB")

    whole = best_of(partial(subprocess.run, [sys.executable, "-m", "carouseval", "reproduce"], capture_output=True), 2)
    print(f"\ncarouseval reproduce as a whole: {whole:.1f} s")


if __name__ == "__main__":
    main()
