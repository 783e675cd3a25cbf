"""What people see of an answer is what its author wrote: no letter, digit or sign is lost or added,
apart from the platform's own marks."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from gateway.render import render
from tests.gateway.render.corpus import KINDS, Answer, Piece, answers
from tests.gateway.render.readers import letters, read

ANSWERS = answers()
PLATFORMS = ["discord", "slack", "telegram", "whatsapp", "web", "plain"]
MARKERS = re.compile(r"^\s*(?:(?:[•\-*☐☑>]|\d+\.)\s+)+", re.MULTILINE)
GRID = "│─┼"


def inked(text: str) -> str:
    """The characters of a rendered text without the marks of lists, quotes and tables."""
    plain = MARKERS.sub("", text)
    return "".join(char for char in letters(plain) if char not in GRID)


def possible(piece: Piece) -> Iterator[str]:
    """What may be seen of a piece."""
    for text in filter(None, (piece.seen, piece.linked)):
        yield letters(text)
        if piece.rows:
            named = zip(piece.columns, piece.filled, strict=True)
            names = "".join(f"{name}:" * count or f"{name}:–" for name, count in named)
            yield letters(text.partition("\n")[2] + names)


def is_shown(answer: Answer, platform: str) -> bool:
    shown = inked(read(render(answer.markdown, platform), platform))
    unordered = any(piece.rows for piece in answer.pieces)
    for texts in itertools.product(*map(possible, answer.pieces)):
        expected = "".join(texts)
        if shown == expected or (unordered and Counter(shown) == Counter(expected)):
            return True
    return False


def test_the_corpus_has_three_hundred_answers_in_twelve_languages() -> None:
    assert len({answer.markdown for answer in ANSWERS}) >= 300
    assert len({answer.name[:2] for answer in ANSWERS}) == 12


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_readers_see_what_was_written(kind: str, platform: str) -> None:
    chosen = [answer for answer in ANSWERS if answer.kind == kind]
    wrong = [answer.name for answer in chosen if not is_shown(answer, platform)]
    assert not wrong
