"""Decides at low cost if two adjacent texts must be read together to find a secret in both.

Nearly all pairs of messages need not: the first one has no word that labels a secret, and no part
of a token, key or number at its end. Both tests are necessary conditions of the finders in
`safety/secret_detection/detect.py`; a text that passes is not necessarily a secret.
"""

from typing import Final

from safety.secret_detection.api_keys import SHORTEST
from safety.secret_detection.command_lines import STATEMENT_STEMS
from safety.secret_detection.contextual import PAIR_WORDS
from safety.secret_detection.http_headers import HEADER_STEMS
from safety.secret_detection.label_words import ANY_WORD, ASCII_WORDS, VENDOR_NAMES, expression_of
from safety.secret_detection.private_keys import ARMOUR
from safety.secret_detection.unlabelled import FOUR_DIGITS
from safety.secret_detection.visible_text import is_visible

_QUOTED_NAMES: Final = ('"d"', "'d'")
"""The name of a private key in JOSE (RFC 7517)."""
_SEEDS: Final = ("seed", "recovery", "mnemonic", "backup", "wallet")
_STEMS: Final = (*STATEMENT_STEMS, *HEADER_STEMS, *VENDOR_NAMES, *_QUOTED_NAMES, *_SEEDS)
_STEM: Final = expression_of({stem.strip() for stem in _STEMS})


def may_label(text: str) -> bool:
    """Return False if no word in the text can label a secret on the next line."""
    if not is_visible(text):
        return True
    lowered = text.lower()
    words = ASCII_WORDS if text.isascii() else ANY_WORD
    return (
        len(lowered) != len(text)
        or words.search(lowered) is not None
        or _STEM.search(lowered) is not None
        or PAIR_WORDS.search(lowered) is not None
    )


def may_hold_token(text: str) -> bool:
    """Return False if the text has no secret that is recognised by its form alone."""
    return (
        max(map(len, text.split()), default=0) >= SHORTEST
        or FOUR_DIGITS.search(text) is not None
        or ARMOUR.search(text) is not None
        or not is_visible(text)
    )
