"""Sentences that people read, as values: made without a language, shown in the reader's one.

Code that decides something makes a `Text`. The place that sends it to a person shows it in that
person's `Language`. Models, programs, logs and the command line take `.english`.

A sentence stands whole in English and in the words of its author's code. It has named holes,
`{name}`; a hole takes a number, a moment, a length of time or another text, never a bare string:
words of people and ids come in with `verbatim`.
"""

import gettext
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, tzinfo
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, final

from msgspec import DecodeError, Struct, json

from gateway.languages.formats import Formats, formats_of

HOLE: Final = re.compile(r"\{([a-z_]+)\}")
"""A hole in a sentence."""
COUNT: Final = "count"
"""The hole whose number chooses the plural form."""
BUTTON: Final = "button"
"""The context of a button's label: at most `MAX_LABEL` characters in every language."""
COMMAND: Final = "command"
"""The context of a command's description: at most `MAX_DESCRIPTION` characters."""
MAX_LABEL: Final = 20
"""Characters of a label: WhatsApp's limit for a button."""
MAX_DESCRIPTION: Final = 100
"""Characters of a command's description: Discord's limit."""
_ISOLATED: Final = "\u2068{}\u2069"


class _Shown(Struct, frozen=True):
    @property
    def english(self) -> str:
        """The text for models, programs, logs and the command line."""
        return ENGLISH.shown(self)  # type: ignore[arg-type]  # each subclass is a Text

    def __str__(self) -> str:
        return self.english

    def __format__(self, spec: str) -> str:
        raise TypeError("A text is filled with of() and joined with joined(), not in an f-string")


@final
class Verbatim(_Shown, frozen=True, tag="verbatim"):
    """Words of people, ids and markup, which are the same in every language. An empty one is
    false."""

    markdown: str

    def __bool__(self) -> bool:
        return bool(self.markdown)


@final
class Moment(Struct, frozen=True, tag="moment"):
    """A point in time."""

    at: datetime
    """With its zone."""
    style: Literal["minute", "day", "clock"] = "minute"
    """The day and the time, the day, or the time of day."""


@final
class Span(Struct, frozen=True, tag="span"):
    """A length of time."""

    seconds: float


@final
class Amount(Struct, frozen=True, tag="amount"):
    """An amount of money."""

    micros: int
    """Millionths of a dollar."""


@final
class Size(Struct, frozen=True, tag="size"):
    """The size of a file or text."""

    bytes: int


@final
class Listed(Struct, frozen=True, tag="listed"):
    """Texts in a sentence: "a, b and c"."""

    parts: "tuple[Text, ...]"
    kind: Literal["and", "or"] = "and"


@final
class Sentence(_Shown, frozen=True, tag="sentence"):
    """A sentence of the catalogues; `text` and its siblings make it."""

    msgid: str
    """The English sentence, in Markdown."""
    values: "tuple[tuple[str, Value], ...]" = ()
    """What fills its holes."""
    plural: str = ""
    """The English sentence for other numbers than one; empty without a plural."""
    context: str = ""
    """`BUTTON`, `COMMAND` or empty."""

    def of(self, **values: "Value") -> "Sentence":
        """Return the sentence with further holes filled."""
        return Sentence(self.msgid, (*self.values, *values.items()), self.plural, self.context)


@final
class Joined(_Shown, frozen=True, tag="joined"):
    """Texts one after another; false if all of them are empty."""

    parts: "tuple[Text, ...]"
    separator: str = ""

    def __bool__(self) -> bool:
        return any(self.parts)


Text: TypeAlias = Sentence | Verbatim | Joined
Unconverted: TypeAlias = Text | str
"""A `Text`; or English words: those of an extension of others, and those of a refusal that only
programs and the command line read."""
Value: TypeAlias = Text | Moment | Span | Amount | Size | Listed | int


def text(msgid: str, /, **values: Value) -> Sentence:
    """Return a sentence; `msgid` is a constant, so that it is found for the catalogues."""
    return Sentence(msgid, tuple(values.items()))


def counted(one: str, other: str, /, **values: Value) -> Sentence:
    """Return a sentence whose form depends on its hole `count`."""
    return Sentence(one, tuple(values.items()), other)


def label(msgid: str, /) -> Sentence:
    """Return the label of a button, or a word that a person can write in its place."""
    return Sentence(msgid, (), "", BUTTON)


def described(msgid: str, /) -> Sentence:
    """Return the description of a command or of its argument."""
    return Sentence(msgid, (), "", COMMAND)


def verbatim(markdown: str, /) -> Verbatim:
    """Return words that no catalogue has: a name, an id, a quotation, markup."""
    return Verbatim(markdown)


def as_text(said: Unconverted, /) -> Text:
    """Return a text as it is, and other English words as words that no catalogue has."""
    return Verbatim(said) if isinstance(said, str) else said


