"""From a delivery to the gateway: parsed, completed, stored; only then is Slack told."""

import asyncio
import hashlib
from dataclasses import replace
from typing import Final

from adapters.slack.conversation_queues import ConversationQueues
from adapters.slack.directory import Directory, UserInfo
from adapters.slack.event_context import BotIdentity
from adapters.slack.extras import SlackExtras
from adapters.slack.json_readers import Raw, identifier, mapping, text
from adapters.slack.parse import parse
from gateway.errors import StoreUnavailable
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InboundEvent,
    MessageAuthor,
    MessageEdited,
    MessageReceived,
    Place,
    place_of,
)
from gateway.people import Audience
from gateway.ports import Counter, EventSink
from gateway.ports.extras import unpacked
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem

ACK_SECONDS: Final = 2.5
"""Slack waits 3 seconds; what takes longer is left to be delivered again."""
MAX_LOOKUPS: Final = 5
"""Mentioned people whose names are asked for; of more, the ids are shown."""


class Receiver:
    """Takes the deliveries of one account, those of a channel in order."""

    def __init__(
        self,
        sink: EventSink,
        me: BotIdentity,
        directory: Directory,
        count: Counter,
        guard: WorkGuard = UNGUARDED,
    ) -> None:
        self._guard = guard
        self._sink = sink
        self._me = replace(me, names=directory.names)
        self._directory = directory
        self._count = count
        self._lanes = ConversationQueues()
        self._closed = False

    async def take(self, body: dict[str, object]) -> bool:
        """True once everything in `body` is stored: then, and only then, may it be acknowledged.

        A repeated delivery is handed over like the first, for the first may never have arrived.
        """
        if self._closed:
            return False
        delivery = WorkItem("payload", f"slack:{self._me.account}:{_delivery(body)}")
        if self._guard.exhausted(delivery):
            self._count("quarantined", "slack")
            return True
        with self._guard.working(delivery):
            return await self._store(body)

    async def _store(self, body: dict[str, object]) -> bool:
        """True once everything in `body` is stored."""
        changed = mapping(body, "event")
        if text(changed, "type", 50) == "user_change":
            self._directory.forget(identifier(mapping(changed, "user"), "id"))
        events = parse(body, self._me)
        if not events:
            self._count("ignored", _kind(body))
            return True
        try:
            async with (
                asyncio.timeout(ACK_SECONDS),
                self._lanes.turn(place_of(events[0]).channel_id),
            ):
                said = isinstance(body.get("is_ext_shared_channel"), bool)
                for event in await self._readable(body, events):
                    await self._sink(await self._completed(event, said))
        except (StoreUnavailable, TimeoutError):
            self._count("unacknowledged", _kind(body))
            return False
        return True

    async def close(self) -> None:
        """Take nothing more, and let what is under way end."""
        self._closed = True
        await self._lanes.drained(ACK_SECONDS)

    async def _readable(
        self, body: dict[str, object], events: list[InboundEvent]
    ) -> list[InboundEvent]:
        """The same events with the people they mention named, where Slack says their names."""
        mentioned = {user for event in events for user in _mentions(event)}
        unknown = sorted(mentioned - {self._me.user_id} - set(self._me.names))[:MAX_LOOKUPS]
        if not unknown:
            return events
        await asyncio.gather(*(self._directory.name(user) for user in unknown))
        return parse(body, self._me)

    async def _completed(self, event: InboundEvent, said: bool) -> InboundEvent:
        """The event with its author's name, whether the author is from outside, and whether people
        from outside read along. `said`: the delivery itself tells of another company, or not."""
        match event:
            case MessageReceived() | MessageEdited():
                message = event.message
                place, author = await self._facts(message.place, message.author, said)
                return replace(event, message=replace(message, place=place, author=author))
            case CommandInvoked() | ButtonPressed():
                place, author = await self._facts(event.place, event.author, said)
                place = await self._with_readers(place, author)
                return replace(event, place=place, author=author)
            case _:
                return event

    async def _with_readers(self, place: Place, author: MessageAuthor) -> Place:
        """The place, as a room where a direct channel is that of two other people: commands work
        there as well, and so do the buttons of what answers them."""
        if place.audience is not Audience.DIRECT:
            return place
        if await self._directory.is_between_us(place.channel_id, author.id):
            return place
        shared = await self._directory.is_shared(place.channel_id)
        return replace(place, audience=Audience.PRIVATE_ROOM, outsiders=shared)

    async def _facts(
        self, place: Place, author: MessageAuthor, said: bool
    ) -> tuple[Place, MessageAuthor]:
        known, shared = await asyncio.gather(self._person(author), self._shared(place, said=said))
        named = replace(
            author, name=author.name or known.name, outside=author.outside or known.outside
        )
        return replace(place, outsiders=shared), named

    async def _person(self, author: MessageAuthor) -> UserInfo:
        if author.is_bot:
            return UserInfo("", outside=True)
        return await self._directory.person(author.id)

    async def _shared(self, place: Place, *, said: bool) -> bool:
        if said:
            self._directory.note_shared(place.channel_id, place.outsiders)
        if said or place.audience is Audience.DIRECT:
            return place.outsiders
        return await self._directory.is_shared(place.channel_id)


def _mentions(event: InboundEvent) -> tuple[str, ...]:
    if isinstance(event, MessageReceived | MessageEdited):
        return unpacked(SlackExtras, event.message.extras).mentions
    return ()


def _kind(body: Raw) -> str:
    return text(mapping(body, "event"), "type", 50) or text(body, "type", 50) or "unknown"


def _delivery(body: Raw) -> str:
    """The same for every delivery of an event: Slack's id of it, or else a digest."""
    found = text(body, "event_id", 50) or text(body, "trigger_id", 100)
    return found or hashlib.blake2b(repr(body).encode(), digest_size=16).hexdigest()
