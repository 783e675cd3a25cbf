"""Recognises a text that says nothing beside the secret that was removed from it: "My access key is
…". "The AWS key of the billing account is …" says whose key there is."""

import re
import unicodedata
from typing import Final

from memory.text.sentences import telling_words
from memory.text.stop_words import telling, unspaced_telling, without_courtesies
from safety.secret_detection.label_words import LINKS, NAMED_BY, OWNERS, WORDS, expression_of
from safety.unicode import REDACTED

_LABELS: Final = re.compile(
    rf"(?<!\w)(?:{expression_of(WORDS).pattern}"
    rf"|(?:{expression_of(w for w, of in WORDS.items() if not of.whole).pattern})\w{{0,2}})(?!\w)"
)
"""A word for a secret, with its ending."""


def _is_spaced(word: str) -> bool:
    return not re.search("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", word)


_BESIDE: Final = (LINKS | OWNERS | frozenset(NAMED_BY)) - {"stripe"}
_UNSPACED: Final = expression_of(
    word
    for word in (*WORDS, *LINKS, *OWNERS, "です", "でした")
    if not _is_spaced(word) and word.strip()
)
"""Words for a secret, and those around it, of scripts without spaces."""


def says_more(redacted: str) -> bool:
    """Return True if a text has content besides the markers of removed secrets: a word that neither
    names a secret, nor says that it is one or whose it is. Linear in the text."""
    text = unicodedata.normalize("NFC", redacted.replace(REDACTED, " ")).casefold()
    text = _LABELS.sub(" ", _UNSPACED.sub(" ", without_courtesies(text)))
    if not any(map(str.isalnum, text)):
        return False
    words = [word for word in telling_words(unspaced_telling(text)) if word not in _BESIDE]
    left = [word for word in words if not (len(word) == 1 and word.isascii())]
    return bool(left) and bool(set(telling(words)) & {*left})
