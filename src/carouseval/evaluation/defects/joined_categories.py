"""Several categories in one cell of items, such as ``Action|Comedy``."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from carouseval.evaluation.category_facts import SEPARATORS, CategoryFacts
from carouseval.evaluation.settings import Settings
from carouseval.messages import setting
from carouseval.tables.columns import Defect
from carouseval.tables.table import Table


def joined_categories(facts: CategoryFacts, settings: Settings, tables: Mapping[str, Table]) -> Defect | None:
    """Categories of items that seem to be several in one cell, and the setting that splits them; else None.

    No page shows them, and some of the words between separators are categories elsewhere: all of them for commas, which
    titles of carousels have too.
    """
    for separator in SEPARATORS if settings.split is None else ():
        texts = [text for text in facts.unshown if separator in text]
        if joined := _joined(texts, facts.words, separator, all if separator == "," else any):
            names = tables["items"].names
            message = (
                f"items: {len(joined):,} of {facts.listed:,} categories contain {separator!r}, such as "
                f"{joined[0][:60]!r}, and no page shows {'it' if len(joined) == 1 else 'them'}. If a cell holds "
                f"several categories, use {setting('split', separator)}."
            )
            return Defect("items", names["category"], len(joined), message, "note")
    return None


def _joined(
    texts: Sequence[str], categories: frozenset[str], separator: str, enough: Callable[[Iterable[bool]], bool]
) -> list[str]:
    """The texts of whose words enough are in other texts, or are categories themselves."""
    words = {text: {word.strip() for word in text.split(separator)} for text in texts}
    count = Counter(word for text in words for word in words[text])
    elsewhere = categories.union(word for word in count if count[word] > 1)
    return [text for text in texts if len(words[text]) > 1 and enough(word in elsewhere for word in words[text])]
