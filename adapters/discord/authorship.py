"""Text of a message that its author did not write: forwards, polls, previews of links.

Fields: Discord, "Message Object", "Message Snapshot Object", "Embed Object", "Poll Object".
"""

from collections.abc import Mapping
from typing import Final

from adapters.discord.bot import BotIdentity
from adapters.discord.json_readers import integer, mapping, mappings, text
from adapters.discord.message_text import message_text_of
from gateway.authorship import Material, within_bounds

FORWARD: Final = 1
"""The type of a `message_reference` that forwards."""
MAX_SNAPSHOTS: Final = 5
"""Messages that one message forwards; Discord sends one."""
MAX_EMBEDS: Final = 10
MAX_FIELDS: Final = 25
"""Embeds of one message, and fields of one embed (Discord)."""
MAX_ANSWERS: Final = 10
"""Answers of a poll (Discord)."""


def snapshots_of(data: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The messages that this one forwards, as they were when it was sent."""
    reference = mapping(data.get("message_reference"))
    if integer(reference.get("type")) != FORWARD:
        return []
    snapshots = mappings(data.get("message_snapshots"))[:MAX_SNAPSHOTS]
    return [mapping(one.get("message")) for one in snapshots]


def material_of(data: Mapping[str, object], bot: BotIdentity) -> tuple[Material, ...]:
    """What the author of a message shows. Discord does not say who wrote a forwarded message."""
    forwarded = [Material("forwarded", said_in(one, bot)) for one in snapshots_of(data)]
    previews = [Material("preview", one) for one in _embeds(data)]
    return within_bounds((*forwarded, Material("card", _poll(data)), *previews))


def said_in(data: Mapping[str, object], bot: BotIdentity) -> str:
    """All text of a message that is forwarded or replied to: words, poll, embeds, forwards."""
    every = (data, *snapshots_of(data))
    return "\n".join(filter(None, (_said_alone(one, bot) for one in every)))


def _said_alone(data: Mapping[str, object], bot: BotIdentity) -> str:
    return "\n".join(
        filter(None, (message_text_of(data, bot).content, _poll(data), *_embeds(data)))
    )


def _poll(data: Mapping[str, object]) -> str:
    poll = mapping(data.get("poll"))
    question = text(mapping(poll.get("question")).get("text"))
    if not question:
        return ""
    answers = mappings(poll.get("answers"))[:MAX_ANSWERS]
    told = (text(mapping(one.get("poll_media")).get("text")) for one in answers)
    return "\n".join([f"Poll: {question}", *(f"- {answer}" for answer in told)])


def _embeds(data: Mapping[str, object]) -> list[str]:
    found = (_embed(one) for one in mappings(data.get("embeds"))[:MAX_EMBEDS])
    return [told for told in found if told]


def _embed(embed: Mapping[str, object]) -> str:
    fields = mappings(embed.get("fields"))[:MAX_FIELDS]
    parts = [
        text(mapping(embed.get("author")).get("name")),
        text(embed.get("title")),
        text(embed.get("description")),
        *(f"{text(one.get('name'))}: {text(one.get('value'))}" for one in fields),
        text(mapping(embed.get("footer")).get("text")),
    ]
    return "\n".join(part for part in parts if part.strip())
