"""How to cite, and how a report was made."""

import platform
from datetime import UTC, datetime

from carouseval import __version__
from carouseval.show.report.document import Block, Code, Links, Paragraph, Section

CITATIONS = {
    "The metric N2DCG_cat: Jingwei Kang, Santiago de Leon-Martinez, Maarten de Rijke and Harrie Oosterhuis. Revisiting "
    "N2DCG: An Empirically Grounded Reformulation of Carousel Recommendation Evaluation. CIKM '26, 2026.": (
        "https://doi.org/10.1145/3799682.3839894"
    ),
    "The eye-tracking data behind the discounts: Santiago de Leon-Martinez et al. RecGaze: The First Eye Tracking and "
    "User Interaction Dataset for Carousel Interfaces. SIGIR '25, 2025.": "https://doi.org/10.1145/3726302.3730301",
    "The original N2DCG: Maurizio Ferrari Dacrema, Nicolò Felicioni and Paolo Cremonesi. Offline Evaluation of "
    "Recommender Systems in a User Interface With Multiple Carousels. Frontiers in Big Data, 2022.": "",
    f"The software: The carouseval developers. carouseval, version {__version__}. MIT licence.": "",
}
_BIBTEX = f"""@inproceedings{{kang2026revisiting,
  title = {{Revisiting {{N2DCG}}: An Empirically Grounded Reformulation of Carousel Recommendation Evaluation}},
  author = {{Kang, Jingwei and de Leon-Martinez, Santiago and de Rijke, Maarten and Oosterhuis, Harrie}},
  booktitle = {{Proceedings of the 35th ACM International Conference on Information and Knowledge Management}},
  year = {{2026}},
  doi = {{10.1145/3799682.3839894}}
}}
@software{{carouseval,
  title = {{carouseval}},
  author = {{{{The carouseval developers}}}},
  version = {{{__version__}}}
}}"""


def citation_section() -> Section:
    """What to cite."""
    return Section("How to cite", [Links(list(CITATIONS.items())), Code(_BIBTEX)])


def origin_section(command: str = "") -> Section:
    """Which versions made the report, when, and by which command."""
    made = f"Made on {today()} by carouseval {__version__} with Python {platform.python_version()}."
    note = (
        "The page is self-contained: it loads nothing and runs no scripts. The same tables and settings give the same "
        "scores and p-values, whatever the number of threads."
    )
    blocks: list[Block] = [Paragraph(f"{made} {note}")]
    return Section("How this was made", [*blocks, Code(command)] if command else blocks)


def today() -> str:
    """The date in UTC."""
    return f"{datetime.now(UTC):%Y-%m-%d}"
