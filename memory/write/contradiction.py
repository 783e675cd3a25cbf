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

import re
import unicodedata
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from memory.text.sentences import SPEAKER
from memory.text.similarity import DATES, UNSPACED_DATES
from memory.text.stop_words import FUNCTION_WORDS, STOP_WORDS, language_of
from memory.text.terms import folded, stem
from safety.word_lists import phrases_of, read_word_lists

MAX_TOKENS: Final = 80
"""Words of a statement that are compared; a longer statement replaces nothing by its form."""
_LISTS: Final = read_word_lists(__file__)


class Relation(StrEnum):
    """What a new statement does to an older one."""

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
    ADDS = "adds"
    """It says that the old statement holds as well."""
    UNRELATED = "unrelated"
    """Nothing speaks for a contradiction."""


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
    one, other = _Statement.of(new), _Statement.of(old)
    if one is None or other is None:
        return _BESIDE
    subject = _compared(one, other)
    if subject is Subject.OTHER:
        return Verdict(Relation.BESIDE, Reason.OTHER_SUBJECT)
    if one.adds:
        return Verdict(Relation.BESIDE, Reason.ADDS)
    found = _denied(one, other, subject) or _framed(one, other, subject)
    if found is not None and found.relation is Relation.REPLACES:
        return found
    if named and subject is Subject.SAME:
        return Verdict(Relation.REPLACES, Reason.NAMED)
    if found is not None:
        return found
    if named:
        return Verdict(Relation.MAY_CONTRADICT, Reason.NAMED)
    if subject is Subject.SAME and one.announces and _changes_after(one, other):
        return Verdict(Relation.MAY_CONTRADICT, Reason.ANNOUNCED)
    return _BESIDE


def announces_change(text: str) -> bool:
    """Return True for "now", "instead", "no longer" and similar words."""
    return _ANNOUNCES.within(text)


_BESIDE: Final = Verdict(Relation.BESIDE, Reason.UNRELATED)
_DENIED: Final = Verdict(Relation.REPLACES, Reason.DENIED)
_OTHER_NUMBER: Final = Verdict(Relation.REPLACES, Reason.OTHER_NUMBER)
_MAY_BE_DENIED: Final = Verdict(Relation.MAY_CONTRADICT, Reason.DENIED)
_SAME_FRAME: Final = Verdict(Relation.MAY_CONTRADICT, Reason.SAME_FRAME)


def _plain(word: str) -> str:
    return unicodedata.normalize("NFC", word.casefold()).replace("’", "'")


class _Words(Struct, frozen=True):
    """Words, phrases, and words of scripts without spaces."""

    single: frozenset[str] = frozenset()
    phrases: tuple[tuple[str, ...], ...] = ()
    unspaced: tuple[str, ...] = ()
    """The longest first."""

    @classmethod
    def named(cls, name: str, *, phrases: str = "", unspaced: str = "") -> "_Words":
        several = [tuple(_plain(one).split()) for one in phrases_of(_LISTS.get(phrases, ""))]
        single = {_plain(word) for word in _LISTS.get(name, "").split()}
        single |= {words[0] for words in several if len(words) == 1}
        long = sorted((words for words in several if len(words) > 1), key=len, reverse=True)
        dense = sorted(_LISTS.get(unspaced, "").split(), key=len, reverse=True)
        return cls(frozenset(single), tuple(long), tuple(dense))

    def within(self, text: str) -> bool:
        """True if one of them stands in a text."""
        tokens = _tokens(text)
        return any(self.length_at(tokens, place) for place in range(len(tokens)))

    def length_at(self, tokens: Sequence["_Token"], place: int) -> int:
        """Return the number of tokens of the word or phrase that begins at a place, 0 for none."""
        for phrase in self.phrases:
            if tuple(token.plain for token in tokens[place : place + len(phrase)]) == phrase:
                return len(phrase)
        if tokens[place].dense:
            here = "".join(token.plain for token in tokens[place : place + _LONGEST])
            return next((len(word) for word in self.unspaced if here.startswith(word)), 0)
        return int(tokens[place].plain in self.single and not tokens[place].foreign)

    def places(self, tokens: Sequence["_Token"]) -> frozenset[int]:
        """Return the places of all tokens that belong to them."""
        found: set[int] = set()
        for place in range(len(tokens)):
            found.update(range(place, place + self.length_at(tokens, place)))
        return frozenset(found)


