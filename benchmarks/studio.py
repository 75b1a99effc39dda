"""What an edit in the studio costs the server, against the array functions on the same page.

.venv/bin/python benchmarks/studio.py           part of `make bench`

An edit is answered with the score, the losses and the ideal page. The rival computes the same three values from an
array of relevances: n2dcg_cat, and the two ideals that losses are split by.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

import carouseval as cv
from carouseval.building.sample import write_sample
from carouseval.evaluation.settings import Settings
from carouseval.show.studio.server import create_app
from carouseval.show.studio.uploads import Uploads
from carouseval.show.studio.workspace import StudioTables, Workspace
from timing import interleaved

PORT = 8737
ADDRESS = f"http://127.0.0.1:{PORT}"
FIXED = 5.0  # milliseconds that an edit may cost on top


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer pages and repeats")
    quick = parser.parse_args().quick
    repeats = 7 if quick else 25
    print("An edit, in milliseconds; rival: the array functions on that page")
    print(f"  {'page':>8} {'scored':>8} {'answered':>9} {'rival':>8}   over 3x the rival")
    for rows, cols in ((5, 10), (10, 15), (20, 24)):
        edits(cv.Grid(rows, cols), repeats)
    print("\nLarge tables, in seconds or milliseconds")
    large(5_000 if quick else 100_000)


def edits(grid: cv.Grid, repeats: int) -> None:
    """One page: scored alone, and as a whole answer to a request."""
    data = cv.sample(users=4, systems=["new"], grid=grid)
    settings = Settings(grid=grid)
    tables = StudioTables(data.layouts, data.judgments, data.items, settings, "sample")
    workspace, uploads = Workspace(tables, settings), Uploads()
    page = workspace.pages.page(0, 0)
    scorer = workspace.pages.scorer(0, 0, grid)
    with TestClient(create_app(workspace, uploads, PORT), base_url=ADDRESS, headers={"origin": ADDRESS}) as client:
        rows = client.get("/api/page").json()["rows"]
        state = client.get("/api/state").json()
        question = {"data": state["data"], "system": 0, "code": 0, "rows": rows, "choices": state["chosen"]}
        body = json.dumps(question)
        headers = {"content-type": "application/json"}
        relevance = np.array([[page.relevance.get(item or 0, 0.0) for item in row.items] for row in page.rows])

        def rival() -> Any:
            return cv.n2dcg_cat(relevance), cv.ideal_dcg2d(relevance), cv.ideal_layout(relevance)

        scored, arrays = interleaved(lambda: scorer.score(page.rows), rival, repeats)
        answered, again = interleaved(
            lambda: client.post("/api/score", content=body, headers=headers).raise_for_status(), rival, repeats
        )
    arrays = min(arrays, again)
    over = 1e3 * (answered - 3 * arrays)
    verdict = f"{over:+.2f} ms (goal: at most {FIXED:g} ms, the test client included)"
    print(f"  {grid!s:>8} {1e3 * scored:8.2f} {1e3 * answered:9.2f} {1e3 * arrays:8.2f}   {verdict}")
    workspace.close()
    uploads.close()


def large(users: int) -> None:
    """Tables of many pages: opened, searched, and the first page shown."""
    with tempfile.TemporaryDirectory() as folder:
        write_sample(folder, users=users, systems=["new"])
        paths = {name: str(Path(folder, f"{name}.parquet")) for name in ("layouts-new", "judgments", "items")}
        begin = time.perf_counter()
        systems = {"new": paths["layouts-new"]}
        workspace = Workspace(StudioTables(systems, paths["judgments"], paths["items"], Settings(), ""), Settings())
        opened = time.perf_counter()
        begin_evaluation = time.perf_counter()
        cv.evaluate(paths["layouts-new"], paths["judgments"], paths["items"])
        evaluated = time.perf_counter() - begin_evaluation
        print(f"  {users:,} pages open in {opened - begin:.1f} s, {(opened - begin) / evaluated:.2f}x evaluate on them")
        pages = workspace.pages
        for what, run in (
            ("search", lambda: pages.find(0, "77", 0, 25)),
            ("page shown", lambda: pages.page(0, 0)),
            ("first score", lambda: pages.scorer(0, 0, cv.RECGAZE).score(pages.page(0, 0).rows)),
        ):
            begin = time.perf_counter()
            run()
            print(f"  {what:12} {1e3 * (time.perf_counter() - begin):6.1f} ms")
        workspace.close()


if __name__ == "__main__":
    main()
