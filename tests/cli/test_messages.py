"""Messages name options as they are typed."""

import inspect
from pathlib import Path

import pytest

import carouseval
from carouseval.cli import messages
from carouseval.cli.compare import compare
from carouseval.cli.messages import with_option_names
from carouseval.cli.settings_options import option_names

UNCHANGED: dict[str, str] = {}

# what the package raises about parameters, and what of it the command line says otherwise
PARAMETERS: list[tuple[str, dict[str, str]]] = [
    ("missing_pages must be 'zero', 'skip' or 'error', found 'none'.", {"missing_pages": "--missing-pages"}),
    ("memory must be a finite number above 0 and at most 1e+09, found -1.0.", {"memory": "--memory"}),
    ("tolerance must be a finite number of at least 0 and below 1, found 1.0.", {"tolerance": "--tolerance"}),
    ("work must be a finite number of at least 0 and at most 1e+12, found -1.0.", {"work": "--work"}),
    ("threads must be an integer of at least 1, found 0.", {"threads": "--threads"}),
    ("form must be 'six' or 'edges', found 'seven'.", {"form": "--form"}),
    ("bootstrap must be an integer of at least 0, found -2.", {"bootstrap": "--bootstrap"}),
    ("ci must be a finite number above 0 and at most 1, found 2.0.", {"ci": "--ci"}),
    ("seed must be below 2^64, found 99.", {"seed": "--seed"}),
    ("margin must be a finite number of at least 0, found -1.", {"margin": "--margin"}),
    ("correction must be one of holm, bh, none, found 'x'.", {"correction": "--correction"}),
    ("baseline: there is no system 'nobody'.", {"baseline": "--baseline"}),
    ("weight must be the name of a column of your own, found 'row'.", {"weight": "--weight"}),
    ("metrics: NDCG@10 is listed twice.", {"metrics": "--metrics"}),
    ("metric: only 2DCG, N2DCG and N2DCG_cat say what a cell is worth, found DCG.", {"metric": "--metrics"}),
    ("metric 'NDCG@x': its cutoff is one number of at least 1, such as @10.", {"metric": "--metrics"}),
    ("grid must hold from 1 to 255 grids, found 300.", {"grid": "--grid"}),
    ("grid: a dict of grids needs by='column', one column", {"grid:": "--grid:", "by='column'": "--by column"}),
    ("Grid: rows must be an integer of at least 1, found 0.", {"Grid": "--grid"}),
    ("Grid: page_size must be an integer of at least 1, found 0.", {"Grid: page_size": "--page-size"}),
    ("Grid: page_size of row 2 must be an integer of at least 1, found 0.", {"Grid: page_size": "--page-size"}),
    ("columns: there is no column 'usr'. Did you mean 'user_id'?", {"columns": "--columns"}),
    (
        "columns: there is no column 'x'. Write our name first, then yours: {'user_id': 'customer'}.",
        {"columns": "--columns", "{'user_id': 'customer'}": "user_id=customer"},
    ),
    ("by must be the name of a column, or a list of names, found 3.", {"by": "--by"}),
    ("by='metric' is a column of the results; give your column", {"by='metric'": "--by metric"}),
    ("by='my device' is a column of the results.", {"by=": "--by "}),
    ("'device' is named twice in by and weight.", {"by and weight": "--by and --weight"}),
    ("prod and new were not compared; choose another baseline, or none.", {"baseline": "--baseline"}),
    ("--fail-if 'new' cannot be parsed; write two systems, such as 'new < prod'.", UNCHANGED),
    ("no column 'devise' in layouts or judgments. Did you mean 'device'?", UNCHANGED),
    ("there is no metric 'N2DCG_kat'. Did you mean 'N2DCG_cat'?", UNCHANGED),
    ("layouts: there is no page of user_id='nobody'.", UNCHANGED),
    ("user_id must be an integer, as in layouts, found 'x'.", UNCHANGED),
    ("CAROUSEVAL_THREADS must be an integer of at least 1, found '0'.", UNCHANGED),
    ("discount 'd_rpd(seed=3)': parameter 'seed' is unknown.", UNCHANGED),
]
# what it raises and warns about data
DATA: list[tuple[str, dict[str, str]]] = [
    ("3 ideal pages could not be proven optimal. To prove more, use work=20000.", {"work=20000": "--work 20000"}),
    ("1 ideal page could not be proven optimal. To prove more, use tolerance=0.", {"tolerance=0": "--tolerance 0"}),
    (
        "layouts: 1 user has judgments but no page, first user_id=7. Add it, or use missing_pages='zero' or 'skip'.",
        {"missing_pages='zero' or 'skip'": "--missing-pages zero or skip"},
    ),
    (
        "Add judgments of relevant items, or use no_relevant='skip' or 'zero'.",
        {"no_relevant='skip' or 'zero'": "--no-relevant skip or zero"},
    ),
    ("Add the column to judgments, or use missing_pages='skip'.", {"missing_pages='skip'": "--missing-pages skip"}),
    ("is too large for a float. Rescale it, or use gain='linear'.", {"gain='linear'": "--gain linear"}),
    ("Number rows 1, 2, 3 without gaps, or use invalid='count'.", {"invalid='count'": "--invalid count"}),
    ("Drop the repeats, or use duplicates='best'.", {"duplicates='best'": "--duplicates best"}),
    ("Add judgments, or use unjudged='zero'.", {"unjudged='zero'": "--unjudged zero"}),
    (
        "Give items (item_id, category), or a column; or use candidates='displayed', which scores the arrangement.",
        {"items": "--items", "candidates='displayed'": "--candidates displayed"},
    ),
    (
        "it has a, b. If yours have other names, use columns={'user_id': 'customer', ...}.",
        {"columns={'user_id': 'customer', ...}": "--columns user_id=customer"},
    ),
    ("layouts: missing column row (place, as given in columns); it has a.", {"columns": "--columns"}),
    (
        "Rename them, or use columns={'user_id': 'userId', 'item_id': 'Item ID'}.",
        {"columns={'user_id': 'userId', 'item_id': 'Item ID'}": "--columns user_id=userId --columns 'item_id=Item ID'"},
    ),
    ("If a cell holds several categories, use split='|'.", {"split='|'": "--split '|'"}),
    ("items: column category holds Int64, which split='|' cannot split.", {"split='|'": "--split '|'"}),
    (
        "split: there is no items table. Give items, or leave out split.",
        {"items,": "--items,", "out split": "out --split"},
    ),
    ("layouts: column a is used for both row and col. Use it once in columns.", {"in columns": "in --columns"}),
    ("layouts: device has 'watch', which grid does not list; it lists 'tv'.", {"grid": "--grid"}),
    (
        "does not fit the 2x2 grid. Use grid=cv.Grid(rows=4, cols=3, page_size=(1, 5, 5, 5), visible_rows=2).",
        {
            "grid=cv.Grid(rows=4, cols=3, page_size=(1, 5, 5, 5), visible_rows=2)": (
                "--grid 4x3 --page-size 1,5 --visible-rows 2"
            )
        },
    ),
    (
        "Use grid=cv.Grid(rows=30, cols=24, page_size=6, visible_rows=2, swipe_step=1), or drop these cells.",
        {"grid=cv.Grid(rows=30, cols=24, page_size=6, visible_rows=2, swipe_step=1)": "--grid tv:30x24"},
    ),
    (
        "Use grid={'test': cv.Grid(rows=2, cols=8, page_size=5), \"it's\": cv.Grid(rows=5, cols=3, page_size=5)}, or",
        {
            "grid={'test': cv.Grid(rows=2, cols=8, page_size=5), \"it's\": cv.Grid(rows=5, cols=3, page_size=5)}": (
                "--grid test=2x8 --grid 'it'\"'\"'s=5x3'"
            )
        },
    ),
    # tables, columns and systems of the same names; English
    ("layouts: column weight, line 3: found -1. Weights must be from 0 to 1e100.", UNCHANGED),
    ("items: the table has no lines. Give at least one line of item_id, category, or leave items out.", UNCHANGED),
    ("test: layouts: 1 cell appears twice, first test='u1' row=2 seed='x' (line 3).", UNCHANGED),
    ("baseline: 12 pages have a different ideal page than in prod, first user_id='u1'.", UNCHANGED),
    ("grid: layouts: the table has no lines.", UNCHANGED),
    ("Its fields seem to be separated by semicolons; separate them by commas.", UNCHANGED),
    ("metrics.csv: No such file or directory.", UNCHANGED),
]


