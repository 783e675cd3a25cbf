"""Statements of people, prepared for a comparison of two of them: their words in order, and the
words that say how a statement relates to an earlier one, in the languages of Parley.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from memory.text.sentences import SPEAKER
from memory.text.similarity import DATES as DATE_NAMES
from memory.text.similarity import UNSPACED_DATES
from memory.text.stop_words import FUNCTION_WORDS, STOP_WORDS, language_of
from memory.text.terms import folded, stem
from safety.word_lists import phrases_of, read_word_lists

MAX_TOKENS: Final = 80
"""Words of a statement that are compared; a longer statement replaces nothing by its form."""
MIN_STEM: Final = 3
"""Letters that two forms of a word share at least."""
MAX_ENDING: Final = 2
"""Letters in which two forms of a word differ at most."""
_LISTS: Final = read_word_lists(__file__)


def _plain(word: str) -> str:
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFC", word.casefold()).replace("’", "'")


_NOWHERE: Final = frozenset[int]()


class Words(Struct, frozen=True):
    """Words, phrases, and words of scripts without spaces."""

    single: frozenset[str] = frozenset()
    phrases: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """Phrases by their first word, the longest first."""
    unspaced: tuple[str, ...] = ()
    """The longest first."""

    @classmethod
    def named(cls, name: str, *, phrases: str = "", unspaced: str = "") -> "Words":
        several = [tuple(_plain(one).split()) for one in phrases_of(_LISTS.get(phrases, ""))]
        single = {_plain(word) for word in _LISTS.get(name, "").split()}
        single |= {words[0] for words in several if len(words) == 1}
        long = sorted((words for words in several if len(words) > 1), key=len, reverse=True)
        dense = sorted(_LISTS.get(unspaced, "").split(), key=len, reverse=True)
        begins = dict.fromkeys(words[0] for words in long)
        starting = {one: tuple(words for words in long if words[0] == one) for one in begins}
        return cls(frozenset(single), starting, tuple(dense))

    def length_at(self, tokens: Sequence["Token"], place: int) -> int:
        """Return the number of tokens of the word or phrase that begins at a place, 0 for none."""
        for phrase in self.phrases.get(tokens[place].plain, ()):
            if tuple(token.plain for token in tokens[place : place + len(phrase)]) == phrase:
                return len(phrase)
        if tokens[place].dense and self.unspaced:
            here = "".join(token.plain for token in tokens[place : place + _LONGEST])
            return next((len(word) for word in self.unspaced if here.startswith(word)), 0)
        return int(tokens[place].plain in self.single and not tokens[place].foreign)

    def places(self, tokens: Sequence["Token"]) -> frozenset[int]:
        """Return the places of all tokens that belong to them."""
        found: set[int] = set()
        dense, single, phrases = bool(self.unspaced), self.single, self.phrases
        plain = [token.plain for token in tokens]
        unspaced = dense and not "".join(plain).isascii()
        if not unspaced and single.isdisjoint(plain) and phrases.keys().isdisjoint(plain):
            return _NOWHERE
        for place, token in enumerate(tokens):  # most words are in no list
            if token.plain in single or token.plain in phrases or (dense and token.dense):
                found.update(range(place, place + self.length_at(tokens, place)))
        return frozenset(found)


class Token(Struct, frozen=True):
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
_TOKEN: Final = re.compile(
    rf"[{_SPACELESS}]|(?:qu|[cdjlmnst])['’](?=\w)|[^\s{_SPACELESS}]+", re.IGNORECASE
)
"""A word, or its beginning where a vowel was left out: "l'échéance" is two words."""
_DENSE: Final = re.compile(f"[{_SPACELESS}]")
_KOREAN: Final = re.compile(r"(?<=[\uac00-\ud7af\d])(?:에서|으로|[을를은는이가에로의와과])$")
"""A particle at the end of a Korean word."""
MARKED: Final = re.compile(
    r"(?:[\uac00-\ud7af](?:에서|으로|[을를에로])|['’](?:[dt][ae]n?|n[dt]a|[yn]?[aeıiuü]))$"
)
"""A Korean or Turkish word that its ending marks as an object or a place."""
SIGNS: Final = ".,;:!?\"'`()[]{}*_~…«»‹›“”„‘’‚¿¡。、！？；：，「」『』（）【】،؛؟।-–—"
"""Signs around a word."""
_ENDS: Final = frozenset(".,;:!?…。、！？；：，،؛؟।)–—")
_LONGEST: Final = 6
"""Characters of the longest unspaced word in the lists."""
_PARTICLES: Final = frozenset(
    "はがをのにでともへかやねよだですますいるた的是了在吧呢啊着过很对也都就和与跟"
)
OBJECTS: Final = frozenset("をがにでへ")
"""Particles that mark an object or a place."""
TOPIC: Final = "は"
"""The particle that marks a subject."""
_DENSE_SPEAKERS: Final = frozenset("我私僕俺")
_EMPTY: Final = FUNCTION_WORDS | STOP_WORDS | SPEAKER


def _tokens(text: str) -> list[Token]:
    read: list[tuple[str, str, str, bool]] = []
    ending: set[int] = set()
    for written in _TOKEN.findall(text):
        word = written.strip(SIGNS)
        if written[-1] in _ENDS:
            ending.add(len(read) - (not word))
        if not word:
            continue
        plain = _plain(word)
        if word.isascii():
            read.append((word, plain, stem(plain), False))
            continue
        dense = _DENSE.match(word) is not None
        read.append((word, plain, plain if dense else stem(folded(_KOREAN.sub("", plain))), dense))
    foreign = _foreign([plain for _, plain, _, _ in read])
    return [Token(*one, at in ending, one[1] in foreign) for at, one in enumerate(read)]


def _foreign(words: Sequence[str]) -> frozenset[str]:
    """Return the words that the lists mean in another language than that of these words."""
    doubtful = _ONLY_IN.keys() & words
    if not doubtful:
        return frozenset()
    language = language_of(words)
    return frozenset(word for word in doubtful if language not in _ONLY_IN[word])


def _only_in() -> dict[str, frozenset[str]]:
    """Return the languages of the words that mean something else in another one."""
    pairs = [entry.split() for entry in phrases_of(_LISTS["languages"])]
    words = {word for word, *_ in pairs}
    return {word: frozenset(named for one, named in pairs if one == word) for word in words}


_ONLY_IN: Final = _only_in()


ANNOUNCES: Final = Words.named(
    "announcements", phrases="announcing phrases", unspaced="unspaced announcements"
)
"""Words that announce a change: "now", "no longer"."""
_ADDS: Final = Words.named("additions", phrases="adding phrases", unspaced="unspaced additions")
_ARTICLES: Final = Words.named("articles")
_POSSESSIVES: Final = Words.named("possessives", unspaced="unspaced possessives")
_OTHERS: Final = Words.named("others", unspaced="unspaced others")
COPULAS: Final = Words.named("copulas")
"""Words that join a subject and its value: "is"."""
DENIES: Final = Words.named("", phrases="denials", unspaced="unspaced denials")
"""Words that deny what follows in their clause."""
DENIES_NEXT: Final = Words.named("", phrases="denials of one")
"""Words that deny the value that follows: "instead of"."""
DENIES_LAST: Final = Words.named("", phrases="denials after", unspaced="unspaced denials after")
"""Words that deny the value before them."""
DENIES_NOT: Final = Words.named("", phrases="no denials")
"""Phrases that contain such a word and deny nothing: "not only"."""
LEAVES: Final = Words.named("", phrases="leaving")
"""Words before what is left: "from"."""
_COMPLETES: Final = Words.named("completions")
POSTPOSITIONS: Final = Words.named("postpositions")
"""Words after an object or a place."""
_PARTICLE_WORDS: Final = Words.named("particles")
SINGLE: Final = Words.named("single values", unspaced="unspaced single values")
"""Words for what has one value at a time: "name", "deadline"."""
LIKES: Final = Words.named("likings", unspaced="unspaced likings")
"""Words of a liking: "love"."""
DISLIKES: Final = Words.named("dislikings", unspaced="unspaced dislikings")
"""Words of a dislike: "hate"."""
GIVES_UP: Final = Words.named(
    "giving up", phrases="giving up phrases", unspaced="unspaced giving up"
)
"""Words by which a thing is gone: "sold", "lost"."""
HAS: Final = Words.named("having", unspaced="unspaced having")
"""Words before what a thing has or measures: "has", "costs"."""
INDEFINITE: Final = Words.named("indefinite articles")
STANDS: Final = Words.named("standing")
"""Words by which a thing is in a place: "liegt"."""
PLACES: Final = Words.named(
    "before a place", phrases="phrases before a place", unspaced="unspaced before a place"
)
"""Words before a place: "in"."""
PLACES_AFTER: Final = Words.named("after a place", unspaced="unspaced after a place")
"""Words after a place."""
NOT_SINGLE: Final = Words.named("", unspaced="unspaced no single values")
"""Words that begin with one of `SINGLE` and mean something else."""
LOCATIVE: Final = re.compile(r"(?:[\uac00-\ud7af]에|[a-zçğıöşüİ]{3}['’]?[dt][ae])$")
"""A Korean or Turkish word that its ending marks as a place."""
OWNED: Final = re.compile(
    r"(?:[a-zçğöşü][ıiuü]m(?:[ıiuü]z)?|[\u0620-\u064a]{2}(?:ي|نا))$|^ال[\u0620-\u064a]{2}"
)
"""A Turkish or Arabic word that its ending marks as the speaker's, or an article as known."""
DATES: Final = Words(DATE_NAMES, {}, UNSPACED_DATES)
"""Names of days and months."""


