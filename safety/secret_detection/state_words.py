"""Words that say how a password, a key or a token is, and so are none: "my password is wrong",
"mein Passwort ist abgelaufen", "la contraseña es obligatoria".

They stand where the password itself stands in "my password is swordfish". A language forms most of
them with few endings; the others are listed.
"""

import re
import unicodedata
from typing import Final

from safety.word_lists import read_word_lists

_STATES: Final = frozenset(
    unicodedata.normalize("NFC", word)
    for words in read_word_lists(__file__).values()
    for word in words.split()
)
_ENDINGS: Final = re.compile(
    r"(?:ing|able|ible|tion|ment|ness|ly|ed|less|ful|ous|ive|ary"
    r"|lich|bar|los|haft|iert|pflichtig|isch|loos|baar"
    r"|[ai]d[oa]s?|[aiu]t[oa]|[óá]ri[oa]|ável|ível|bile|iv[oa]"
    r"|ée?s?|eux|euse|oire"
    r"|[ыио]й|[её]н[оа]?|ан[оа]?|тый|но|лся|лась"
    r"|gt|igt|nen|lis|lik|siz|sız|suz|süz)\Z"
)
"""Endings of participles and adjectives: English, German and Dutch, Spanish, Portuguese and
Italian, French, Russian and Ukrainian, the Nordic languages, Finnish, Turkish."""
_SLAVIC: Final = re.compile(r"(?:[nwłtbk][eyéí]|sk[ie])\Z")
"""Those of Polish, Czech and Slovak, in which many an English word ends."""
_SLAVIC_LABELS: Final = ("has", "hesl", "klucz", "klíč", "kľúč", "sekret")
_FORMED: Final = re.compile(r"(?:un|ge|ver|ab|be|zer|ent|on|über)\w{2,}(?:[td]|en|ig)\Z")
"""German and Dutch: "gestohlen", "vergessen", "ungültig"."""
_SHORTEST: Final = 5


def says_how_it_is(word: str, label: str = "") -> bool:
    """Return True for such a word behind a label, both in small letters."""
    if word in _STATES:
        return True
    if len(word) < _SHORTEST:
        return False
    if label.startswith(_SLAVIC_LABELS) and _SLAVIC.search(word) is not None:
        return True
    return _ENDINGS.search(word) is not None or _FORMED.match(word) is not None
