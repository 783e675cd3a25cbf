"""Decides if one statement of a person replaces an older one of theirs, or may contradict it.

Words that two statements share prove nothing: "My son is allergic to nuts now" says nothing about
a daughter. A replacement needs the same subject and the same attribute, with a value that excludes
the old one. Two forms are certain; everything else is kept beside the old statement.

`DENIED`: the statement denies the old value by name.
    "I prefer spaces now, not tabs" replaces "I prefer tabs". It replaces neither "My brother
    prefers tabs" (another subject), nor "I prefer tabs in makefiles" (it says nothing of those).
`OTHER_NUMBER`: the same sentence with another number, date, time or address, after a definite
    attribute, and announced ("now"). "My phone number is 34 now" replaces "My phone number is 12".
    It does not replace "My office number is 12". "I lent Tom 20 francs now" replaces nothing: it
    may have happened twice.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from memory.text.comparable import (
    COPULAS,
    DATE_KEYS,
    DENIES,
    DENIES_LAST,
    DENIES_NEXT,
    DENIES_NOT,
    DISLIKES,
    LEAVES,
    LIKES,
    MARKED,
    NOT_SINGLE,
    OBJECTS,
    POSTPOSITIONS,
    SIGNS,
    SINGLE,
    TOPIC,
    Statement,
    Token,
    akin,
    sort_of_number,
    tells,
)
from memory.write.other_values import counted_otherwise, gives_up, is_placed, placed_otherwise

MAX_SPAN: Final = 4
"""Words of a value that "instead of" denies."""
MAX_VALUE: Final = 8
"""Words of a value in a frame, or characters of a script without spaces."""


class Relation(StrEnum):
    """The effect of a new statement on an older one."""

    REPLACES = "replaces"
    MAY_CONTRADICT = "may_contradict"
    BESIDE = "beside"


class Reason(StrEnum):
    """The rule that decided."""

    DENIED = "denied"
    """It denies the old value by name."""
    OTHER_NUMBER = "other_number"
    """It has another number, date, time or address in the same place."""
    SAME_FRAME = "same_frame"
    """It has another value in the same place."""
    ANNOUNCED = "announced"
    """It announces a change of the same subject."""
    NAMED = "named"
    """The model names the old statement, whose subject is the same."""
    OTHER_SUBJECT = "other_subject"
    """It is about something or somebody else."""
    GIVEN_UP = "given_up"
    """It says that a thing is gone, which the old one is about."""
    ADDS = "adds"
    """It says that the old statement holds as well."""
    UNRELATED = "unrelated"
    """No rule speaks for a contradiction."""


class Verdict(Struct, frozen=True):
    """A relation, and the rule that it follows from."""

    relation: Relation
    reason: Reason


class Subject(StrEnum):
    """The subjects of two statements, compared."""

    SAME = "same"
    OTHER = "other"
    UNKNOWN = "unknown"


def verdict(new: str, old: str, *, named: bool = False) -> Verdict:
    """Return what `new` does to `old`. `named`: the model names `old` as replaced.

    Pure, and linear in the length of both apart from their common words.
    """
    return judged(Statement.of(new), old, named=named)


def judged(one: Statement | None, old: str, *, named: bool = False) -> Verdict:
    """Return the verdict on a statement that is compared with several old ones."""
    other = Statement.of(old)
    if one is None or other is None:
        return _BESIDE
    if one.adds:
        return Verdict(Relation.BESIDE, Reason.ADDS)
    if _opposed(one, other):
        same = one.person(one.core) == other.person(other.core)
        return _NAMED if named and same else _SAME_FRAME
    if gives_up(one, other):
        return Verdict(Relation.MAY_CONTRADICT, Reason.GIVEN_UP)
    subject = _compared(one, other)
    if subject is Subject.OTHER:
        return Verdict(Relation.BESIDE, Reason.OTHER_SUBJECT)
    found = _denied(one, other, subject) or _framed(one, other, subject)
    if found is not None and found.relation is Relation.REPLACES:
        return found
    if found is None and (counted_otherwise(one, other) or placed_otherwise(one, other)):
        found = _SAME_FRAME
    if named and subject is Subject.SAME:
        return _NAMED
    if found is not None:
        return found
    if named:
        return Verdict(Relation.MAY_CONTRADICT, Reason.NAMED)
    if subject is Subject.SAME and one.announces and _changes_after(one, other):
        return Verdict(Relation.MAY_CONTRADICT, Reason.ANNOUNCED)
    return _BESIDE


_BESIDE: Final = Verdict(Relation.BESIDE, Reason.UNRELATED)
_NAMED: Final = Verdict(Relation.REPLACES, Reason.NAMED)
_DENIED: Final = Verdict(Relation.REPLACES, Reason.DENIED)
_OTHER_NUMBER: Final = Verdict(Relation.REPLACES, Reason.OTHER_NUMBER)
_MAY_BE_DENIED: Final = Verdict(Relation.MAY_CONTRADICT, Reason.DENIED)
_SAME_FRAME: Final = Verdict(Relation.MAY_CONTRADICT, Reason.SAME_FRAME)


def _compared(one: Statement, other: Statement) -> Subject:
    """Compare what stands before the first common word with content, and the persons."""
    shared = one.telling & other.telling
    denied = {place for span in _denied_at_the_beginning(one) for place in span}
    mine = tuple(place for place in one.until(shared) if place not in denied)
    theirs = other.until(shared)
    if not shared:
        mine, theirs = (), ()
    speaks, spoke = one.person(mine), other.person(theirs)
    if speaks and spoke and speaks != spoke:
        return Subject.OTHER
    if not shared:
        return Subject.UNKNOWN
    if one.telling_at(mine) != other.telling_at(theirs):
        first = _object_first(one, mine) and _object_first(other, theirs)
        return Subject.UNKNOWN if first else Subject.OTHER
    return Subject.SAME if speaks == spoke else Subject.UNKNOWN


def _denied_at_the_beginning(one: Statement) -> list[tuple[int, ...]]:
    """Return the places of the value of "Instead of coffee I drink tea"."""
    length = DENIES_NEXT.length_at(one.tokens, 0)
    return [tuple(range(length)), one.clause_after(length)[:1]] if length else []


def _object_first(one: Statement, head: Sequence[int]) -> bool:
    """True if particles or endings mark the head as an object or a place, so that the subject is
    not said."""
    tokens = [one.tokens[place] for place in head]
    if not tokens or any(token.plain == TOPIC for token in tokens):
        return False
    telling = [place for place in head if tells(one.tokens[place])]
    marked = bool(telling) and all(_is_marked(one, place) for place in telling)
    return marked or tokens[-1].plain in OBJECTS


def _is_marked(one: Statement, place: int) -> bool:
    """True if a word ends as an object or a place does, or such a postposition follows."""
    following = one.tokens[place + 1 : place + 2]
    return bool(MARKED.search(one.tokens[place].plain)) or any(
        token.plain in POSTPOSITIONS.single for token in following
    )


def _denied(one: Statement, other: Statement, subject: Subject) -> Verdict | None:
    """Return the verdict on a value of the old statement that the new one denies."""
    if subject is Subject.OTHER:
        return None
    if subject is Subject.SAME and one.telling == other.telling and _asserts(one, other):
        return _DENIED if one.announces else _MAY_BE_DENIED
    maybe = False
    for span in _spans(one):
        denied = one.telling_at(span)
        if subject is Subject.SAME and denied and all(akin(key, other.telling) for key in denied):
            maybe = True
        if not denied or not denied & other.telling:
            continue
        left = other.telling - denied
        known = denied <= other.telling and left <= one.telling
        if subject is Subject.SAME and known and (not left or _is_one_value(one, other)):
            return _DENIED
        maybe = maybe or denied <= other.telling or other.telling <= denied
    maybe = maybe or any(
        one.telling_at(span) and one.telling_at(span) <= other.telling for span in _left(one)
    )
    return _MAY_BE_DENIED if maybe else None


def _opposed(one: Statement, other: Statement) -> bool:
    """True if a person likes the same thing in one statement and dislikes it in the other.
    The verb comes before the thing, so that the subject alone does not show it."""
    for words, opposite in ((LIKES, DISLIKES), (DISLIKES, LIKES)):
        mine, theirs = words.places(one.tokens), opposite.places(other.tokens)
        if mine and theirs:
            of = one.telling_at([place for place in one.core if place not in mine])
            to = other.telling_at([place for place in other.core if place not in theirs])
            alike = len(of) == len(to) > 0 and all(akin(key, to) for key in of)
            persons = {one.person(one.core), other.person(other.core)} - {""}
            return alike and len(persons) < 2
    return False


def _is_one_value(one: Statement, other: Statement) -> bool:
    """True if the new words of a statement, without those that it denies, are a value and nothing
    else: "vim at home, not emacs" says nothing of emacs elsewhere."""
    tokens, known = one.tokens, set(other.keys(other.core))
    left_out = {place for span in _spans(one) for place in span}
    for words in (DENIES, DENIES_NEXT, DENIES_LAST):
        left_out |= words.places(tokens)
    left = [place for place in one.core if place not in left_out]
    new = [at for at, place in enumerate(left) if tokens[place].key not in known]
    together = not new or new[-1] - new[0] + 1 == len(new)
    return together and all(tells(tokens[left[at]]) for at in new)


def _asserts(one: Statement, other: Statement) -> bool:
    """True if exactly one of two statements with the same words denies something."""
    return bool(DENIES.places(other.tokens)) != bool(DENIES.places(one.tokens))


def _spans(one: Statement) -> list[tuple[int, ...]]:
    """Return the places of each value that a statement denies, the shorter after the longer."""
    tokens, spans = one.tokens, list[tuple[int, ...]]()
    marked = frozenset().union(*(one.places(tokens) for one in (DENIES, DENIES_NEXT, DENIES_LAST)))
    for place in sorted(marked - DENIES_NOT.places(tokens)):
        if length := DENIES_NEXT.length_at(tokens, place):
            after = one.clause_after(place + length)
            spans += [after[:end] for end in range(min(MAX_SPAN, len(after)), 0, -1)]
        elif length := DENIES.length_at(tokens, place):
            spans.append(one.clause_after(place + length))
        if DENIES_LAST.length_at(tokens, place):
            before = one.clause_before(place)
            most = MAX_VALUE if tokens[place].dense else MAX_SPAN
            spans += [before[-count:] for count in range(min(most, len(before)), 0, -1)]
    return spans


def _left(one: Statement) -> list[tuple[int, ...]]:
    """Return the places of each value that a statement about a change leaves: "from Basel"."""
    if not one.announces:
        return []
    return [
        one.clause_after(place + length)[:1]
        for place in range(len(one.tokens))
        if (length := LEAVES.length_at(one.tokens, place))
    ]


class _Frame(Struct, frozen=True):
    """Two statements that differ in one value."""

    before: frozenset[str]
    """The common words with content before the value."""
    after: frozenset[str]
    """Those after it."""
    value: tuple[Token, ...]
    old: tuple[Token, ...]
    """The value in the old statement."""
    named: bool
    """True if both values are names."""
    begin: int
    """The place of the value in the core."""
    old_begin: int
    unit: bool
    """True if one word follows the value, at the end: "900 euros"."""


def _frame(one: Statement, other: Statement) -> _Frame | None:
    """Return the frame of two statements that differ in one value each, None if they do not."""
    mine, theirs = _differing(one, other), _differing(other, one)
    if mine is None or theirs is None:
        mine, theirs = _between(one, other)
    if mine is None or theirs is None:
        return None
    begin, end = mine
    value = tuple(one.tokens[place] for place in one.core[begin:end])
    old_begin, old_end = theirs
    old = tuple(other.tokens[place] for place in other.core[old_begin:old_end])
    before = one.telling_at(one.core[:begin]) & other.telling_at(other.core[:old_begin])
    if not before and one.keys(one.core[:begin]) != other.keys(other.core[:old_begin]):
        return None
    after = one.telling_at(one.core[end:]) & other.telling_at(other.core[old_end:])
    after -= DATE_KEYS
    named = _is_name(value, begin) and _is_name(old, old_begin)
    unit = len(one.core) - end == len(other.core) - old_end == 1
    return _Frame(before, after, value, old, named, begin, old_begin, unit)


def _differing(one: Statement, other: Statement) -> tuple[int, int] | None:
    """Return the only run of the core whose words the other lacks; None if there is not one."""
    known = set(other.keys(other.core))
    apart = [at for at, place in enumerate(one.core) if one.tokens[place].key not in known]
    if not apart or len(apart) != apart[-1] - apart[0] + 1 or len(apart) > MAX_VALUE:
        return None
    return apart[0], apart[-1] + 1


Run: TypeAlias = tuple[int, int]
"""The begin and the end of a run of the core."""


def _between(one: Statement, other: Statement) -> tuple[Run, Run] | tuple[None, None]:
    """Return the runs between the words with which both begin and those with which both end."""
    mine, theirs = one.keys(one.core), other.keys(other.core)
    shorter = min(len(mine), len(theirs))
    begin = next((at for at in range(shorter) if mine[at] != theirs[at]), shorter)
    left = shorter - begin
    after = next((at for at in range(left) if mine[-1 - at] != theirs[-1 - at]), left)
    runs = (begin, len(mine) - after), (begin, len(theirs) - after)
    fits = all(begin < end <= begin + MAX_VALUE for begin, end in runs)
    apart = set(mine[slice(*runs[0])]).isdisjoint(theirs[slice(*runs[1])])
    return runs if fits and apart else (None, None)


def _respelt(one: Statement, other: Statement) -> bool:
    """True if exactly one word of a single value is written otherwise: "Zoe", "Zoë"."""
    if one.keys(one.core) != other.keys(other.core) or not SINGLE.places(one.tokens):
        return False
    both = zip(one.core, other.core, strict=True)
    return sum(one.tokens[at].plain != other.tokens[to].plain for at, to in both) == 1


def _framed(one: Statement, other: Statement, subject: Subject) -> Verdict | None:
    """Return the verdict on two statements that differ in one value."""
    frame = _frame(one, other)
    if frame is None:
        return _SAME_FRAME if subject is Subject.SAME and _respelt(one, other) else None
    sort = sort_of_number(frame.value)
    numbers = bool(sort) and sort == sort_of_number(frame.old)
    said = any(COPULAS.length_at(one.tokens, place) for place in one.core)
    if not frame.before and subject is Subject.UNKNOWN and one.telling & other.telling:
        return _SAME_FRAME if one.announces else None
    if not frame.before:
        counted = numbers and said and not frame.after and subject is not Subject.OTHER
        return _OTHER_NUMBER if counted and one.announces else None
    if subject is Subject.UNKNOWN:
        return _SAME_FRAME if one.announces else None
    if frame.after and frame.named:
        return Verdict(Relation.BESIDE, Reason.OTHER_SUBJECT)
    definite = one.definite and other.definite
    nouns = definite and len(frame.before) == 1 and not (said or numbers)
    if nouns and len(frame.value) + len(frame.old) > 2:  # two things about the same subject
        return None
    if one.announces:
        exact = numbers and (definite or said) and (not frame.after or (said and frame.unit))
        return _OTHER_NUMBER if exact else _SAME_FRAME
    if is_placed(one, frame.begin) != is_placed(other, frame.old_begin) and not numbers:
        return None
    single = bool(SINGLE.places(one.tokens) - NOT_SINGLE.places(one.tokens)) and (
        definite or said or not numbers
    )
    likely = single or (definite and (numbers or frame.named or len(frame.before) > 1))
    return _SAME_FRAME if likely and not (frame.after and numbers) else None


def _is_name(value: Sequence[Token], begin: int) -> bool:
    return begin > 0 and all(token.written.lstrip(SIGNS)[:1].isupper() for token in value)


def _changes_after(one: Statement, other: Statement) -> bool:
    """True if two common words with content, or more, come before all others in one of the two."""
    shared = one.telling & other.telling
    return len(shared) > 1 and (_leads(one, shared) or _leads(other, shared))


def _leads(one: Statement, shared: frozenset[str]) -> bool:
    keys = [one.tokens[place].key for place in one.core if tells(one.tokens[place])]
    return all(key in shared for key in keys[: len(shared)])
