"""Sentences in the results of the console: a page shows them in the reader's language, the API and
its description have them as English strings."""

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, InstanceOf, PlainSerializer, WithJsonSchema

from gateway.text import Joined, Sentence, Text, Verbatim, verbatim


def _english(text: Text | str) -> str:
    return str(text)


def _text(value: object) -> object:
    """Return a string of an answer of the API as a text, so that the model reads it again."""
    return verbatim(value) if isinstance(value, str) else value


_Sentence: TypeAlias = InstanceOf[Sentence] | InstanceOf[Verbatim] | InstanceOf[Joined]
_AS_ENGLISH = (PlainSerializer(_english, return_type=str), WithJsonSchema({"type": "string"}))
Said: TypeAlias = Annotated[_Sentence, BeforeValidator(_text), *_AS_ENGLISH]
"""A sentence."""
SaidOrStr: TypeAlias = Annotated[str | _Sentence, *_AS_ENGLISH]
"""A sentence, or words of the program that are the same in every language, such as a report of a
part or a command."""
