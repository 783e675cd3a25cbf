"""The time that a question is about: "what did we talk about yesterday?"."""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Final

from msgspec import Struct

from memory.recall.calendar_spans import Around
from memory.recall.time_counts import FoundTime, Kind
from memory.recall.time_grammar import times_in
from memory.recall.time_words import UNSPACED, Words, fold, languages, words_of
from memory.text.stop_words import STOP_WORDS, counts_of, telling, unspaced_telling
from memory.text.stop_words import words_of as split

MAX_QUESTION: Final = 2_000
"""Characters of a question that are read."""
MAX_LANGUAGES: Final = 3
"""Languages that are tried."""
LONG: Final = 3
"""Characters of a word that tells its language."""
_CODES: Final = {
    "English": "en",
    "German": "de",
    "French": "fr",
    "Spanish": "es",
    "Italian": "it",
    "Portuguese": "pt",
    "Polish": "pl",
    "Turkish": "tr",
    "Russian": "ru",
    "Hindi": "hi",
    "Arabic": "ar",
    "Korean": "ko",
}
_LATIN: Final = frozenset({"en", "de", "fr", "es", "it", "pt", "pl", "tr"})
_SCRIPTS: Final = (
    ("\u3040", "\u30ff", ("ja",)),
    ("\uac00", "\ud7a3", ("ko",)),
    ("\u1100", "\u11ff", ("ko",)),
    ("\u4e00", "\u9fff", ("zh_Hans", "zh_Hant", "ja")),
    ("\u0400", "\u04ff", ("ru", "uk")),
    ("\u0600", "\u06ff", ("ar",)),
    ("\u0900", "\u097f", ("hi",)),
)
"""First and last character of a script, and its languages; the earlier scripts decide."""
_LETTERS: Final[Mapping[str, frozenset[str]]] = {
    "tr": frozenset("ığş"),
    "pl": frozenset("ąęłńśźż"),
    "de": frozenset("ßä"),
    "es": frozenset("ñ¿¡"),
    "pt": frozenset("ãõ"),
    "fr": frozenset("œêèàù"),
    "it": frozenset("ìòèàù"),
}
"""Letters and signs that few other languages have."""
_UKRAINIAN: Final = frozenset("іїєґІЇЄҐ")


class TimeSpan(Struct, frozen=True):
    """The time of a question, in UTC: `start` included, `end` not. `words` are those that name it.

    `year`, `month` and `day` are what a date names, 0 for what it does not. `subject` are the words
    of the question apart from the time, from function words and from words about talking.
    """

    start: datetime
    end: datetime
    words: str
    kind: Kind
    year: int = 0
    month: int = 0
    day: int = 0
    subject: str = ""


def parse_time(
    question: str, languages: Sequence[str], now: datetime, zone: tzinfo
) -> TimeSpan | None:
    """Return the past or present time that a question names, None for none.

    `languages` are those of the person and of the installation; the one in which the question is
    written comes before them. `now` is any time with a zone; days are those of `zone`.
    """
    text = unicodedata.normalize("NFC", question[:MAX_QUESTION])
    around = Around(now.astimezone(zone).replace(tzinfo=None, fold=0))
    tried = languages_of(text, languages)
    read = [one for one in (_read(text, language, around) for language in tried) if one]
    if not read:
        return None
    # The two kinds of Chinese share most of their words: the longer reading is the right one.
    one, named, rest = max(read, key=lambda found: len(found[1])) if _is_han(tried) else read[0]
    # Where the clock is put forward, a local time that is left out is later than those behind it.
    start, end = sorted(at.replace(tzinfo=zone).astimezone(UTC) for at in one.span)
    return TimeSpan(start, end, named, one.kind, one.year, one.month, one.day, rest)


def words_loaded() -> bool:
    """Return True once `load_words` has run."""
    return _known.cache_info().currsize > 0


def load_words() -> None:
    """Read the words of the languages, which takes some tens of milliseconds."""
    for language in languages():
        words_of(language)
    _known()


def languages_of(text: str, preferred: Sequence[str]) -> Sequence[str]:
    """Return the languages in which a question may be written, at most 3: by its script, then by
    its function words, then those preferred."""
    for first, last, known in _SCRIPTS:
        if any(first <= character <= last for character in text):
            if known == ("ru", "uk") and _UKRAINIAN & set(text):
                return ("uk", "ru")
            likely = [one for one in preferred if one in known]
            return tuple(dict.fromkeys((*likely, *known)))[:MAX_LANGUAGES]
    words = [word.casefold() for word in split(text)]
    counts: Counter[str] = Counter()
    for name, count in counts_of(words).items():
        counts[_CODES.get(name, "")] += count
    for word in words:
        counts.update(_known().get(fold(word)[0], ()))
    signs = set(text.casefold())
    counts.update(language for language, letters in _LETTERS.items() if letters & signs)
    likely = [one for one, count in counts.most_common() if count and one in _LATIN]
    tried = [one.partition("_")[0] for one in (*likely[:2], *preferred, "en")]
    return tuple(dict.fromkeys(one for one in tried if one in _LATIN))[:MAX_LANGUAGES]


@cache
def _known() -> Mapping[str, Sequence[str]]:
    """The languages of each word about a time, for those that share the Latin script."""
    found: dict[str, list[str]] = {}
    for language in sorted(_LATIN):
        words = words_of(language)
        for phrase in words.phrases if words is not None else ():
            if len(phrase) >= LONG and " " not in phrase:
                found.setdefault(phrase, []).append(language)
    return found


def _is_han(languages: Sequence[str]) -> bool:
    return "zh_Hans" in languages


def _read(text: str, language: str, around: Around) -> tuple[FoundTime, str, str] | None:
    """Return the time that a language finds, the words that name it, and the subject."""
    words = words_of(language)
    if words is None:
        return None
    found, signs = times_in(text, words, around)
    if not found:
        return None
    one = max(found, key=_rank)
    begin, end = signs[one.first].begin, signs[one.last - 1].end
    return one, text[begin:end], _subject(f"{text[:begin]} {text[end:]}", words)


def _rank(time: FoundTime) -> int:
    """Return how surely a time is the one that is asked about: a date with its year says from where
    "the week before" is counted."""
    return len(Kind) if time.year and time.day else time.kind


def _subject(text: str, words: Words) -> str:
    """Return the words of a question that are neither function words nor words about talking."""
    if words.language in UNSPACED:
        folded = fold(unspaced_telling(text))[0]
        for talk in sorted(words.talk, key=len, reverse=True):
            folded = folded.replace(talk, " ")
        left = [
            one for one in split(folded) if not all("\u3040" <= sign <= "\u309f" for sign in one)
        ]
        return " ".join(left)
    kept = telling([word.casefold() for word in split(text)])
    if words.language == "en":
        kept = tuple(word for word in kept if word not in STOP_WORDS)
    return " ".join(word for word in kept if not fold(word)[0].startswith(words.talk))
