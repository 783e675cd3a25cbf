"""Sentences in the results of the console: a page shows them in the reader's language, the API and
its description have them as English strings."""

from typing import Annotated, TypeAlias

from pydantic import InstanceOf, PlainSerializer, WithJsonSchema

from gateway.text import Joined, Sentence, Text, Verbatim


def _english(text: Text | str) -> str:
    return str(text)


Said: TypeAlias = Annotated[
    InstanceOf[Sentence] | InstanceOf[Verbatim] | InstanceOf[Joined],
    PlainSerializer(_english, return_type=str),
    WithJsonSchema({"type": "string"}),
]
"""A sentence."""
SaidOrStr: TypeAlias = Annotated[
    str | InstanceOf[Sentence] | InstanceOf[Verbatim] | InstanceOf[Joined],
    PlainSerializer(_english, return_type=str),
    WithJsonSchema({"type": "string"}),
]
"""A sentence, or words of the program that are the same in every language, such as a report of a
part or a command."""