DATE_KEYS: Final = frozenset(stem(folded(word)) for word in DATES.single)
"""Their keys."""


class Statement(Struct, frozen=True):
    """A statement, prepared for the comparison. Places are indexes of `tokens`."""

    tokens: tuple[Token, ...]
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
    def of(cls, text: str) -> "Statement | None":
        """Return None for a text without words, and for one that is too long."""
        tokens = tuple(_tokens(text))
        if not tokens or len(tokens) > MAX_TOKENS:
            return None
        announced, articles = ANNOUNCES.places(tokens), _ARTICLES.places(tokens)
        if denied := DENIES.places(tokens):  # "no … any more" announces an end
            completed = _COMPLETES.places(tokens)
            announced |= {place for place in completed if place > min(denied)}
        core = tuple(place for place in range(len(tokens)) if place not in announced | articles)
        begins = next((one for one in range(len(tokens)) if one not in announced), 0)
        added = any(token.plain.endswith("도") and len(token.plain) > 1 for token in tokens)
        return cls(
            tokens,
            core,
            frozenset(tokens[place].key for place in core if tells(tokens[place])),
            bool(announced),
            added or bool(_ADDS.places(tokens)),
            begins in articles or bool(_POSSESSIVES.length_at(tokens, begins)),
        )

    def is_possessive(self, place: int) -> bool:
        """True for a possessive at a place."""
        return place >= 0 and bool(_POSSESSIVES.length_at(self.tokens, place))

    def is_article(self, place: int) -> bool:
        """True for an article at a place."""
        return place >= 0 and bool(_ARTICLES.length_at(self.tokens, place))

    def keys(self, places: Sequence[int]) -> list[str]:
        """Return the keys at places."""
        return [self.tokens[place].key for place in places]

    def telling_at(self, places: Sequence[int]) -> frozenset[str]:
        """Return the keys of the words with content at places."""
        return frozenset(self.tokens[at].key for at in places if tells(self.tokens[at]))

    def until(self, keys: frozenset[str]) -> tuple[int, ...]:
        """Return the places of the core before the first word with one of these keys."""
        for number, place in enumerate(self.core):
            if self.tokens[place].key in keys and tells(self.tokens[place]):
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


