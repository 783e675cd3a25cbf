"""Questions that a collection cannot answer: those of other collections, and written ones.

A question of another collection is taken unless it names a speaker whom both have; as a `renamed`
question, its speakers are replaced by those of the collection, so that only its subject is unknown
(some of these may have an answer). The written ones, in twelve languages, ask for what no
conversation mentions; those `aside` were not used to choose any bound.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.recollection.corpora import Ask, Corpus
from gateway.immutable import replace

WRITTEN: Final = Path(__file__).with_suffix(".json")
FROM_EACH: Final = 30
"""Questions of each other collection."""
ANYBODY: Final = ("anybody", "aside")
"""The written questions for every conversation of two people; others name their collection."""


def unanswerable(corpora: Sequence[Corpus]) -> list[Corpus]:
    """Return the collections with unanswerable questions instead of their own; the kind is the
    origin of the question."""
    written = json.loads(WRITTEN.read_text())
    draw = random.Random(33)
    crossed = []
    for corpus in corpora:
        names = ANYBODY if corpus.name not in written else (corpus.name,)
        asks = [Ask(text, (), name) for name in names for text in written[name]]
        for other in corpora:
            if other is not corpus:
                asks += _of_others(corpus, other, draw)
        crossed.append(replace(corpus, questions=tuple(asks)))
    return crossed


def _of_others(corpus: Corpus, other: Corpus, draw: random.Random) -> Iterator[Ask]:
    ours, theirs = _speakers(corpus), _speakers(other)
    asks = [ask for ask in other.questions if not ask.unfinished and len(ask.text.split()) > 2]
    for ask in draw.sample(asks, min(FROM_EACH, len(asks))):
        named = {name for name in theirs if re.search(rf"\b{name}\b", ask.text)}
        if not named & set(ours):
            yield Ask(ask.text, (), "other")
        if named and len(ours) >= len(named):
            others = dict(zip(sorted(named), draw.sample(ours, len(named)), strict=True))
            pattern = rf"\b({'|'.join(others)})\b"
            text = re.sub(pattern, lambda match: others[match[0]], ask.text)  # noqa: B023 - run at once
            yield Ask(text, (), "renamed")


def _speakers(corpus: Corpus) -> list[str]:
    """The names before turns, of those who speak more than once, in order."""
    names = Counter(
        match[1] for one in corpus.documents if (match := re.match(r"(\w{2,30}): ", one.text))
    )
    return sorted(name for name, times in names.items() if times > 1)
