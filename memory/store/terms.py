"""A person's text as the words to look for. Whatever they write, it never becomes query syntax."""

import re
import unicodedata
from typing import Final

MAX_TERMS: Final = 32
"""Different words that one search looks for; further ones are left out."""
MAX_TEXT: Final = 10_000
"""Characters of a text in which words are looked for."""
MAX_TERM: Final = 64

_WORD: Final = re.compile(r"[^\W_]+")


def terms(text: str, limit: int = MAX_TERMS) -> tuple[str, ...]:
    """The different words of a text, letters and digits only, as they are written."""
    found: dict[str, str] = {}
    for word in _WORD.findall(unicodedata.normalize("NFC", text[:MAX_TEXT])):
        found.setdefault(folded(word), word[:MAX_TERM])
        if len(found) == limit:
            break
    return tuple(found.values())


def searchable(*texts: str) -> str:
    """Texts as plain words with spaces between them: the same in every language and locale."""
    return " ".join(word[:MAX_TERM] for text in texts for word in _WORD.findall(folded(text)))


def folded(text: str) -> str:
    """Without case and without accents: "Žofín" becomes "zofin"."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in plain if not unicodedata.combining(char))
