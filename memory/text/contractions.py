"""English contractions written out: a model writes "I am" where a person wrote "I'm"."""

import re
from collections.abc import Iterator
from typing import Final

_WHOLE: Final = {
    "can't": "cannot",
    "cant": "cannot",
    "won't": "willnot",
    "shan't": "shallnot",
    "ain't": "isnot",
    "im": "iam",
    "ive": "ihave",
    "youre": "youare",
    "theyre": "theyare",
    "let's": "letus",
    "gonna": "goingto",
    "wanna": "wantto",
}
_ENDS: Final = {"n't": "not", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
_NEGATED: Final = frozenset(
    "do does did is are was were have has had could would should must need".split()  # noqa: SIM905 - reads better
)
_WORD: Final = re.compile(r"[A-Za-z]+(?:['’ʼ][A-Za-z]{1,2}\b)?")


def contracted(text: str) -> Iterator[tuple[int, int, str]]:
    """The contractions of a text: where each begins and ends, and the letters it stands for."""
    for match in _WORD.finditer(text):
        full = _full(match[0].casefold().replace("’", "'").replace("ʼ", "'"))
        if full:
            yield match.start(), match.end(), full


def _full(word: str) -> str:
    if word in _WHOLE:
        return _WHOLE[word]
    for end, full in _ENDS.items():
        if word.endswith(end):
            return word[: -len(end)] + full
    if word.endswith("nt") and word[:-2] in _NEGATED:
        return f"{word[:-2]}not"
    return ""
