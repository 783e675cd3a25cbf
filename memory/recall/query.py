"""Reads a question: its words, its literals, its time, and the dates that texts may name ("on 3
May", "im Mai 2023", "2023-05-08")."""

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from memory.ports.recall import Query
from memory.recall.time_counts import Kind
from memory.recall.time_span import TimeSpan, parse_time
from memory.text.stop_words import telling, unspaced_telling, without_courtesies

MAX_DATES: Final = 8
NEAR_DAYS: Final = 3
"""People often mention an event some days later."""
NAMED_YEAR: Final = 0.25
NAMED_MONTH: Final = 0.5

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            *("january januar jan", "february februar feb", "march märz mar", "april apr"),
            *("may mai", "june juni jun", "july juli jul", "august aug"),
            *("september sept sep", "october oktober oct okt", "november nov"),
            "december dezember dec dez",
        ),
        start=1,
    )
    for name in names.split()
}
_AMBIGUOUS: Final = frozenset({"may", "march", "mar", "jan", "dec", "sep"})
"""Months that are also words or names: a month only next to a day, a year or "in"."""
_PIECE: Final = re.compile(r"\d+|[^\W\d_]+")
_NUMERIC: Final = re.compile(
    r"\b(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)-(?P<d>\d\d)\b"
    r"|\b(?P<d2>\d{1,2})\.(?P<m2>\d{1,2})\.(?P<y2>(?:19|20)\d\d)?"
)


