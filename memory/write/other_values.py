"""Recognises two statements of which one gives another value of the same thing, without a word
for a change: another number, another place, or that the thing is given up. These are questions,
because both may be true: a bike that was at the station may be in the cellar today.

"The server has 8 cores" may contradict "The server has 4 cores", and neither "The server has 64 GB"
nor "The other server has 4 cores". "I bought 3 books" may have happened twice.
"""

import re
from typing import Final

from memory.text.comparable import (
    COPULAS,
    DATES,
    GIVES_UP,
    HAS,
    INDEFINITE,
    LOCATIVE,
    OWNED,
    PLACES,
    PLACES_AFTER,
    STANDS,
    TOPIC,
    Statement,
    Token,
    akin,
    is_number,
    same_but_for_endings,
    sort_of_number,
    tells,
)
from memory.text.stop_words import language_of

_MEASURED: Final = re.compile(r"(?:예요|이에요|입니다|있어요|있습니다|있다)$")
"""The end of a Korean statement about a state."""
_NUMBERED: Final = re.compile(r"\d+(?:[.,]\d+)?([^\W\d_]+)")
"""A number with its unit in one word."""


def counted_otherwise(one: Statement, other: Statement) -> bool:
    """Return True for the same words but for one number, of a thing that is said before it and with
    its unit after it, where a word says that the thing has so many."""
    both = list(zip(one.core, other.core, strict=False))
    if len(one.core) != len(other.core) or not (_is_state(one) and _is_state(other)):
        return False
    apart = [at for at, (mine, theirs) in enumerate(both) if not _alike(one, mine, other, theirs)]
    if len(apart) != 1 or apart[0] == 0:
        return False
    mine, theirs = both[apart[0]]
    if _same_unit(one.tokens[mine], other.tokens[theirs]):
        return bool(one.telling_at(one.core[: apart[0]]))
    if apart[0] == len(both) - 1:
        return False
    numbers = is_number(one.tokens[mine]) and is_number(other.tokens[theirs])
    numbers = numbers and _says_before_or_last(one, mine)
    unit = one.tokens[both[apart[0] + 1][0]]
    return numbers and tells(unit) and bool(one.telling_at(one.core[: apart[0]]) or _speaks(one))


def placed_otherwise(one: Statement, other: Statement) -> bool:
    """Return True for one definite thing that is in two places."""
    begin = _shared(one, other)
    if not (_is_subject(one, begin) and _is_subject(other, begin)):
        return False
    if any(DATES.places(each.tokens) for each in (one, other)):
        return False
    values = (_value(one, begin), _value(other, begin))
    if not all(values) or any(sort_of_number(value) for value in values):
        return False
    return is_placed(one, begin) and is_placed(other, begin)


def is_placed(one: Statement, begin: int) -> bool:
    """Return True if the value that begins at this place of the core is a place."""
    if begin >= len(one.core):
        return False
    place = one.core[begin]
    first = one.tokens[place]
    if _leads_to_place(one, place) or (begin and _leads_to_place(one, one.core[begin - 1])):
        return True
    if first.dense:
        rest = "".join(one.tokens[at].plain for at in one.core[begin:])
        return any(mark in rest for mark in PLACES_AFTER.unspaced)
    following = one.tokens[place + 1 : place + 2]
    return bool(LOCATIVE.search(first.plain)) or any(
        token.plain in PLACES_AFTER.single for token in following
    )


def _leads_to_place(one: Statement, place: int) -> bool:
    return one.tokens[place].plain in PLACES.single or bool(PLACES.length_at(one.tokens, place))


def gives_up(one: Statement, other: Statement) -> bool:
    """Return True if the person says that a definite thing of theirs is gone, which the other
    statement is about or says that they have."""
    gone = GIVES_UP.places(one.tokens)
    if not gone or GIVES_UP.places(other.tokens):
        return False
    mine = [place for place in one.core if tells(one.tokens[place]) and place not in gone]
    has = HAS.places(other.tokens)
    theirs = [place for place in other.core if tells(other.tokens[place]) and place not in has]
    if not mine or not theirs or "third" in (one.person(one.core), other.person(other.core)):
        return False
    thing = _run(one, mine)
    if not _akin_first(one, mine, other, theirs) or not all(
        akin(one.tokens[at].key, other.telling) for at in thing
    ):
        return False
    names = frozenset(one.tokens[at].key for at in mine)
    if has and not _begins_owned(other, theirs[0]):
        return _is_definite(one, thing[0]) and all(
            akin(other.tokens[at].key, names) for at in _run(other, theirs)
        )
    known = _before_copula(other, theirs)
    return _begins_owned(other, theirs[0]) and all(
        akin(other.tokens[at].key, names) for at in known
    )


