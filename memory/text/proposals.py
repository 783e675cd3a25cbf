"""Compares what would be proposed to a person with what was proposed before, so that the same thing
is asked once.

A rejected proposal keeps keyed hashes of its telling words only: enough to recognise the same
proposal, not to read it. All functions are pure.
"""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Final, Literal

from msgspec import Struct

from memory.model.record import Record, SourceType
from memory.text.similarity import DATES, in_order, is_opposite, jaccard, names_in, says_otherwise
from memory.text.stop_words import STOP_WORDS
from memory.text.terms import folded, stem

REJECTED_FOR: Final = timedelta(days=90)
"""The time for which a rejected proposal is not made again, unless the person says it."""
SAME: Final = 0.6
"""The share of common words from which two proposals are the same."""
MAX_WORDS: Final = 64
"""Words of a proposal that are kept one by one; a longer text is kept as one hash."""
MARK_SIZE: Final = 16
"""Hexadecimal digits of one hash."""
_DECISIVE: Final = "!"
"""Before a word that makes another proposal: a number, a "not", a name, a day, an opposite."""
_WHOLE: Final = "="
_ABOUT: Final = frozenset(
    """
    user person customer client nutzer nutzerin benutzer person utilisateur utilisatrice usuario
    usuaria usuário usuária utente gebruiker użytkownik użytkowniczka пользователь пользовательница
    користувач kullanıcı
    """.split()  # noqa: SIM905 - reads better
)
"""Words by which a model names the person."""

Hashed = Callable[[str], str]
Earlier = Literal["waiting", "rejected"]


class Proposal(Struct, frozen=True):
    """An earlier proposal of a person. `words` are those of `words_of`, or their `marks_of` for a
    rejected one."""

    id: str
    state: Earlier
    words: frozenset[str]
    supersedes: str = ""


def words_of(text: str) -> frozenset[str]:
    """Return the telling words of a proposal without their endings, decisive ones marked; one entry
    for a text of more than `MAX_WORDS` words."""
    said = in_order(text)
    names = names_in(text)
    telling = [word for word in said if _decides(word, names) or word not in STOP_WORDS]
    found = {_plain(word, names) for word in telling if word not in _ABOUT}
    return frozenset((_WHOLE + " ".join(said),)) if len(found) > MAX_WORDS else frozenset(found)


def marks_of(words: Iterable[str], hashed: Hashed) -> frozenset[str]:
    """Return the words as keyed hashes, which show only that a word decides."""
    return frozenset(_mark(word, hashed) for word in words)


def is_same(one: frozenset[str], other: frozenset[str], least: float = SAME) -> bool:
    """Return True if two sets of words, or of marks, are the same proposal: as many of them are
    common, and every decisive one, and only one of them has further words. Where each has a word
    that the other lacks, it may be the left knee and the right one."""
    if any(word.startswith((_DECISIVE, _WHOLE)) for word in one ^ other):
        return False
    if not (one <= other or other <= one):
        return False
    return jaccard(one, other) >= least


def same_before(
    record: Record,
    earlier: Iterable[Proposal],
    hashed: Hashed,
    *,
    replaces: str = "",
    least: float = SAME,
) -> Proposal | None:
    """Return the earlier proposal of a record, a waiting one first; None if it is new. `least` is
    the share of common words.

    What the person says themselves is compared by all of its words, and with waiting ones only: a
    rejection ends with their own words.
    """
    words, own = words_of(record.content), is_own(record)
    marks = marks_of(words, hashed)
    least = 1.0 if own else least
    found: Proposal | None = None
    for one in earlier:
        if one.state == "rejected":
            if not own and found is None and is_same(marks, one.words, least):
                found = one
        elif one.supersedes == replaces and is_same(words, one.words, least):
            return one
    return found


def is_own(record: Record) -> bool:
    """Return True for what the person asked to keep or wrote themselves."""
    provenance = record.provenance
    written = provenance.source is SourceType.USER_MESSAGE and not provenance.external
    return written or provenance.source is SourceType.EXPLICIT_SAVE


def _decides(word: str, names: frozenset[str]) -> bool:
    alone = frozenset((word,))
    return word in names or word in DATES or is_opposite(word) or says_otherwise(alone, frozenset())


def _plain(word: str, names: frozenset[str]) -> str:
    plain = stem(folded(word))
    return f"{_DECISIVE}{plain}" if _decides(word, names) else plain


def _mark(word: str, hashed: Hashed) -> str:
    sign = word[0] if word[:1] in (_DECISIVE, _WHOLE) else ""
    return sign + hashed(f"proposal {word}")[:MARK_SIZE]
