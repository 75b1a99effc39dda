"""Reading charts back: their data, and what their SVG and PNG show."""

import struct
import xml.etree.ElementTree as ET
import zlib
from typing import Any

import carouseval as cv


def drawn(chart: cv.charts.Chart) -> ET.Element:
    return ET.fromstring(chart.svg)


def texts(svg: ET.Element) -> list[str]:
    return [" ".join(element.itertext()) for element in svg.iter("{http://www.w3.org/2000/svg}text")]


def marks(svg: ET.Element, kind: str) -> list[ET.Element]:
    groups = [g for g in svg.iter() if f"mark-{kind} role-mark" in g.get("class", "")]
    return [mark for group in groups for mark in group]


def pixels(png: bytes) -> tuple[int, int, bytes]:
    """Width, height and the filtered pixels of a PNG file."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    width, height = struct.unpack(">II", png[16:24])
    return width, height, zlib.decompress(data)


def data_of(chart: cv.charts.Chart, *keys: str) -> list[dict[str, Any]]:
    """The rows of the chart's data that have these keys, each set of data once."""
    rows = [row for values in chart.to_dict()["datasets"].values() for row in values]
    return [row for row in rows if set(keys) <= row.keys()]
