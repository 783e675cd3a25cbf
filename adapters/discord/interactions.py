"""Slash commands and pressed buttons, and the handle through which they are answered."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from adapters.discord.bot import BotIdentity, place_of
from adapters.discord.json_readers import identity, integer, mapping, mappings, text
from adapters.discord.message_text import author_of
from gateway.message import MAX_CONTENT, ButtonPressed, CommandInvoked

COMMAND, COMPONENT = 2, 3
CHAT_INPUT: Final = 1
BUTTON: Final = 2
SUBCOMMANDS: Final = (1, 2)
MAX_DEPTH: Final = 3
"""A group, a subcommand, its options: deeper does not exist."""
MAX_TOKEN: Final = 1000


@dataclass(frozen=True, slots=True)
class InteractionHandle:
    """What answers an interaction: valid for 15 minutes, three seconds for the first sign."""

    kind: Literal["command", "button"]
    application_id: str
    interaction_id: str
    token: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.application_id}:{self.interaction_id}:{self.token}"

    @staticmethod
    def read(written: str) -> "InteractionHandle | None":
        """The handle from its text form, None when it is not one of ours."""
        kind, _, rest = written.partition(":")
        application_id, _, rest = rest.partition(":")
        interaction_id, _, token = rest.partition(":")
        if kind not in ("command", "button") or not (application_id and interaction_id and token):
            return None
        known: Literal["command", "button"] = "command" if kind == "command" else "button"
        return InteractionHandle(known, application_id, interaction_id, token)


def interaction_of(
    data: Mapping[str, object], bot: BotIdentity
) -> CommandInvoked | ButtonPressed | None:
    """The event of an INTERACTION_CREATE, None for kinds that the bot does not offer."""
    kind = integer(data.get("type"))
    place, author = place_of(data, bot), author_of(data)
    interaction_id, token = identity(data.get("id")), text(data.get("token"))
    if place is None or author is None or not interaction_id or not 0 < len(token) <= MAX_TOKEN:
        return None
    application_id = identity(data.get("application_id")) or "0"
    details = mapping(data.get("data"))
    if kind == COMMAND and integer(details.get("type", CHAT_INPUT)) == CHAT_INPUT:
        name = text(details.get("name")).lower()
        if not 0 < len(name) <= 32:
            return None
        return CommandInvoked(
            event_id=interaction_id,
            place=place,
            author=author,
            name=name,
            arguments=_arguments(details)[:MAX_CONTENT],
            reply_handle=str(InteractionHandle("command", application_id, interaction_id, token)),
        )
    value = _value(details)
    if kind != COMPONENT or not value:
        return None
    message = mapping(data.get("message"))
    return ButtonPressed(
        event_id=interaction_id,
        place=place,
        author=author,
        value=value,
        label=_label(message, text(details.get("custom_id"))),
        message_id=identity(message.get("id")),
        reply_handle=str(InteractionHandle("button", application_id, interaction_id, token)),
    )


def _arguments(details: Mapping[str, object], depth: int = 0) -> str:
    """The values of a command's options, in the order given, subcommands by name."""
    words: list[str] = []
    for option in mappings(details.get("options")):
        if integer(option.get("type")) in SUBCOMMANDS and depth < MAX_DEPTH:
            words += [text(option.get("name")), _arguments(option, depth + 1)]
            continue
        value = option.get("value")
        words.append(str(value) if isinstance(value, bool | int | float) else text(value))
    return " ".join(word for word in words if word)


def _value(details: Mapping[str, object]) -> str:
    """What was put behind a button, or the chosen value of a menu."""
    if integer(details.get("component_type")) == BUTTON:
        return text(details.get("custom_id"))[:100]
    values = details.get("values")
    return text(values[0])[:100] if isinstance(values, list) and values else ""


def _label(message: Mapping[str, object], custom_id: str) -> str:
    for row in mappings(message.get("components")):
        for button in mappings(row.get("components")):
            if custom_id and button.get("custom_id") == custom_id:
                return text(button.get("label"))[:100]
    return ""
