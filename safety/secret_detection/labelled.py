"""Finds labelled secrets in code, in configuration and in sentences: `DB_PASSWORD=…`,
`setToken("…")`, "mein Passwort ist …", "パスワードは…です".

One expression finds the labels of `label_words`. From there the text is read forwards by anchored
expressions with disjoint neighbours, so the time is linear in the text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from safety.patterns import Pattern, literal
from safety.secret_detection.kinds import Level, SecretFinding, SecretKind
from safety.secret_detection.label_words import (
    ANY_WORD,
    ASCII_WORDS,
    LINKS,
    NO_VALUES,
    OWNERS,
    WEAK_LINKS,
    WORDS,
    Class,
    Word,
)
from safety.secret_detection.plausibility import looks_random
from safety.secret_detection.short_values import GROUPED, code_before, is_code
from safety.secret_detection.value_rules import (
    is_secret,
    is_strong,
    last_part,
)
from safety.secret_detection.value_spans import (
    CLOSERS,
    LAYOUT_AHEAD,
    LAYOUTS,
    LOOSE,
    PAIR,
    QUOTED_NEXT,
    SIGN,
    TAIL,
    TOKEN,
    TYPED,
    LabelForm,
    LabelledValue,
    bare_end,
    element_at,
    ends_well,
    run_before,
    value_at,
    value_before,
)


def _kind(name: str, word: str) -> SecretKind:
    return SecretKind(name, Level.PROBABLE, Pattern(literal(word), ignore_case=True))


PASSWORD: Final = _kind("password", "password")
ASSIGNED_KEY: Final = _kind("assigned_key", "key")
PIN: Final = _kind("pin", "pin")
ONE_TIME_CODE: Final = _kind("one_time_code", "code")
_KINDS: Final = {
    Class.PASSWORD: PASSWORD,
    Class.KEY: ASSIGNED_KEY,
    Class.PIN: PIN,
    Class.CODE: ONE_TIME_CODE,
}

_BRACKETS: Final = re.compile(r"[ \t]{1,2}\([^()\n]{1,30}\)")
_MARKED: Final = re.compile(r"[\d!#$%^?\\{}\[\]A-Z]")
"""Without one of them a word beside a name is no password and no key."""
_LONG_VALUE: Final = 64
_WINDOW: Final = 160
_CODE_WINDOW: Final = 80
_NO_PASSWORD: Final = frozenset("()[]{}<>=;,")
_MAX_FILLERS: Final = 7
_MAX_LINKS: Final = 3

_UNSPACED_GAP: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f\\s:：=＝]{0,16}[「『“\"'《（(«]?"
)
_UNSPACED_LINKS: Final = tuple("是为為はがを:：=＝은는이가成叫คือเป็น")
_ASCII_RUN: Final = re.compile(r"[!#-&*-;=?-Z\\^_a-z~]{3,200}")
_GOES_ON: Final = re.compile(r"[a-z]{4}")
_KEY_MARK: Final = re.compile(r"[\dA-Z]|[a-z]{12}")
"""Is near every key in a long text: only a text made to be slow has none."""
_DIGITS: Final = re.compile(r"\d\d{2}")
"""Begins a PIN, and a code for one use. `\\d{3}` takes longer: `re` looks ahead for a set only."""
_OF_DIGITS: Final = frozenset({Class.PIN, Class.CODE})
_SETTERS: Final = frozenset({".set", ".put", ".assign", ".equals", ".value"})
_PARTS: Final = re.compile(r"[^\s{}]+")
_ROW: Final = re.compile(r"[^\s\"'`<>()\[\]{},;|]+")
PROPERTIES: Final = ("-D", "-P", "-J")
"""Options that set a property: `-Dkey=…`."""
_MOST_LONG_VALUES: Final = 4
"""Long values that are read in one row of characters without a space or a quote."""
_REACH: Final = 2_500
"""Characters from a name to the end of the farthest value that it can tell."""
_LONGEST_STEP: Final = 700
"""Characters from the start of the search for a value to the end of the longest one."""
_LEAST_BEFORE: Final = len("123456 is ")


def find_labelled(text: str, lowered: str) -> list[SecretFinding]:
    """Yield every labelled secret. `lowered` is the text in small letters, of the same length."""
    words = ASCII_WORDS if text.isascii() else ANY_WORD
    first = words.search(lowered)
    if first is None:
        return []
    matches = chain((first,), words.finditer(lowered, first.end()))
    return list(_read_from(matches, _LabelReader(text, lowered)))


def _read_from(words: Iterable[re.Match[str]], reader: "_LabelReader") -> Iterator[SecretFinding]:
    done, has_digits = 0, _DIGITS.search(reader.text) is not None
    for match in words:
        start, end = match.span()
        if start < done:
            continue
        word = WORDS[match[0]]
        if word.kind in _OF_DIGITS and not has_digits:
            continue
        if not _is_whole(reader.text, start, end, word):
            continue
        value = reader.read(start, end, word)
        if value is not None:
            done = max(done, value.end)
            yield SecretFinding(_KINDS[word.kind], value.begin, value.end)


def _is_whole(text: str, start: int, end: int, word: Word) -> bool:
    """Return True if the word has its own meaning here, unlike in "compass" and "tokenizer"."""
    if not word.spaced:
        return True
    if word.whole:
        if (
            start
            and text[start - 1].isalpha()
            and not (text[start].isupper() and text[start - 1].islower())
            and not text.startswith(PROPERTIES, start - 2)
        ):
            return False
        if end < len(text) and text[end].isalpha():
            return text[end].isupper() and text[end - 1].islower()
        return True
    return not (word.kind is Class.KEY and _GOES_ON.match(text, end))


@dataclass(slots=True)
class _Next:
    """The next place of a character in one text, remembered: a row of questions reads it once."""

    expression: re.Pattern[str]
    start: int = 0
    place: int = -1

    def after(self, text: str, start: int) -> int:
        """The first place from `start` on, the text's length for none."""
        if not self.start <= start <= self.place:
            match = self.expression.search(text, start)
            self.start, self.place = start, match.start() if match is not None else len(text)
        return self.place