class _Token(Struct, frozen=True):
    """A word, or a character of a script without spaces."""

    written: str
    plain: str
    key: str
    """The form under which two words are the same."""
    dense: bool
    ends: bool
    """True if a sign that ends a clause follows."""
    foreign: bool = False
    """True for a word that the lists mean in another language only: "son" in English."""


_SPACELESS: Final = (
    "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
)
_TOKEN: Final = re.compile(rf"[{_SPACELESS}]|[^\s{_SPACELESS}]+")
_SIGNS: Final = ".,;:!?\"'`()[]{}*_~…«»‹›“”„‘’‚¿¡。、！？；：，「」『』（）【】،؛؟।-–—"
_ENDS: Final = frozenset(".,;:!?…。、！？；：，،؛؟।)–—")
_LONGEST: Final = 6
"""Characters of the longest unspaced word in the lists."""
_PARTICLES: Final = frozenset(
    "はがをのにでともへかやねよだですますいるた的是了在吧呢啊着过很对也都就和与跟"
)
_OBJECTS: Final = frozenset("をが")
_DENSE_SPEAKERS: Final = frozenset("我私僕俺")
_EMPTY: Final = FUNCTION_WORDS | STOP_WORDS | SPEAKER
MAX_SPAN: Final = 4
"""Words of a value that "instead of" denies."""
MAX_VALUE: Final = 8
"""Words of a value in a frame, or characters of a script without spaces."""


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    for match in _TOKEN.finditer(text):
        written = match[0]
        word = written.strip(_SIGNS)
        ends = written[-1] in _ENDS
        if not word:
            if ends and found:
                found[-1] = replace(found[-1], ends=True)
            continue
        dense = re.match(f"[{_SPACELESS}]", word) is not None
        plain = _plain(word)
        key = plain if dense else stem(folded(plain))
        found.append(_Token(word, plain, key, dense, ends))
    language = language_of([token.plain for token in found])
    return [
        replace(token, foreign=True)
        if token.plain in _ONLY_IN and language not in _ONLY_IN[token.plain]
        else token
        for token in found
    ]


def _only_in() -> dict[str, frozenset[str]]:
    """Return the languages of the words that mean something else in another one."""
    pairs = [entry.split() for entry in phrases_of(_LISTS["languages"])]
    words = {word for word, *_ in pairs}
    return {word: frozenset(named for one, named in pairs if one == word) for word in words}


_ONLY_IN: Final = _only_in()


_ANNOUNCES: Final = _Words.named(
    "announcements", phrases="announcing phrases", unspaced="unspaced announcements"
)
_ADDS: Final = _Words.named("additions", phrases="adding phrases", unspaced="unspaced additions")
_ARTICLES: Final = _Words.named("articles")
_POSSESSIVES: Final = _Words.named("possessives", unspaced="unspaced possessives")
_OTHERS: Final = _Words.named("others", unspaced="unspaced others")
_COPULAS: Final = _Words.named("copulas")
_DENIES: Final = _Words.named("", phrases="denials", unspaced="unspaced denials")
_DENIES_NEXT: Final = _Words.named("", phrases="denials of one")
_DENIES_LAST: Final = _Words.named("", phrases="denials after", unspaced="unspaced denials after")
_DENIES_NOT: Final = _Words.named("", phrases="no denials")
_LEAVES: Final = _Words.named("", phrases="leaving")
_SINGLE: Final = _Words.named("single values", unspaced="unspaced single values")
_DATES: Final = _Words(DATES, (), UNSPACED_DATES)


_DATE_KEYS: Final = frozenset(stem(folded(word)) for word in _DATES.single)


