"""Checks of a translated sentence against its English one, for catalogues and for overrides."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from gateway.text import BUTTON, COMMAND, COUNT, HOLE, MAX_DESCRIPTION, MAX_LABEL

MAX_REPEATED: Final = 5
"""Times that a form has the same hole: what fills it can be long."""
MAX_SENTENCE: Final = 4_000
"""Characters of one form of a sentence."""
_CODE: Final = re.compile(r"`[^`\n]*`")
_EMPHASIS: Final = "**"
_LIMITS: Final = {BUTTON: MAX_LABEL, COMMAND: MAX_DESCRIPTION}
_ALLOWED_CONTROLS: Final = "\n\u200c\u200d"
"""Line ends, and the joiners that Indic and Arabic scripts need."""


def problems_of(
    msgid: str, plural: str, context: str, forms: Sequence[str], expected: int
) -> Iterator[str]:
    """Return what is wrong with the forms of a translated sentence, a sentence each.

    `expected` is the number of forms that the language has where `plural` is not empty.
    """
    wanted = expected if plural else 1
    if len(forms) != wanted:
        yield f"It has {len(forms)} forms instead of {wanted}"
    for form in forms:
        yield from _problems_of_form(plural or msgid, context, form, counts=bool(plural))


def _problems_of_form(source: str, context: str, form: str, *, counts: bool) -> Iterator[str]:
    if not form.strip():
        yield "It is empty"
        return
    optional = {COUNT} if counts else set[str]()
    holes, own = set(HOLE.findall(source)), set(HOLE.findall(form))
    if own - holes:
        yield f"It has the unknown hole {{{min(own - holes)}}}"
    if holes - own - optional:
        yield f"It lacks the hole {{{min(holes - own - optional)}}}"
    repeated = Counter(HOLE.findall(form)).most_common(1)
    if repeated and repeated[0][1] > MAX_REPEATED:
        yield f"It has the hole {{{repeated[0][0]}}} more than {MAX_REPEATED} times"
    if Counter(_CODE.findall(source)) != Counter(_CODE.findall(form)):
        yield "Its commands and codes in backticks differ from the English ones"
    if source.count(_EMPHASIS) != form.count(_EMPHASIS):
        yield f"It has {form.count(_EMPHASIS)} times ** instead of {source.count(_EMPHASIS)}"
    if _breaks(source) != _breaks(form):
        yield "It begins or ends with other line breaks"
    limit = _LIMITS.get(context, MAX_SENTENCE)
    if len(form) > limit:
        yield f"It has {len(form)} characters; at most {limit} are possible here"
    if unicodedata.normalize("NFC", form) != form:
        yield "Its characters are decomposed; write it in the form NFC"
    for sign in form:
        if unicodedata.category(sign) in {"Cc", "Cf"} and sign not in _ALLOWED_CONTROLS:
            yield f"It has the invisible character U+{ord(sign):04X}"
            return


def _breaks(form: str) -> tuple[int, int]:
    """Return the numbers of line breaks at the beginning and at the end."""
    return len(form) - len(form.lstrip("\n")), len(form) - len(form.rstrip("\n"))
