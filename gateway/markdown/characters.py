"""Kinds of characters beside a mark or an address."""

import functools
import re
import unicodedata
from typing import Final

UNSPACED: Final = (
    r"\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035"
    r"\u303b\u303c\u3040-\u312f\u3130-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\ua4cf"
    r"\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uffdc"
    r"\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Letters of the scripts that write words, or particles after them, without spaces, as a class of
a regular expression: Han, Kana, Hangul, Thai, Lao, Tibetan, Burmese and Khmer."""
COMBINING: Final = "".join(
    chr(code)
    for begin, end in (
        *((0x0300, 0x036F), (0x0591, 0x05C7), (0x0610, 0x061A), (0x064B, 0x0670), (0x06D6, 0x06ED)),
        *((0x0900, 0x0963), (0x0971, 0x0DFF), (0x200C, 0x200D)),
    )
    for code in range(begin, end + 1)
    if unicodedata.category(chr(code)) in ("Mn", "Mc", "Me", "Cf")
)
"""Signs inside of words that `re` does not count as letters, as a class of a regular expression:
accents, the vowels of Hebrew and Arabic, the scripts of India with their vowels, and joiners."""
WIDE_PUNCTUATION: Final = (
    r"\u3000-\u3004\u3008-\u3020\u3030\u303d\u30fb\ufe10-\ufe1f\ufe30-\ufe6f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
"""Punctuation of those scripts, as a class of a regular expression."""

_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_WIDE: Final = re.compile(f"[{WIDE_PUNCTUATION}]")
_SENTENCE: Final = ".,;:!?…،؛؟।॥۔"
_NEUTRAL: Final = "\"'–—~|_>"


@functools.lru_cache(maxsize=4_096)
def kind(char: str) -> str:
    """Return the kind of a character: "space" (also for none), "digit", "letter" (of a script with
    spaces), "unspaced" (of one without), "opening" and "closing" brackets and quotation marks,
    "sentence" (its punctuation), "neutral" (stands before and after words), "code" (a backtick)
    and "operator" (all other signs of ASCII)."""
    if not char or char.isspace():
        return "space"
    if _UNSPACED.match(char):
        return "unspaced"
    if char in _SENTENCE:
        return "sentence"
    if char in _NEUTRAL:
        return "neutral"
    if char == "`":
        return "code"
    category = unicodedata.category(char)
    if category in ("Ps", "Pi"):
        return "opening"
    if category in ("Pe", "Pf"):
        return "closing"
    if category[0] in "LM":
        return "letter"
    if category[0] == "N":
        return "digit"
    if _WIDE.match(char):
        return "sentence"
    return "operator" if char.isascii() else "neutral"


def is_wide(char: str) -> bool:
    """Return True for a letter or a punctuation mark of a script without spaces."""
    return kind(char) == "unspaced" or bool(char and _WIDE.match(char))