def joined(parts: Iterable[Text], separator: str = "") -> Joined:
    """Return several texts as one."""
    return Joined(tuple(parts), separator)


NO_TEXT: Final = Verbatim("")
"""Nothing to say."""
_STORED: Final = '{"type":'
"""The beginning of every text in JSON."""


def as_json(text: Text, /) -> str:
    """Return a text as it is stored, to be shown later in the language of its reader."""
    return json.encode(text).decode()


def from_json(stored: str, /) -> Text:
    """Return a stored text. What earlier versions stored is English words, which stay as they
    are."""
    if not stored.startswith(_STORED):
        return Verbatim(stored)
    try:
        decoded: Text = json.decode(stored, type=Text)
    except DecodeError:
        return Verbatim(stored)
    return decoded


SECONDS: Final = counted("{count} second", "{count} seconds")
MINUTES: Final = counted("{count} minute", "{count} minutes")
HOURS: Final = counted("{count} hour", "{count} hours")
DAYS: Final = counted("{count} day", "{count} days")
_UNITS: Final = ((86_400, DAYS), (3_600, HOURS), (60, MINUTES))


@final
class Language:
    """A language in which texts are shown.

    `code` is its name in the catalogues, such as "de" or "zh_Hant"; `translations` has its
    sentences and falls back to English. Moments are shown in `zone`.
    """

    def __init__(
        self,
        code: str,
        translations: gettext.NullTranslations,
        formats: Formats,
        zone: tzinfo = UTC,
    ) -> None:
        self.code = code
        self.formats = formats
        self.zone = zone
        self._translations = translations

    def in_zone(self, zone: tzinfo) -> "Language":
        """Return the language for readers in a time zone."""
        same = zone == self.zone
        return self if same else Language(self.code, self._translations, self.formats, zone)

    @property
    def tag(self) -> str:
        """The language as pages name it: "zh-Hant"."""
        return self.code.replace("_", "-")

    @property
    def direction(self) -> Literal["ltr", "rtl"]:
        """The direction of its script."""
        return self.formats.direction

    def shown(self, text: Text, /) -> str:
        """Return a text as the readers of this language see it, in Markdown."""
        if isinstance(text, Verbatim):
            return text.markdown
        if isinstance(text, Joined):
            return text.separator.join(map(self.shown, text.parts))
        pattern = self.pattern(text)
        values = MappingProxyType(dict(text.values))
        return self._filled(pattern, values) if values else pattern

    def words(self, said: Unconverted, /) -> str:
        """Return a text as the readers of this language see it; other words as they are."""
        return said if isinstance(said, str) else self.shown(said)

    def value(self, value: Value, /) -> str:
        """Return what fills a hole."""
        formats = self.formats
        match value:
            case Moment():
                return formats.moment(value.at, value.style, self.zone)
            case Span():
                return self.shown(_span(value.seconds))
            case Amount():
                return formats.amount(value.micros)
            case Size():
                return formats.size(value.bytes)
            case Listed():
                return formats.listed([self.shown(part) for part in value.parts], value.kind)
            case int():
                return formats.number(value)
            case _:
                return self.shown(value)

    def pattern(self, text: Sentence, /) -> str:
        """Return the sentence of this language with its holes, in the form for its number."""
        find = self._translations
        if not text.plural:
            return (
                find.pgettext(text.context, text.msgid)
                if text.context
                else find.gettext(text.msgid)
            )
        count = dict(text.values)[COUNT]
        if not isinstance(count, int):
            raise TypeError(f"The hole {COUNT} of {text.msgid!r} takes a whole number")
        return find.ngettext(text.msgid, text.plural, count)

    def _filled(self, pattern: str, values: Mapping[str, Value]) -> str:
        def fill(hole: re.Match[str]) -> str:
            value = values[hole[1]]
            shown = self.value(value)
            isolated = self.direction == "rtl" and isinstance(value, Verbatim)
            in_code = pattern.count("`", 0, hole.start()) % 2
            # Code is copied: an isolating character would become a part of a command.
            return (
                _ISOLATED.format(shown) if isolated and not in_code and "`" not in shown else shown
            )

        return HOLE.sub(fill, pattern)


def day_in(at: datetime, zone: tzinfo) -> str:
    """Return the day of a time in a zone for models: "Friday, 27 November 2026"."""
    local = at.astimezone(zone)
    return f"{local:%A}, {local.day} {local:%B %Y}"


def _span(seconds: float) -> Sentence:
    """Return a length of time in its largest unit of which there are at least two."""
    whole = max(0, round(seconds))
    for size, unit in _UNITS:
        if whole >= 2 * size:
            return unit.of(count=whole // size)
    return SECONDS.of(count=whole)


ENGLISH: Final = Language("en", gettext.NullTranslations(), formats_of("en"))
"""The language of the sentences themselves."""
