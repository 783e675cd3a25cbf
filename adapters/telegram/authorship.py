"""Who wrote the text of a raw message: its author, or somebody whose text the author shows.

Fields: Bot API, "Message", "MessageOrigin", "ExternalReplyInfo"; `forward_from` and its siblings
are those of versions before 7.0.
"""

from collections.abc import Mapping
from typing import Final

from adapters.telegram.json_readers import MAX_NAME, identity, mapping, text
from adapters.telegram.people import person_of
from gateway.authorship import Authorship

_FORWARDED: Final = frozenset(
    {
        *("forward_origin", "forward_date", "forward_from", "forward_from_chat"),
        *("forward_sender_name", "is_automatic_forward"),
    }
)


def shown_by_author(raw: Mapping[str, object], bot_id: str) -> tuple[Authorship, str] | None:
    """The authorship and the writer's name of a text that its author only shows; None where the
    text is the author's own. `bot_id` is this bot's."""
    if is_via(raw, bot_id):
        return "chosen", ""
    if not _FORWARDED.isdisjoint(raw):
        return "forwarded", _forwarded_from(raw)
    if "via_bot" in raw:
        bot = mapping(raw.get("via_bot"))
        username = text(bot.get("username"))
        writer = person_of(bot)
        return "via_bot", f"@{username}"[:MAX_NAME] if username else writer.name if writer else ""
    return None


def is_via(raw: Mapping[str, object], bot_id: str) -> bool:
    """True when the message was made by this bot's own inline mode and is no forward."""
    if "via_bot" not in raw:
        return False
    made_by = identity(mapping(raw.get("via_bot")).get("id"))
    return bool(bot_id) and made_by == bot_id and _FORWARDED.isdisjoint(raw)


def named_origin(origin: Mapping[str, object]) -> tuple[str, str]:
    """Id and name of whom a `MessageOrigin` names; the id is empty for a hidden account."""
    source = person_of(mapping(origin.get("sender_user"))) or person_of(
        mapping(origin.get("sender_chat") or origin.get("chat"))
    )
    if source is not None:
        return source.id, source.name
    return "", text(origin.get("sender_user_name"))[:MAX_NAME]


def _forwarded_from(raw: Mapping[str, object]) -> str:
    _, name = named_origin(mapping(raw.get("forward_origin")))
    if name:
        return name
    source = person_of(mapping(raw.get("forward_from"))) or person_of(
        mapping(raw.get("forward_from_chat"))
    )
    if source is not None:
        return source.name
    if hidden := text(raw.get("forward_sender_name")):
        return hidden[:MAX_NAME]
    chat = person_of(mapping(raw.get("sender_chat"))) if "is_automatic_forward" in raw else None
    return chat.name if chat else ""