@pytest.mark.parametrize(("message", "changes"), PARAMETERS)
def test_parameters(message: str, changes: dict[str, str]) -> None:
    assert with_option_names(message) == _changed(message, changes)


@pytest.mark.parametrize(("message", "changes"), DATA)
def test_data(message: str, changes: dict[str, str]) -> None:
    assert with_option_names(message, data=True) == _changed(message, changes)


@pytest.mark.parametrize(("setting", "option"), option_names().items())
def test_every_setting_is_named_by_its_option(setting: str, option: str) -> None:
    assert with_option_names(f"{setting} must be another, found 'x'.") == f"{option} must be another, found 'x'."
    assert with_option_names(f"Or use {setting}='x'.", data=True) == f"Or use {option} x."


def _changed(message: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in message
        message = message.replace(old, new, 1)
    return message


def test_what_is_rewritten_exists() -> None:
    """Phrases that the package no longer has, and options that compare no longer has, must go."""
    paths = Path(carouseval.__file__).parent.rglob("*.py")
    source = "".join(path.read_text(encoding="utf-8") for path in paths if path.name != "messages.py")
    assert not [phrase for phrase in messages._PHRASES if phrase not in source]
    assert set(messages._COMPARE_OPTIONS) <= set(inspect.signature(compare).parameters)
