"""Gateway payloads, turned into events; the only place that knows what Discord calls them.

A payload is one dispatched gateway message: {"t": name, "s": sequence, "d": data}. A bare message
or interaction object, as REST and webhooks carry it, is understood as well. Nothing that arrives
raises: unknown and broken payloads give no events.
"""

from collections.abc import Callable, Mapping
from typing import Final

from adapters.discord.bot import PLATFORM, BotIdentity, place_of
from adapters.discord.interactions import interaction_of
from adapters.discord.json_readers import identities, identity, mapping, text
from adapters.discord.message_text import author_of, name_of
from adapters.discord.messages import message_of
from gateway.message import (
    InboundEvent,
    MembershipChanged,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Place,
    ReactionChanged,
)
from gateway.people import Audience

Reader = Callable[[Mapping[str, object], BotIdentity, str], list[InboundEvent]]
"""(data, bot, stamp) to events; `stamp` is unique to the delivery, empty when unknown."""


def parse(payload: dict[str, object], me: BotIdentity | None = None) -> list[InboundEvent]:
    """The events of one payload, as `me` sees them; empty for what is ignored."""
    bot = me or BotIdentity()
    name, data = _unwrap(mapping(payload))
    reader = _READERS.get(name)
    if reader is None or not data:
        return []
    sequence = payload.get("s")
    stamp = f"{bot.session}:{sequence}" if bot.session and isinstance(sequence, int) else ""
    return reader(data, bot, stamp)


def _unwrap(payload: Mapping[str, object]) -> tuple[str, Mapping[str, object]]:
    if "t" in payload or "op" in payload:
        return text(payload.get("t")), mapping(payload.get("d"))
    if "application_id" in payload and "token" in payload:
        return "INTERACTION_CREATE", payload
    if "author" in payload and "channel_id" in payload:
        return "MESSAGE_CREATE", payload
    return "", payload


def _created(data: Mapping[str, object], bot: BotIdentity, _: str) -> list[InboundEvent]:
    message = message_of(data, bot)
    return [] if message is None else [MessageReceived(message.id, message)]


def _updated(data: Mapping[str, object], bot: BotIdentity, _: str) -> list[InboundEvent]:
    """Discord also sends an update when it unfurls a link; nobody edited anything then."""
    edited = text(data.get("edited_timestamp"))[:64]
    message = message_of(data, bot) if edited and "content" in data else None
    return [] if message is None else [MessageEdited(f"{message.id}:edit:{edited}", message)]


def _deleted(data: Mapping[str, object], bot: BotIdentity, _: str) -> list[InboundEvent]:
    place = place_of(data, bot)
    ids = identities(data.get("ids")) or identities([data.get("id")])
    if place is None or not ids:
        return []
    return [MessageDeleted(f"{ids[0]}:delete:{len(ids)}", place, ids)]


def _interaction(data: Mapping[str, object], bot: BotIdentity, _: str) -> list[InboundEvent]:
    event = interaction_of(data, bot)
    return [] if event is None else [event]


def _reacted(
    data: Mapping[str, object], bot: BotIdentity, stamp: str, *, added: bool
) -> list[InboundEvent]:
    place, message_id = place_of(data, bot), identity(data.get("message_id"))
    user_id = identity(data.get("user_id"))
    emoji = mapping(data.get("emoji"))
    shown = text(emoji.get("name"))[:100]
    if place is None or not message_id or not user_id or not shown or user_id == bot.user_id:
        return []
    shown = f":{shown}:" if emoji.get("id") else shown
    known = author_of({"member": data.get("member")})
    author = known if known and known.id == user_id else MessageAuthor(user_id)
    event_id = stamp or f"{message_id}:{'react' if added else 'unreact'}:{user_id}:{shown}"
    return [ReactionChanged(event_id, place, author, message_id, shown, added)]


def _reaction_added(data: Mapping[str, object], bot: BotIdentity, stamp: str) -> list[InboundEvent]:
    return _reacted(data, bot, stamp, added=True)


def _reaction_removed(
    data: Mapping[str, object], bot: BotIdentity, stamp: str
) -> list[InboundEvent]:
    return _reacted(data, bot, stamp, added=False)


def _server_joined(data: Mapping[str, object], bot: BotIdentity, stamp: str) -> list[InboundEvent]:
    return [] if data.get("unavailable") is True else _own_membership(data, bot, stamp, joined=True)


def _server_left(data: Mapping[str, object], bot: BotIdentity, stamp: str) -> list[InboundEvent]:
    """An outage of Discord looks the same, but for `unavailable`."""
    return [] if data.get("unavailable") else _own_membership(data, bot, stamp, joined=False)


def _own_membership(
    data: Mapping[str, object], bot: BotIdentity, stamp: str, *, joined: bool
) -> list[InboundEvent]:
    guild_id = identity(data.get("id"))
    if not guild_id:
        return []
    channel_id = identity(data.get("system_channel_id")) or guild_id
    place = Place(PLATFORM, bot.account, channel_id, Audience.PUBLIC_ROOM, guild_id)
    me = MessageAuthor(bot.user_id, is_bot=True)
    event_id = stamp or f"{guild_id}:{'joined' if joined else 'left'}"
    return [MembershipChanged(event_id, place, me, joined, is_self=True, whole_workspace=True)]


def _membership(
    data: Mapping[str, object], bot: BotIdentity, stamp: str, *, joined: bool
) -> list[InboundEvent]:
    guild_id, user = identity(data.get("guild_id")), mapping(data.get("user"))
    user_id = identity(user.get("id"))
    if not guild_id or not user_id or user_id == bot.user_id:
        return []
    place = Place(PLATFORM, bot.account, guild_id, Audience.PUBLIC_ROOM, guild_id)
    member = MessageAuthor(user_id, name_of(user, data), user.get("bot") is True)
    event_id = stamp or f"{guild_id}:{user_id}:{'joined' if joined else 'left'}"
    return [MembershipChanged(event_id, place, member, joined, whole_workspace=True)]


def _member_joined(data: Mapping[str, object], bot: BotIdentity, stamp: str) -> list[InboundEvent]:
    return _membership(data, bot, stamp, joined=True)


def _member_left(data: Mapping[str, object], bot: BotIdentity, stamp: str) -> list[InboundEvent]:
    return _membership(data, bot, stamp, joined=False)


_READERS: Final[Mapping[str, Reader]] = {
    "MESSAGE_CREATE": _created,
    "MESSAGE_UPDATE": _updated,
    "MESSAGE_DELETE": _deleted,
    "MESSAGE_DELETE_BULK": _deleted,
    "INTERACTION_CREATE": _interaction,
    "MESSAGE_REACTION_ADD": _reaction_added,
    "MESSAGE_REACTION_REMOVE": _reaction_removed,
    "GUILD_CREATE": _server_joined,
    "GUILD_DELETE": _server_left,
    "GUILD_MEMBER_ADD": _member_joined,
    "GUILD_MEMBER_REMOVE": _member_left,
}
KINDS: Final = frozenset(_READERS)
"""The events that can give something; all others are ignored."""