class _Statement(Struct, frozen=True):
    """A statement, prepared for the comparison. Places are indexes of `tokens`."""

    tokens: tuple[_Token, ...]
    core: tuple[int, ...]
    """The places without articles and announcements."""
    telling: frozenset[str]
    """The keys of the words with content."""
    announces: bool
    adds: bool
    """True if it says that something holds as well."""
    definite: bool
    """True if it begins with an article or a possessive."""

    @classmethod
    def of(cls, text: str) -> "_Statement | None":
        """Return None for a text without words, and for one that is too long."""
        tokens = tuple(_tokens(text))
        if not tokens or len(tokens) > MAX_TOKENS:
            return None
        announced, articles = _ANNOUNCES.places(tokens), _ARTICLES.places(tokens)
        core = tuple(place for place in range(len(tokens)) if place not in announced | articles)
        begins = next((one for one in range(len(tokens)) if one not in announced), 0)
        added = any(token.plain.endswith("도") and len(token.plain) > 1 for token in tokens)
        return cls(
            tokens,
            core,
            frozenset(tokens[place].key for place in core if _tells(tokens[place])),
            bool(announced),
            added or bool(_ADDS.places(tokens)),
            begins in articles or bool(_POSSESSIVES.length_at(tokens, begins)),
        )

    def keys(self, places: Sequence[int]) -> list[str]:
        """Return the keys at places."""
        return [self.tokens[place].key for place in places]

    def telling_at(self, places: Sequence[int]) -> frozenset[str]:
        """Return the keys of the words with content at places."""
        return frozenset(self.tokens[at].key for at in places if _tells(self.tokens[at]))

    def until(self, keys: frozenset[str]) -> tuple[int, ...]:
        """Return the places of the core before the first word with one of these keys."""
        for number, place in enumerate(self.core):
            if self.tokens[place].key in keys and _tells(self.tokens[place]):
                return self.core[:number]
        return self.core

    def person(self, head: Sequence[int]) -> str:
        """Return of whom it speaks by its pronouns: the speaker, a third person, or unknown."""
        third, speaks = _OTHERS.places(self.tokens), any(map(_is_speaker, self.tokens))
        if any(place in third for place in head) or (third and not speaks):
            return "third"
        return "speaker" if speaks else ""

    def clause_after(self, place: int) -> tuple[int, ...]:
        """Return the places of the core from a place to the end of its clause."""
        found = []
        for at in range(place, len(self.tokens)):
            found += [at] if at in self.core else []
            if self.tokens[at].ends:
                break
        return tuple(found)

    def clause_before(self, place: int) -> tuple[int, ...]:
        """Return the places of the core from the beginning of a clause to a place."""
        found: list[int] = []
        for at in range(place - 1, -1, -1):
            if self.tokens[at].ends:
                break
            found += [at] if at in self.core else []
        return tuple(reversed(found))


def _tells(token: _Token) -> bool:
    if token.dense:
        return token.plain not in _PARTICLES and token.plain not in _DENSE_SPEAKERS
    if token.foreign:
        return token.plain not in STOP_WORDS and token.plain not in SPEAKER
    return token.plain not in _EMPTY and token.plain not in _NO_CONTENT


_NO_CONTENT: Final = (
    _POSSESSIVES.single | _OTHERS.single | _COPULAS.single | _ARTICLES.single | _DENIES.single
)


def _is_speaker(token: _Token) -> bool:
    return token.plain in (_DENSE_SPEAKERS if token.dense else SPEAKER)


def _compared(one: _Statement, other: _Statement) -> Subject:
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


def _denied_at_the_beginning(one: _Statement) -> list[tuple[int, ...]]:
    """Return the places of the value of "Instead of coffee I drink tea"."""
    length = _DENIES_NEXT.length_at(one.tokens, 0)
    return [tuple(range(length)), one.clause_after(length)[:1]] if length else []


def _object_first(one: _Statement, head: Sequence[int]) -> bool:
    """True if a particle marks the head as an object, whose subject is not said."""
    return bool(head) and one.tokens[head[-1]].plain in _OBJECTS


def _denied(one: _Statement, other: _Statement, subject: Subject) -> Verdict | None:
    """Return the verdict on a value of the old statement that the new one denies."""
    if subject is Subject.OTHER:
        return None
    if subject is Subject.SAME and one.telling == other.telling and _asserts(one, other):
        return _DENIED if one.announces else _MAY_BE_DENIED
    maybe = False
    for span in _spans(one):
        denied = one.telling_at(span)
        if not denied or not denied & other.telling:
            continue
        left = other.telling - denied
        if subject is Subject.SAME and denied <= other.telling and left <= one.telling:
            return _DENIED
        maybe = maybe or denied <= other.telling or other.telling <= denied
    maybe = maybe or any(
        one.telling_at(span) and one.telling_at(span) <= other.telling for span in _left(one)
    )
    return _MAY_BE_DENIED if maybe else None