def _is_state(one: Statement) -> bool:
    """True if the statement says how much or how many a thing has, and not what happened."""
    return bool(_having(one)) or _is_measured(one)


def _having(one: Statement) -> list[int]:
    """Return the places of the words that say what a thing has or is."""
    has = HAS.places(one.tokens) | COPULAS.places(one.tokens)
    if any(one.tokens[at].plain == "a" for at in has):  # French for "has"
        english = language_of([token.plain for token in one.tokens]) in ("English", "")
        has -= {at for at in has if english and one.tokens[at].plain == "a"}
    return sorted(has)


def _is_measured(one: Statement) -> bool:
    return bool(_MEASURED.search(one.tokens[-1].plain))


def _says_before_or_last(one: Statement, number: int) -> bool:
    """False where the number names the thing: "Shelf 2 holds jars"."""
    places = _having(one)
    before = any(place < number for place in places)
    return before or _is_measured(one) or one.core[-1] in places


def _alike(one: Statement, mine: int, other: Statement, theirs: int) -> bool:
    left, right = one.tokens[mine].key, other.tokens[theirs].key
    if left == right:
        return True
    numbers = is_number(one.tokens[mine]) or is_number(other.tokens[theirs])
    return not numbers and same_but_for_endings(left, right)


def _same_unit(one: Token, other: Token) -> bool:
    """True for two numbers with the same unit written to them: "64GB"."""
    mine, theirs = _NUMBERED.fullmatch(one.plain), _NUMBERED.fullmatch(other.plain)
    return mine is not None and theirs is not None and mine[1] == theirs[1]


def _speaks(one: Statement) -> bool:
    return one.person(one.core) == "speaker"


def _shared(one: Statement, other: Statement) -> int:
    """Return the number of equal words at the beginning."""
    mine, theirs = one.keys(one.core), other.keys(other.core)
    shorter = min(len(mine), len(theirs))
    return next((at for at in range(shorter) if mine[at] != theirs[at]), shorter)


def _is_subject(one: Statement, begin: int) -> bool:
    """True if one definite thing, and nothing that it does, stands before the value."""
    head = [one.tokens[place] for place in one.core[:begin]]
    while head and (head[-1].plain in PLACES.single or head[-1].plain == "在"):
        head.pop()
    telling = [token for token in head if tells(token) and token.plain not in STANDS.single]
    if not telling or not (_is_named(one) or _owns(telling[0])):
        return False
    stands = head[-1].plain in STANDS.single or head[-1].plain in COPULAS.single
    dense = all(token.dense for token in telling)
    return (
        stands
        or len(telling) == 1
        or (dense and (head[-1].plain == TOPIC or telling[-1] is head[-1]))
    )


def _is_named(one: Statement) -> bool:
    """True if it begins with a definite article or a possessive."""
    return one.definite and one.tokens[0].plain not in INDEFINITE.single


def _owns(token: Token) -> bool:
    return bool(OWNED.search(token.plain))


def _value(one: Statement, begin: int) -> list[Token]:
    return [one.tokens[place] for place in one.core[begin:]]


def _run(one: Statement, telling: list[int]) -> list[int]:
    """Return the first words with content that follow each other directly."""
    end = next(
        (at for at in range(1, len(telling)) if telling[at] != telling[at - 1] + 1), len(telling)
    )
    return telling[:end]


def _akin_first(one: Statement, mine: list[int], other: Statement, theirs: list[int]) -> bool:
    left, right = one.tokens[mine[0]].key, other.tokens[theirs[0]].key
    return left == right or same_but_for_endings(left, right)


def _is_definite(one: Statement, place: int) -> bool:
    """True if a possessive or a definite article stands before a word."""
    before = one.tokens[place - 1].plain if place else ""
    return one.is_possessive(place - 1) or (
        one.is_article(place - 1) and before not in INDEFINITE.single
    )


def _begins_owned(one: Statement, first: int) -> bool:
    """True if the statement is about a thing that is theirs."""
    return _is_named(one) or (first == 0 and _owns(one.tokens[0]))


def _before_copula(one: Statement, telling: list[int]) -> list[int]:
    """Return the words of the subject, the first word alone where no copula ends it."""
    ends = [at for at in one.core if COPULAS.length_at(one.tokens, at)]
    return [at for at in telling if at < ends[0]] if ends else telling[:1]