@dataclass(slots=True)
class _LabelReader:
    """Reads one text from its labels onwards. `rejected` is the end of the last long value that was
    refused: a value with the same end is not checked again."""

    text: str
    lowered: str
    rejected: int = -1
    _row_end: int = 0
    _read: int = 0
    _key_marks: "_Next" = field(default_factory=lambda: _Next(_KEY_MARK))
    _digits: "_Next" = field(default_factory=lambda: _Next(_DIGITS))
    _tokens: dict[int, "_Token | None"] = field(default_factory=dict)

    def read(self, start: int, end: int, word: Word) -> LabelledValue | None:
        """Return the secret that the word at `start` to `end` labels, if there is one."""
        if not word.spaced:
            return self._unspaced(start, end, word) or self._before(start, end, word)
        if self._next_mark(word.kind, end) > end + _REACH:
            return self._before(start, end, word)
        tail = TAIL.match(self.text, end)
        if tail is None:
            return None
        rest = tail["rest"]
        if rest and rest not in _SETTERS and last_part(rest) in NO_VALUES:
            return None
        name = _Name(self.lowered[start:end], start, rest, word)
        place = tail.end()
        sign = TYPED.match(self.text, place) or SIGN.match(self.text, place)
        if sign is not None:
            return self._in_element(name, place) or self._checked(name, sign.end(), LabelForm.SIGN)
        value = self._in_layout(name, place)
        if value is None and rest[-1:] != ".":
            value = self._in_sentence(name, place)
        return value or self._before(start, end, word)

    def _in_layout(self, name: "_Name", place: int) -> LabelledValue | None:
        """In a call or a pair, in the next cell of a table, in an attribute `value`, on the next
        line, in quotes."""
        if LAYOUT_AHEAD.match(self.text, place) is None:
            return None
        for expression, how in LAYOUTS:
            match = expression.match(self.text, place)
            if match is not None and not (name.verb and expression in LOOSE):
                value = self._checked(name, match.end(), how)
                if value is not None or expression is not PAIR:
                    return value
        return None

    def _in_element(self, name: "_Name", place: int) -> LabelledValue | None:
        """The text of an element that the name opens, if it is a secret or a part of it is."""
        span = element_at(self.text, place)
        if span is None:
            return None
        begin, end = span
        parts = list(_PARTS.finditer(self.text, begin, min(end, begin + _LONGEST_STEP)))
        for part in parts:
            value = self._candidate(name, LabelForm.SIGN, *part.span())
            made = len(parts) == 1 or is_strong(part[0]) or looks_random(part[0])
            if made and _is_valid(value):
                return value._replace(begin=begin, end=end)
        return None

    def _candidate(self, name: "_Name", how: LabelForm, begin: int, end: int) -> LabelledValue:
        return LabelledValue(
            *(self.text, name.word.kind, name.text, name.start, name.rest, how),
            *(begin, end, True),
        )

    def _in_sentence(self, name: "_Name", place: int) -> LabelledValue | None:
        """ "… for the wifi is …", "… saya …": over at most seven words to the value."""
        fillers: list[str] = []
        close, foreign = not name.verb, not name.text.isascii()
        brackets = _BRACKETS.match(self.text, place)
        place = brackets.end() if brackets is not None else place
        for _ in range(_MAX_FILLERS):
            token = self._token(place)
            if token is None:
                return None
            word = token.text
            if not fillers and word in NO_VALUES:
                return None
            label = WORDS.get(word)
            if label is not None and label.kind is name.word.kind:
                return None  # read from there on
            if word in LINKS and not (name.verb and word in WEAK_LINKS):
                weak = (word,) if word in WEAK_LINKS else ()
                value = self._linked(name, token.end, (*fillers, *weak))
                if value is not None:
                    return value
            elif (close or foreign) and token.marked:
                value = self._checked(name, token.begin, LabelForm.ADJACENT, tuple(fillers))
                if value is not None:
                    return value
            close = close and (word in OWNERS or word in LINKS)
            fillers.append(word)
            place = token.end
            if word[-1] in ".!?…" or name.verb:
                return None
            if token.sign:
                return self._checked(name, token.sign, LabelForm.SIGN, tuple(fillers))
            if token.quoted:
                return self._checked(name, token.quoted, LabelForm.CALL, tuple(fillers))
        return None

    def _token(self, place: int) -> "_Token | None":
        """The word at a place, which the words before it read as well: it is matched once."""
        if place in self._tokens:
            return self._tokens[place]
        token = None
        match = TOKEN.match(self.text, place)
        if match is not None:
            begin, end = match.span("word")
            word = self.lowered[begin:end]
            marked = word[0] not in "-=(" and _MARKED.search(match["word"]) is not None
            sign = SIGN.match(self.text, end)
            quoted = QUOTED_NEXT.match(self.text, end) if sign is None else None
            token = _Token(
                *(begin, end, word, marked),
                *(sign.end() if sign is not None else 0, quoted.end() if quoted is not None else 0),
            )
        self._tokens[place] = token
        return token

    def _next_mark(self, kind: Class, place: int) -> int:
        """Return the next position from `place` on of a character that every value of this class
        has; the text's length if there is none."""
        if kind is Class.PASSWORD:
            return place
        return (self._key_marks if kind is Class.KEY else self._digits).after(self.text, place)

    def _linked(self, name: "_Name", place: int, fillers: tuple[str, ...]) -> LabelledValue | None:
        """Return the value after "is", "is now" or "is:"."""
        for _ in range(_MAX_LINKS):
            token = self._token(place)
            if token is None or token.text not in LINKS:
                break
            place = token.end
        sign = SIGN.match(self.text, place)
        return self._checked(name, sign.end() if sign else place, LabelForm.LINK, fillers)

    def _checked(
        self, name: "_Name", place: int, how: LabelForm, fillers: tuple[str, ...] = ()
    ) -> LabelledValue | None:
        """The value at a place, if it is a secret."""
        if self._next_mark(name.word.kind, place) > place + _LONGEST_STEP:
            return None
        span = value_at(self.text, place)
        if span is None:
            return None
        begin, end, quoted = span
        if how is LabelForm.CALL and not quoted:
            return None
        if end - begin > _LONG_VALUE and (end == self.rejected or self._is_read_often(begin)):
            return None
        if name.word.kind in _OF_DIGITS and self._next_mark(name.word.kind, begin) > end:
            self.rejected = end
            return None
        if how is not LabelForm.CALL and "\n" in self.text[place:begin]:
            how = LabelForm.LINE
        whole = end
        setting = how is LabelForm.SIGN and name.word.kind is Class.PASSWORD
        grouped = GROUPED.match(self.text, begin) if name.word.kind is Class.CODE else None
        if grouped is not None:
            end = grouped.end()
        elif not quoted:
            end = bare_end(self.text, name.start, begin, end, setting=setting)
        if begin < end and (quoted or ends_well(self.text, end, how)):
            candidate = LabelledValue(
                self.text,
                name.word.kind,
                name.text,
                name.start,
                name.rest,
                how,
                begin,
                end,
                quoted,
                fillers,
            )
            if _is_valid(candidate):
                return candidate
        self.rejected = whole
        return None

    def _is_read_often(self, begin: int) -> bool:
        """Return True if long values in the run of characters at `begin` were read a few times
        already. In a sequence of names, each the value of the previous one, this prevents a read to
        the end from each of them."""
        if begin >= self._row_end:
            row = _ROW.match(self.text, begin)
            self._row_end, self._read = row.end() if row is not None else begin + 1, 0
        self._read += 1
        return self._read > _MOST_LONG_VALUES

    def _unspaced(self, start: int, end: int, word: Word) -> LabelledValue | None:
        """In scripts without spaces the value is the run of ASCII that follows."""
        text = self.text
        gap = _UNSPACED_GAP.match(text, end)
        run = _ASCII_RUN.match(text, gap.end()) if gap is not None else None
        if gap is None or run is None:
            return None
        place, stop, quoted = gap.end(), run.end(), gap[0][-1:] in CLOSERS
        while not quoted and stop > place and text[stop - 1] in ".,:!?":
            stop -= 1
        between = gap[0].rstrip().rstrip("「『“\"'《（(« ")
        how = LabelForm.LINE if "\n" in gap[0] else LabelForm.ADJACENT
        if between.endswith(_UNSPACED_LINKS):
            how = LabelForm.LINK
        if stop <= place or (how is LabelForm.LINE and not ends_well(text, stop, how)):
            return None
        candidate = LabelledValue(
            text, word.kind, text[start:end], start, "", how, place, stop, quoted
        )
        return candidate if _is_valid(candidate) else None

    def _before(self, start: int, end: int, word: Word) -> LabelledValue | None:
        """ "… is my password", `"…" == password`, "…是我的密码"."""
        if word.kind is Class.PIN or start < _LEAST_BEFORE:
            return None
        if word.kind is Class.CODE:
            return self._code_before(start, end, word)
        begin = max(0, start - _WINDOW)
        window = self.text[begin:start]
        span = value_before(window) if word.spaced else run_before(window)
        if span is None:
            return None
        value = window[span[0] : span[1]]
        if not _NO_PASSWORD.isdisjoint(value) or not is_strong(value):
            return None
        label = self.lowered[start:end]
        places = begin + span[0], begin + span[1]
        candidate = LabelledValue(
            self.text, word.kind, label, start, "", LabelForm.BEFORE, *places, False
        )
        return candidate if _is_valid(candidate) else None

    def _code_before(self, start: int, end: int, word: Word) -> LabelledValue | None:
        """ "482911 is your … code", "482911是您的验证码"."""
        begin, label = max(0, start - _CODE_WINDOW), self.lowered[start:end]
        if word.spaced:
            span = code_before(self.text, begin, start, label)
        else:
            run = run_before(self.text[begin:start])
            span = (begin + run[0], begin + run[1]) if run is not None else None
        if span is None:
            return None
        candidate = LabelledValue(
            self.text, Class.CODE, label, start, "", LabelForm.BEFORE, *span, False
        )
        return candidate if is_code(candidate) else None


def _is_valid(candidate: LabelledValue) -> bool:
    return is_code(candidate) if candidate.kind is Class.CODE else is_secret(candidate)


class _Token(NamedTuple):
    """A word of a sentence. `marked`: it may be a value itself. `sign` and `quoted` are the ends of
    a sign and of the space before a quote behind it, 0 for none."""

    begin: int
    end: int
    text: str
    marked: bool
    sign: int
    quoted: int


class _Name(NamedTuple):
    """A name that is a label: the word in it as `text`, its start, and the `rest` of the name."""

    text: str
    start: int
    rest: str
    word: Word

    @property
    def verb(self) -> bool:
        """ "pass" is a verb more often than a password."""
        return self.text == "pass"
