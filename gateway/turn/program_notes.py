"""Tells the program's own sentences in an answer from the model's words.

A stored answer is what people saw: it may end with a sentence of the program, such as that it was
cut. The model does not get these sentences back as its own words, because it would imitate them.
"""

import re
from typing import Final, get_args

from gateway.outbound.live.answer import BROKEN, HELD, STOPPED
from gateway.turn.closing import NO_ANSWER, closing
from gateway.turn.render import LEFT_OUT, WITHOUT_MEMORY
from gateway.turn.types import Outcome

MOST: Final = 5
"""The sentences of the program at the end of one answer that are removed at most."""
_ALONE: Final = frozenset({"I can't help with that.", "Stopped."})
"""Sentences that the model may use too: they are the program's only if they are the whole answer.
The first one is of earlier versions."""
_REFERENCE: Final = re.compile(r" \(Reference for the operator: [^()]{1,200}\)\Z")
_CLOSINGS: Final = {
    closing(outcome, has_text) for outcome in get_args(Outcome) for has_text in (True, False)
}
_NOTES: Final = tuple(
    sorted(
        {*_CLOSINGS, NO_ANSWER, BROKEN, HELD, STOPPED, LEFT_OUT, WITHOUT_MEMORY} - {"", *_ALONE},
        key=len,
        reverse=True,
    )
)


def words_of_model(answer: str) -> str:
    """Return a stored answer without the program's sentences at its end; "" if it has no other
    words."""
    text = answer.rstrip()
    for _ in range(MOST):
        told = _REFERENCE.sub("", text)
        if not told.endswith(_NOTES):
            break
        note = next(each for each in _NOTES if told.endswith(each))
        text = told.removesuffix(note).rstrip()
    return "" if text in _ALONE else text
