"""Room for text in wider fonts: a browser that has none of the fonts of a chart draws texts longer than measured.

Texts are measured in Arial. DejaVu Sans, which takes its place on many machines, is about a seventh wider; few fonts
are wider than that.
"""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from unicodedata import east_asian_width

_SVG = "{http://www.w3.org/2000/svg}"
_TRANSLATE, _ROTATE = re.compile(r"translate\(([-\d.e]+)[, ]"), re.compile(r"rotate\(([-\d.e]+)")
_NARROW, _WIDE = frozenset(" .,:;'|!()[]{}/\\-fijlrtI"), frozenset("mwMW%@=+…")
_BOLD = 1.12  # how much wider bold text is
_MARGIN = 4.0  # pixels between a text and the edge


def with_room(svg: str) -> str:
    """A drawing that is extended to the left and right as far as its texts may go."""
    root = ET.fromstring(svg)
    narrow, height = root.attrib["width"], root.attrib["height"]
    width, spans = float(narrow), list(_spans(root, 0.0))
    left = math.ceil(max([0.0, *(_MARGIN - start for start, _ in spans)]))
    right = math.ceil(max([0.0, *(end + _MARGIN - width for _, end in spans)]))
    wide = str(round(width + left + right, 3))
    svg = svg.replace(f'width="{narrow}"', f'width="{wide}"', 1)
    svg = svg.replace(f'viewBox="0 0 {narrow} {height}"', f'viewBox="{-left} 0 {wide} {height}"', 1)
    return svg.replace(f'<rect width="{narrow}"', f'<rect x="{-left}" width="{wide}"', 1)  # the background


def _spans(element: ET.Element, x: float) -> Iterator[tuple[float, float]]:
    """From where to where each line of text may go."""
    transform = element.get("transform", "")
    x += sum(map(float, _TRANSLATE.findall(transform)[:1]))
    if element.tag != f"{_SVG}text":
        for child in element:
            yield from _spans(child, x)
        return
    size, bold = float(element.get("font-size", "11px").removesuffix("px")), element.get("font-weight") == "bold"
    angle = sum(map(float, _ROTATE.findall(transform)))
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[element.get("text-anchor", "start")]
    for line in [element.text, *(line.text for line in element)]:
        width = text_width(line or "", size, bold) * abs(math.cos(math.radians(angle)))
        yield x - shift * width, x + (1 - shift) * width


def text_width(text: str, size: float, bold: bool = False) -> float:
    """About how wide a text is in a wide font of this size, in pixels."""
    return size * (_BOLD if bold else 1.0) * sum(map(_ems, text))


def _ems(character: str) -> float:
    if character in _NARROW:
        return 0.36
    if character in _WIDE or east_asian_width(character) in "WF":
        return 1.0
    return 0.74 if character.isupper() else 0.63