class QuestionDates(Struct, frozen=True):
    """A date as far as it is named, None for what is not; or the days `first` to `last`."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    first: date | None = None
    last: date | None = None

    def fits(self, when: date) -> float:
        """Return how well a day fits: 1 within some days, .5 for the month, .25 for the year, else
        0."""
        if self.first is not None and self.last is not None:
            return 1.0 if self.first <= when <= self.last else 0.0
        if self.year is not None and when.year != self.year:
            return 0.0
        if self.month is None:
            return NAMED_YEAR
        if when.month != self.month:
            return 0.0
        near = self.day is not None and abs(when.day - self.day) <= NEAR_DAYS
        return 1.0 if near else NAMED_MONTH

    def names(self, other: "QuestionDates") -> bool:
        """True if a date in a text agrees with this one, as far as both are given."""
        if self.month is None or self.month != other.month:
            return False
        return all(
            one is None or two is None or one == two
            for one, two in ((self.year, other.year), (self.day, other.day))
        )


def dates_in(text: str) -> tuple[QuestionDates, ...]:
    """The dates that a text names, at most 8."""
    dates: dict[QuestionDates, None] = {}
    for match in _NUMERIC.finditer(text):
        dates[_numeric(match)] = None
    dates.update(dict.fromkeys(_in_words(_NUMERIC.sub(" ", text))))
    return tuple(dates)[:MAX_DATES]


def how_well(dates: tuple[QuestionDates, ...], when: datetime, text: str) -> float:
    """Return from 0 to 1 how well a time of writing fits the best of these dates; 1 if the text
    names one."""
    named = dates_in(text) if _may_name(dates, text) else ()
    if any(one.names(other) for one in dates for other in named):
        return 1.0
    return max((one.fits(when.date()) for one in dates), default=0.0)


def _may_name(dates: tuple[QuestionDates, ...], text: str) -> bool:
    """Most texts do not, and looking closely at every candidate would take 4 ms."""
    folded = text.casefold()
    months = {one.month for one in dates if one.month is not None}
    if not months:
        return False
    return any(name in folded for name, month in _MONTHS.items() if month in months) or (
        _NUMERIC.search(text) is not None
    )


def _numeric(match: re.Match[str]) -> QuestionDates:
    year = match["y"] or match["y2"]
    month, day = int(match["m"] or match["m2"]), int(match["d"] or match["d2"])
    return QuestionDates(int(year) if year else None, month, day)


def _in_words(text: str) -> list[QuestionDates]:
    pieces = _PIECE.findall(text)
    years = [int(piece) for piece in pieces if _is_year(piece)]
    year = years[0] if years else None
    dates = []
    for place, piece in enumerate(pieces):
        month = _MONTHS.get(piece.casefold())
        if month is None:
            continue
        day = _adjacent_day(pieces, place)
        if piece.casefold() in _AMBIGUOUS and not (day or year or _is_in(pieces, place)):
            continue
        dates.append(QuestionDates(year, month, day))
    return dates or [QuestionDates(one) for one in years]


def _adjacent_day(pieces: list[str], place: int) -> int | None:
    around = [*reversed(pieces[max(0, place - 3) : place]), *pieces[place + 1 : place + 2]]
    for piece in around:
        if piece.isdecimal() and 1 <= int(piece) <= 31:
            return int(piece)
        if piece.casefold() not in ("of", "the", "st", "nd", "rd", "th"):
            break
    after = pieces[place + 1] if place + 1 < len(pieces) else ""
    return int(after) if after.isdecimal() and 1 <= int(after) <= 31 else None


def _is_in(pieces: list[str], place: int) -> bool:
    return place > 0 and pieces[place - 1].casefold() in (
        "in",
        "im",
        "last",
        "since",
        "until",
        "by",
    )


def _is_year(piece: str) -> bool:
    return len(piece) == 4 and piece.isdecimal() and piece[:2] in ("19", "20")


MAX_QUERY: Final = 2_000
"""Characters of a question that are read."""
MAX_LITERALS: Final = 8
FEW_WORDS: Final = 2
"""A question of so few words is an exact search."""

_WORD: Final = re.compile(r"[^\W_]+")
_WHOLE_WORD: Final = re.compile(r"(?:[^\W_]|(?!\w)[\u0900-\u0963\u0966-\u0dff])+")
"""A word with the vowel signs of India's scripts."""
_QUOTED: Final = re.compile(
    r'"([^"\n]{2,80})"|“([^”\n]{2,80})”|„([^“”\n]{2,80})[“”]|`([^`\n]{2,80})`'
)
_TOKEN: Final = re.compile(r"[^\s,;!?()\[\]{}<>\"'“”„`]{2,100}")
_WORD_OR_NAME: Final = re.compile(r"\w+")
_NAME_WITH_SIGNS: Final = re.compile(r"[\w.:/#@+-]+")
_DIGIT: Final = re.compile(r"\d")
_LETTER_OR_SIGN: Final = re.compile(r"[A-Za-z._:/#-]")
_LONG_NUMBER: Final = re.compile(r"\d{5,}")
_ORDINARY: Final = re.compile(
    r"\d{1,2}(?:st|nd|rd|th|am|pm|h|x|er|ten)?\.?|\d{1,2}:\d{2}|(?:19|20)\d\d(?:s|er)?"
    r"|\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.(?:\d{2,4})?",
    re.IGNORECASE,
)
_MINE: Final = frozenset({"i", "my", "me", "mine", "ich", "mein", "meine", "meinen", "mir", "mich"})
_YOURS: Final = frozenset({"you", "your", "yours", "du", "dein", "deine", "dir", "dich"})


class Question(Struct, frozen=True):
    """The features of a query.

    `search` is the text for the searches; `words` are folded and in order. `literals` (quotations,
    identifiers, versions, hashes) have to occur as they are. `exact`: there is nothing else, or one
    or two words, so similarity of meaning would only add noise. `mine` and `yours`: the question is
    about what the person said, or was told. `dates` are those of the question in `zone`.
    """

    text: str
    search: str
    words: tuple[str, ...]
    literals: tuple[str, ...]
    exact: bool
    dates: tuple[QuestionDates, ...]
    mine: bool
    yours: bool
    time: TimeSpan | None = None
    zone: tzinfo = UTC


