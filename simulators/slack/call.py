"""One Web API call: its arguments, checked as they are read, and its refusal: HTTP 200 with
`ok: false`."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from simulators.slack.world import Channel, Message, World

Answer: TypeAlias = dict[str, object]
Happening: TypeAlias = Literal["written", "changed", "removed"]
Publish: TypeAlias = Callable[[Message, Happening, Answer], None]
"""Tells the app what happened to a message; the last argument is the message before that."""
_JSON_ARGUMENTS: Final = {"blocks", "files", "attachments", "metadata"}


class SlackError(Exception):
    """A Web API call that Slack refuses. `details` name what was wrong, and where."""

    def __init__(self, error: str, *details: str, **fields: object) -> None:
        super().__init__(error, *details)
        self.error = error
        self.details = details
        self.fields = fields

    def body(self) -> dict[str, object]:
        """The answer's JSON."""
        answer: dict[str, object] = {"ok": False, "error": self.error, **self.fields}
        if self.details:
            answer["errors"] = list(self.details)
            answer["response_metadata"] = {"messages": [f"[ERROR] {d}" for d in self.details]}
        return answer


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a call, and the workspace it concerns.

    `base` is the server's address, `scopes` are those of the token.
    """

    world: World
    arguments: Mapping[str, object]
    base: str
    publish: Publish
    scopes: frozenset[str] = frozenset()

    def require(self, scope: str) -> None:
        """Check that the bot's token may do this. Raises `missing_scope`."""
        if scope and scope not in self.scopes:
            provided = ",".join(sorted(self.scopes))
            raise SlackError("missing_scope", needed=scope, provided=provided)

    def text(self, name: str, default: str = "") -> str:
        """A string argument; numbers and booleans of a form count as their text."""
        value = self.arguments.get(name, default)
        return value if isinstance(value, str) else json.dumps(value)

    def needed(self, name: str) -> str:
        """A string argument that must be there. Raises `invalid_arguments`."""
        value = self.text(name)
        if not value:
            raise SlackError("invalid_arguments", f"missing required field: {name}")
        return value

    def json_list(self, name: str) -> list[object]:
        """A list argument, which forms carry as JSON text."""
        value = self.arguments.get(name)
        if value is None:
            return []
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError as error:
                raise SlackError(f"invalid_{name}_format") from error
        if not isinstance(value, list):
            raise SlackError(f"invalid_{name}_format")
        return value

    def channel(self, *, inside: bool = True) -> Channel:
        """The channel named. Raises `channel_not_found`, or `not_in_channel` with `inside`."""
        name = self.text("channel") or self.text("channel_id")
        channel = self.world.channels.get(name)
        if channel is None:
            for candidate in self.world.channels.values():
                if candidate.kind == "direct" and candidate.peer == name and candidate.bot_inside:
                    return candidate
            raise SlackError("channel_not_found")
        hidden = channel.kind != "public"
        if inside and not channel.bot_inside:
            raise SlackError("channel_not_found" if hidden else "not_in_channel")
        return channel

    def message(self, key: str = "ts") -> Message:
        """The message named by channel and `key`. Raises `message_not_found`."""
        message = self.world.find(self.channel().id, self.needed(key))
        if message is None or message.only_for:
            raise SlackError("message_not_found")
        return message

    def recorded(self) -> dict[str, object]:
        """The arguments as they are remembered: structures instead of JSON text, no token."""
        plain = {k: v for k, v in self.arguments.items() if k != "token"}
        for name in _JSON_ARGUMENTS & set(plain):
            value = plain[name]
            if isinstance(value, str):
                try:
                    plain[name] = json.loads(value)
                except ValueError:
                    continue
        return plain


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the Web API. `scope` is what the bot's token must have; empty for none."""

    run: Callable[[Call], Answer]
    scope: str = ""
    app_token: bool = False
