"""The sentences of scripts in pages: `say.js` shows them from an element of the page.

A script names its sentences in calls, `say("…", {hole: value})` and
`say_count("one …", "{count} …", {count: number})`. The page has their translations
in its element with the id "sentences", as the text of a block of data or as the content of a
`<meta>`, and loads `say.js` before its own scripts.
"""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final

from msgspec import Struct, json

from gateway.text import COUNT, Language, Sentence

_STRING: Final = r'\s*("(?:[^"\\]|\\.)*")'
_SAID: Final = re.compile(rf"\bsay\({_STRING}")
_COUNTED: Final = re.compile(rf"\bsay_count\({_STRING}\s*,{_STRING}")
_NUMBERS: Final = range(200)
"""Every form of a plural is that of one of these numbers."""


class _Forms(Struct, frozen=True):
    """The forms of a sentence for numbers: `forms[places[n]]` is that of the number n."""

    forms: list[str]
    places: list[int]


class _Block(Struct, frozen=True, omit_defaults=True):
    """The data that `say.js` reads. Sentences that are the same in English are left out."""

    said: dict[str, str] = {}
    counted: dict[str, _Forms] = {}


def script() -> bytes:
    """Return `say.js`."""
    return files("gateway.languages").joinpath("say.js").read_bytes()


@cache
def sentences_of(source: str) -> frozenset[Sentence]:
    """Return the sentences of a script."""
    once = {Sentence(_text(found[1])) for found in _SAID.finditer(source)}
    counts = {Sentence(_text(found[1]), (), _text(found[2])) for found in _COUNTED.finditer(source)}
    return frozenset(once | counts)


def block(language: Language, sentences: Iterable[Sentence]) -> str:
    """Return the content of the element, JSON without a "<"."""
    said: dict[str, str] = {}
    counts: dict[str, _Forms] = {}
    for one in sorted(sentences, key=lambda sentence: sentence.msgid):
        if one.plural:
            forms = _forms(language, one)
            if {*forms.forms} != {one.msgid, one.plural}:
                counts[one.msgid] = forms
        elif (shown := language.pattern(one)) != one.msgid:
            said[one.msgid] = shown
    return json.encode(_Block(said, counts)).decode().replace("<", "\\u003c")


def _forms(language: Language, one: Sentence) -> _Forms:
    shown = [language.pattern(Sentence(one.msgid, ((COUNT, n),), one.plural)) for n in _NUMBERS]
    forms = list(dict.fromkeys(shown))
    return _Forms(forms, [forms.index(form) for form in shown])


def _text(literal: str) -> str:
    return json.decode(literal, type=str)
