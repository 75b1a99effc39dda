"""What a reader must know before the numbers of a report."""

from collections.abc import Mapping

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.summary import joined, left_out_text, missing_pages_text, unmatched_systems
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.table_matching import FEW
from carouseval.show.charts.drawing import count_text

UNMATCHED = (
    "The pages do not match the judgments by page_id. Write page_id the same way in all tables, or drop it from "
    "judgments that hold for all pages of a user."
)


def is_unmatched(result: Evaluation) -> bool:
    """Whether hardly any page has the page_id of a judgment."""
    return result.page_match is not None and result.page_match < FEW


def evaluation_cautions(result: Evaluation) -> list[str]:
    """What limits the scores of one system."""
    texts = [result.heading, UNMATCHED if is_unmatched(result) else _data_text({"": result.counts})]
    return [text for text in texts if text]


def comparison_cautions(result: Comparison) -> list[str]:
    """What limits the scores of systems, and what makes them unequal."""
    heading = next(iter(result.evaluations.values()))[0].heading
    if unmatched_systems(result.evaluations):
        return [text for text in (heading, result.summary) if text]
    texts = [heading, result.notice, missing_pages_text(result), left_out_text(result), _data_text(result.counts)]
    return [text for text in texts if text]


def _data_text(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Systems that show nothing judged, and ideals that are not proven; a single system may have no name."""
    sentences = []
    if unjudged := [name for name, count in counts.items() if count["lines"] == count["unjudged"] > 0]:
        about = f" of {joined(unjudged)}" if unjudged[0] else ""
        sentences.append(f"No item shown{about} has a judgment by its user: ids may be written in different ways.")
    if unproven := {name: count["bounded"] for name, count in counts.items() if count["bounded"]}:
        pages = [count_text(bounded, "ideal page") + f" of {name}" * bool(name) for name, bounded in unproven.items()]
        sentences.append(f"{joined(pages)} could not be proven optimal, so scores of these pages may be too low.")
    return " ".join(sentences)