def tells(token: Token) -> bool:
    if token.dense:
        return token.plain not in _PARTICLES and token.plain not in _DENSE_SPEAKERS
    if token.foreign:
        return token.plain not in STOP_WORDS and token.plain not in SPEAKER
    return token.plain not in _EMPTY and token.plain not in _NO_CONTENT


_NO_CONTENT: Final = (
    _POSSESSIVES.single
    | _OTHERS.single
    | COPULAS.single
    | _ARTICLES.single
    | DENIES.single
    | _PARTICLE_WORDS.single
)


def _is_speaker(token: Token) -> bool:
    return not token.foreign and token.plain in (_DENSE_SPEAKERS if token.dense else SPEAKER)


def akin(key: str, others: frozenset[str]) -> bool:
    """True if one of the words is the same, or differs in its ending only: "kawy", "kawę"."""
    return key in others or any(same_but_for_endings(key, one) for one in others)


def same_but_for_endings(key: str, other: str) -> bool:
    shorter, longer = sorted((len(key), len(other)))
    shared = next((at for at in range(shorter) if key[at] != other[at]), shorter)
    return shared >= MIN_STEM and longer - shared <= MAX_ENDING


def sort_of_number(value: Sequence[Token]) -> str:
    """Return the sort of a value that excludes others of the same sort: a number, a date, or an
    address; empty for another one."""
    dates = DATES.places(value)
    addressed = any({"@", "/"} & set(token.plain) for token in value)
    numeric = [any(map(_is_numeric, token.plain)) for token in value]
    if not all(at in dates or numeric[at] or addressed for at in range(len(value))):
        return ""
    return "address" if addressed else "date" if dates else "number"


def _is_numeric(sign: str) -> bool:
    return unicodedata.numeric(sign, None) is not None


def is_number(token: Token) -> bool:
    """True for a word of digits, or a sign for a number."""
    return all(map(_is_numeric, token.plain)) or token.plain.replace(".", "").isdecimal()