def _asserts(one: _Statement, other: _Statement) -> bool:
    """True if exactly the old one of two statements with the same words denies something."""
    return bool(_DENIES.places(other.tokens)) and not _DENIES.places(one.tokens)


def _spans(one: _Statement) -> list[tuple[int, ...]]:
    """Return the places of each value that a statement denies, the shorter after the longer."""
    tokens, spans = one.tokens, list[tuple[int, ...]]()
    excepted = _DENIES_NOT.places(tokens)
    for place in range(len(tokens)):
        if place in excepted:
            continue
        if length := _DENIES_NEXT.length_at(tokens, place):
            after = one.clause_after(place + length)
            spans += [after[:end] for end in range(min(MAX_SPAN, len(after)), 0, -1)]
        elif length := _DENIES.length_at(tokens, place):
            spans.append(one.clause_after(place + length))
        if _DENIES_LAST.length_at(tokens, place):
            before = one.clause_before(place)
            most = MAX_VALUE if tokens[place].dense else MAX_SPAN
            spans += [before[-count:] for count in range(min(most, len(before)), 0, -1)]
    return spans


def _left(one: _Statement) -> list[tuple[int, ...]]:
    """Return the places of each value that a statement about a change leaves: "from Basel"."""
    if not one.announces:
        return []
    return [
        one.clause_after(place + length)[:1]
        for place in range(len(one.tokens))
        if (length := _LEAVES.length_at(one.tokens, place))
    ]


class _Frame(Struct, frozen=True):
    """Two statements that differ in one value."""

    before: frozenset[str]
    """The common words with content before the value."""
    after: frozenset[str]
    """Those after it."""
    value: tuple[_Token, ...]
    old: tuple[_Token, ...]
    """The value in the old statement."""
    named: bool
    """True if both values are names."""


def _frame(one: _Statement, other: _Statement) -> _Frame | None:
    """Return the frame of two statements that differ in one value each, None if they do not."""
    mine, theirs = _differing(one, other), _differing(other, one)
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
    after -= _DATE_KEYS
    named = _is_name(value, begin) and _is_name(old, old_begin)
    return _Frame(before, after, value, old, named)


def _differing(one: _Statement, other: _Statement) -> tuple[int, int] | None:
    """Return the only run of the core whose words the other lacks; None if there is not one."""
    known = set(other.keys(other.core))
    apart = [at for at, place in enumerate(one.core) if one.tokens[place].key not in known]
    if not apart or len(apart) != apart[-1] - apart[0] + 1 or len(apart) > MAX_VALUE:
        return None
    return apart[0], apart[-1] + 1


def _framed(one: _Statement, other: _Statement, subject: Subject) -> Verdict | None:
    """Return the verdict on two statements that differ in one value."""
    frame = _frame(one, other)
    if frame is None:
        return None
    numbers = _is_number(frame.value) and _is_number(frame.old)
    said = any(_COPULAS.length_at(one.tokens, place) for place in one.core)
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
    if one.announces:
        exact = numbers and not frame.after and (definite or said)
        return _OTHER_NUMBER if exact else _SAME_FRAME
    single = bool(_SINGLE.places(one.tokens)) and (definite or said or not numbers)
    likely = single or (definite and (numbers or frame.named or len(frame.before) > 1))
    return _SAME_FRAME if likely and not (frame.after and numbers) else None


def _is_number(value: Sequence[_Token]) -> bool:
    """True for a number, a date, a time or an address."""
    dates = _DATES.places(value)
    return all(
        place in dates or any(map(_is_numeric, token.plain)) or {"@", "/"} & set(token.plain)
        for place, token in enumerate(value)
    )


def _is_numeric(sign: str) -> bool:
    return unicodedata.numeric(sign, None) is not None


def _is_name(value: Sequence[_Token], begin: int) -> bool:
    return begin > 0 and all(token.written.lstrip(_SIGNS)[:1].isupper() for token in value)


def _changes_after(one: _Statement, other: _Statement) -> bool:
    """True if two common words with content, or more, come before all others in one of the two."""
    shared = one.telling & other.telling
    return len(shared) > 1 and (_leads(one, shared) or _leads(other, shared))


def _leads(one: _Statement, shared: frozenset[str]) -> bool:
    keys = [one.tokens[place].key for place in one.core if _tells(one.tokens[place])]
    return all(key in shared for key in keys[: len(shared)])
