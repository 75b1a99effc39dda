"""Published layout files load, are judged, and are refused with the line or key where they are broken."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.building.layout_files import read_care_layouts, read_contentwise_layouts, read_recgaze_layouts

RECGAZE = """TMDB_title,TaskID,Carousel_position,Carousel_genre,MovieID,Movie_position_in_carousel
"One, Two",2,1,Drama,11,2
Three,2,1,Drama,12.0,1
Four,2,2,Crime,11,1
Five,1,1,Crime,13,1
"""
CONTENTWISE = """recommendation_id,row_position,recommendation_list_length,recommended_series_list
5,0,2,"[3, 1]"
5,1,3,[ 4  3 22]
6,2,1,[7]
8,0,0,[]
"""
CARE: dict[str, Any] = {
    "carousel2": {"title": "Crime", "items": {"item1": {"title": "A", "year": 1999, "key": False}}},
    "carousel1": {
        "title": "Drama",
        "items": {"item10": {"title": "J"}, **{f"item{k}": {"title": "ABCDEFGHI"[k - 1]} for k in range(1, 10)}},
    },
}
CARE["carousel1"]["items"]["item1"]["key"] = True


def test_recgaze(tmp_path: Path) -> None:
    file = tmp_path / "item_features.csv"
    file.write_text(RECGAZE)
    found = read_recgaze_layouts(file)
    assert found.columns == ["user_id", "row", "col", "item_id", "category"]
    assert found.rows() == [
        *((1, 1, 1, 13, "Crime"), (2, 1, 1, 12, "Drama"), (2, 1, 2, 11, "Drama"), (2, 2, 1, 11, "Crime"))
    ]
    judgments = {"user_id": [2], "item_id": [12], "relevance": [1]}
    assert cv.evaluate(found, judgments).mean["N2DCG_cat"] == 1.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Four,2,2", "Four,2,0", r"item_features: column Carousel_position, line 4: found '0'\. Rows are integers"),
        ("13,1", "NA,1", r"column MovieID, line 5: found 'NA'\. It must be an integer"),
        (
            "Drama,12.0,1",
            "Drama,12,2",
            r"line 3: found TaskID=2 Carousel_position=1 Movie_position_in_carousel=2 again",
        ),
        ("TaskID", "Task", r"missing column user_id \(TaskID, as given in columns\)"),
        ("Crime,13", ",13", r"column Carousel_genre, line 5: found nothing"),
    ],
)
def test_broken_recgaze_files(old: str, new: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "item_features.csv"
    file.write_text(RECGAZE.replace(old, new))
    with pytest.raises(cv.DataError, match=message):
        read_recgaze_layouts(file)


def test_contentwise(tmp_path: Path) -> None:
    file = tmp_path / "impressions.csv"
    file.write_text(CONTENTWISE)
    found = read_contentwise_layouts(file)
    expected = [(5, 1, 1, 3), (5, 1, 2, 1), (5, 2, 1, 4), (5, 2, 2, 3), (5, 2, 3, 22), (6, 3, 1, 7)]
    assert found.columns == ["user_id", "row", "col", "item_id"]
    assert found.rows() == expected
    lists = pl.read_csv(file).with_columns(pl.Series("recommended_series_list", [[3, 1], [4, 3, 22], [7], []]))
    lists.write_parquet(tmp_path / "impressions.parquet")
    assert read_contentwise_layouts(tmp_path / "impressions.parquet").rows() == expected
    assert read_contentwise_layouts(lists.with_columns(pl.col("row_position") + 1)).rows() == expected
    judgments = {"user_id": [5], "item_id": [3], "relevance": [1]}
    result = cv.evaluate(found, judgments, candidates="displayed", invalid="count")
    assert result.counts["invalid"] == 1
    assert result.mean["N2DCG_cat"] == 1.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[7]", "[7", r"impressions: column recommended_series_list, line 4: found '\[7'\. Write integers in brackets"),
        ("[7]", "[x]", r"line 4: found '\[x\]'"),
        (
            "5,1,3",
            "5,1,4",
            r"column recommendation_list_length, line 3: found 4, but the list has 3 items\. Is the list cut",
        ),
        ("5,1,3", "5,0,3", r"line 3: found recommendation_id=5 row_position=0 again\. A recommendation has one list"),
        ("6,2", "6,-1", r"column row_position, line 4: found '-1'"),
        ("recommendation_id", "user", "missing column user_id"),
        ("[7]", "", r"line 4: found nothing"),
    ],
)
def test_broken_contentwise_files(old: str, new: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "impressions.csv"
    file.write_text(CONTENTWISE.replace(old, new))
    with pytest.raises(cv.DataError, match=message):
        read_contentwise_layouts(file)


def test_care(tmp_path: Path) -> None:
    (tmp_path / "task1.json").write_text(json.dumps(CARE))
    (tmp_path / "task2.json").write_text(json.dumps({"carousel1": CARE["carousel2"]}))
    pages = read_care_layouts([tmp_path / "task1.json", tmp_path / "task2.json"])
    first = [("task1", 1, col, title, "Drama") for col, title in enumerate("ABCDEFGHIJ", 1)]
    assert pages.layouts.rows() == [*first, ("task1", 2, 1, "A", "Crime"), ("task2", 1, 1, "A", "Crime")]
    assert pages.judgments.filter(pl.col("relevance") == 1).rows() == [("task1", "A", 1.0)]
    assert pages.judgments.height == 11
    assert cv.evaluate(pages.layouts, pages.judgments).mean["N2DCG_cat"] == 1.0


def test_broken_care_files(tmp_path: Path) -> None:
    file = tmp_path / "task.json"

    def refused(text: str | dict[str, Any], message: str) -> None:
        file.write_text(text if isinstance(text, str) else json.dumps(text))
        with pytest.raises(cv.DataError, match=message):
            read_care_layouts(file)

    def with_item(item: Any) -> dict[str, Any]:
        return {"carousel1": {"title": "New", "items": {"item1": item}}}

    refused("{", "is not JSON")
    refused("[]", r'found \[\], expected an object such as {"carousel1"')
    refused({"row1": {}}, "the key 'row1' is unknown or repeated")
    refused({"carousel1": CARE["carousel2"], "carousel3": CARE["carousel1"]}, "carousel2 is missing")
    refused(
        {"carousel1": CARE["carousel2"], "carousel2": CARE["carousel2"]},
        "carousel2: another carousel has the",
    )
    refused({"carousel1": {"items": {}}}, "carousel1: title is null")
    refused({"carousel1": {"title": "New", "items": {}}}, "carousel1, items: found {}")
    refused({"carousel1": 3}, "carousel1: found 3, expected an object")
    refused(with_item({"title": 3}), "carousel1, item1: title is 3")
    refused(with_item({"title": "A", "key": "yes"}), 'carousel1, item1: key is "yes". Write true or false')
    refused('{"carousel1": {"title": "a", "title": "b"}}', "the key 'title' appears twice")
    with pytest.raises(cv.DataError, match="No such file"):
        read_care_layouts(tmp_path / "none.json")
    with pytest.raises(cv.DataError, match="two files are named task"):
        read_care_layouts([file, tmp_path / "other" / "task.json"])
