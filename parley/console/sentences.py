"""Sentences of pages as HTML, in the language of their reader.

Templates write `{{ say("Last used {at}", at=one.seen_at|when) }}` and
`{{ say_count("1 message", "{count} messages", one.messages) }}`: a whole sentence with named holes,
in the words of the catalogues. Backticks become `<code>` and two asterisks `<strong>`, in the
sentence itself and never in what fills its holes.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypeAlias

from markupsafe import Markup, escape
from msgspec import Struct

from gateway.text import (
    COUNT,
    HOLE,
    Joined,
    Language,
    Listed,
    Moment,
    Sentence,
    Text,
    Value,
    Verbatim,
)

Hole: TypeAlias = str | Markup | float | datetime | Value
"""What fills a hole: Markup as it is, a string escaped."""
_MARKED: Final = re.compile(r"`([^`]*)`|\*\*([^*]+)\*\*")
TEXTS: Final = (Sentence, Verbatim, Joined)
_ISOLATED: Final = Markup("\u2068{}\u2069")


class PageSentences(Struct, frozen=True):
    """The sentences of pages in one language: what templates call."""

    language: Language

    def say(self, msgid: str, /, **holes: Hole) -> Markup:
        """Return a sentence of the catalogues with its holes filled."""
        return _filled(self.language, Sentence(msgid), holes)

    def say_in(self, context: str, msgid: str, /, **holes: Hole) -> Markup:
        """Return a word that has several meanings; `context` is a constant that tells which."""
        return _filled(self.language, Sentence(msgid, (), "", context), holes)

    def say_count(self, one: str, other: str, n: int, /, **holes: Hole) -> Markup:
        """Return the form of a sentence for a number, which fills the hole `{count}`."""
        return _filled(self.language, Sentence(one, ((COUNT, n),), other), {COUNT: n, **holes})

    def shown(self, value: object) -> object:
        """Return a text of the program as HTML in this language, and everything else as it is."""
        return html_of(self.language, value) if isinstance(value, TEXTS) else value


def html_of(language: Language, text: Text) -> Markup:
    """Return a text as HTML, on one line."""
    match text:
        case Verbatim():
            shown = formatted(escape(text.markdown))
            return _ISOLATED.format(shown) if language.direction == "rtl" and shown else shown
        case Joined():
            return escape(text.separator).join(html_of(language, part) for part in text.parts)
    return _filled(language, text, dict(text.values))


def formatted(escaped: Markup) -> Markup:
    """Return an escaped text with what stands in backticks as code and between two asterisks as
    strong."""
    return Markup(_MARKED.sub(_element, escaped))  # noqa: S704 - it was escaped


def _element(marked: re.Match[str]) -> str:
    if marked[2] is None:
        return f"<code>{marked[1]}</code>"
    return f"<strong>{_MARKED.sub(_element, marked[2])}</strong>"


def _filled(language: Language, sentence: Sentence, holes: Mapping[str, Hole]) -> Markup:
    pattern = formatted(escape(language.pattern(sentence)))
    shown = HOLE.sub(lambda hole: _shown(language, holes[hole[1]]), pattern)
    return Markup(shown)  # noqa: S704 - the pattern and each hole were escaped


def _shown(language: Language, hole: Hole) -> str:
    match hole:
        case Markup():
            return hole
        case str():
            isolated = language.direction == "rtl" and hole
            return _ISOLATED.format(hole) if isolated else escape(hole)
        case Sentence() | Verbatim() | Joined():
            return html_of(language, hole)
        case Listed():
            # The marks of the list are the language's; its parts are escaped with them.
            return formatted(escape(language.value(hole)))
        case float():
            return language.formats.number(hole, 1)
        case datetime():
            return language.value(Moment(hole))
    return escape(language.value(hole))