def understood(query: Query) -> Question:
    """Read a query without its greetings and thanks; `text` is empty if it has nothing else."""
    text = " ".join(query.text[:MAX_QUERY].split())
    if not query.unfinished:
        text = without_courtesies(text)
    words = words_of(text)
    literals = literals_in(text)
    distinct = frozenset(words)
    time = None
    if not query.unfinished:
        time = parse_time(text, query.languages, query.at, query.zone)
    return Question(
        text=text,
        search=_search(text),
        words=words,
        literals=literals,
        exact=query.unfinished or _is_exact(text, words, literals),
        dates=_dates(text, time, query.zone),
        mine=bool(distinct & _MINE) and not distinct & _YOURS,
        yours=bool(distinct & _YOURS),
        time=time,
        zone=query.zone,
    )


def _dates(text: str, time: TimeSpan | None, zone: tzinfo) -> tuple[QuestionDates, ...]:
    """Return the dates of a question, at most 8. Those of English and German may be several; the
    present is none, because everything may be about it."""
    dates = dates_in(text)
    if time is None or time.kind is Kind.PRESENT:
        return dates
    if time.year + time.month:
        one = QuestionDates(time.year or None, time.month or None, time.day or None)
        return dates if any(one.names(other) for other in dates) else (one,)
    first, last = time.start, time.end - timedelta(microseconds=1)
    first_day, last_day = first.astimezone(zone).date(), last.astimezone(zone).date()
    return (QuestionDates(first=first_day, last=last_day),)


def about(question: Question, time: TimeSpan) -> Question:
    """Return the question without its time: its subject, for a search within that time."""
    return replace(
        question,
        text=time.subject,
        search=time.subject,
        words=words_of(time.subject),
        literals=literals_in(time.subject),
        exact=False,
        dates=(),
        time=None,
    )


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text without case."""
    return tuple(word.casefold() for word in _WORD.findall(text))


def _search(text: str) -> str:
    """Return the text without its language's function words, as far as it is not English."""
    text = unspaced_telling(text)
    spans = list(_WHOLE_WORD.finditer(text))
    kept = set(telling([span[0].casefold() for span in spans]))
    parts, end = [], 0
    for span in spans:
        parts.append(text[end : span.start()])
        end = span.end()
        if span[0].casefold() in kept:
            parts.append(span[0])
    return "".join((*parts, text[end:])).strip()


def literals_in(text: str) -> tuple[str, ...]:
    """Return up to 8 literals of a text."""
    literals: dict[str, None] = {}
    for groups in _QUOTED.findall(text):
        literals[next(group for group in groups if group).strip().casefold()] = None
    for token in _TOKEN.findall(_QUOTED.sub(" ", text)):
        bare = token.strip(".:-/")
        if _is_identifier(bare) and not _ORDINARY.fullmatch(bare):
            literals[bare.casefold()] = None
    return tuple(literal for literal in literals if literal)[:MAX_LITERALS]


def _is_identifier(token: str) -> bool:
    """Return True for ADR-003, v1.2.3, 15.2, a3f9c01; REDIS_CONNECTION_TIMEOUT; 47110815."""
    if "_" in token[1:-1] and _WORD_OR_NAME.fullmatch(token):
        return True
    if _LONG_NUMBER.fullmatch(token):
        return True
    mixed = _DIGIT.search(token) and _LETTER_OR_SIGN.search(token)
    return bool(mixed and _NAME_WITH_SIGNS.fullmatch(token))


def holds(text: str, literal: str) -> bool:
    """Return True if a text contains the literal as a whole: `v1.2` is not in `v1.25`."""
    folded = text.casefold()
    start = folded.find(literal)
    while start >= 0:
        end = start + len(literal)
        before, after = folded[start - 1 : start], folded[end : end + 1]
        if not (_joins(before, literal[0]) or _joins(after, literal[-1])):
            return True
        start = folded.find(literal, start + 1)
    return False


def _joins(adjacent: str, edge: str) -> bool:
    return bool(adjacent) and (adjacent.isalnum() or adjacent == "_") and edge.isalnum()


def _is_exact(text: str, words: tuple[str, ...], literals: tuple[str, ...]) -> bool:
    if 0 < len(words) <= FEW_WORDS and text.isascii():
        return True
    rest = _QUOTED.sub(" ", text).casefold()
    for literal in literals:
        rest = rest.replace(literal, " ")
    return bool(literals) and not _WORD.search(rest)
