"""The parts of a request that a server does not take, and what Parley sends instead."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args

from msgspec import Struct

Part: TypeAlias = Literal[
    "tools",
    "tool_choice",
    "pictures",
    "pdf",
    "system",
    "repeated_roles",
    "null_content",
    "empty_content",
    "text_parts",
    "max_tokens",
    "max_completion_tokens",
    "stream",
    "stream_options",
    "schema_keywords",
    "call_ids",
    "reasoning",
    "calls_without_reasoning",
]
"""A part of a request that a server can refuse; docs/how-to/choose-a-model.md describes each."""

INSTEAD: Final[Mapping[str, tuple[str, str]]] = {
    "tools": ("tools", "It answers without them"),
    "tool_choice": ("`tool_choice`", "Requests have no such field"),
    "pictures": ("pictures", "Questions are asked without them, and the model is told"),
    "pdf": ("PDFs", "The model is told which pages it does not see"),
    "system": ("a system prompt", "It stands before the first question"),
    "repeated_roles": ("two messages of one role in a row", "They are sent as one message"),
    "null_content": ("a message without content", "Its content is sent as an empty text"),
    "empty_content": ("an empty text", "A placeholder is sent in its place"),
    "text_parts": ("a text in parts", "The parts are sent as one text"),
    "max_tokens": ("`max_tokens`", "The length is sent as `max_completion_tokens`"),
    "max_completion_tokens": ("`max_completion_tokens`", "The length is sent as `max_tokens`"),
    "stream": ("requests for a stream", "Answers arrive as a whole"),
    "stream_options": ("`stream_options`", "The server may report no usage"),
    "schema_keywords": ("a keyword in the schemas of tools", "The schemas are sent without it"),
    "call_ids": ("the ids of tool calls", "They are sent with nine letters and digits"),
    "reasoning": ("its own reasoning", "It is not sent back"),
    "calls_without_reasoning": ("tool calls without reasoning", "A placeholder is sent with them"),
}
"""By part: its name for people, and what happens instead."""
PARTS: Final[tuple[Part, ...]] = get_args(Part)
PLAIN: Final[frozenset[Part]] = frozenset(
    ("tool_choice", "repeated_roles", "null_content", "text_parts", "stream_options",
     "schema_keywords", "call_ids", "reasoning")
)  # fmt: skip
"""Parts to leave out if a server refuses a request for no reason that can be read."""
PLAINEST: Final[frozenset[Part]] = PLAIN | {"tools", "pictures", "pdf", "system"}


class ServerLimits(Struct, frozen=True):
    """The limits of one model of a server: parts, other fields of the body, and more tokens of
    an answer than `most_tokens` (0: any number)."""

    without: frozenset[Part] = frozenset()
    fields: frozenset[str] = frozenset()
    most_tokens: int = 0


def length_field(limits: ServerLimits, usual: str) -> str:
    """Return the field of the maximum length; "" if the server takes none."""
    names: tuple[Part, Part] = ("max_tokens", "max_completion_tokens")
    taken = [name for name in names if name not in limits.without]
    return usual if usual in taken else next(iter(taken), "")
