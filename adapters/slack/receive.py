"""Deliveries on their way to the gateway: parsed, completed by lookups, stored. A delivery is
acknowledged only after that."""

import asyncio
import hashlib
from typing import Final

from adapters.shared.json_readers import JsonObject, identifier, mapping, text
from adapters.shared.receive_queue import ReceiveQueue
from adapters.slack.directory import SlackDirectory, UserInfo
from adapters.slack.event_context import SlackBot
from adapters.slack.messages import SlackExtras
from adapters.slack.parse import parse
from db.errors import StoreUnavailable
from gateway.immutable import replace
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InboundEvent,
    MessageAuthor,
    MessageEdited,
    MessageReceived,
    Place,
)
from gateway.people import Audience
from gateway.ports import AdapterContext, EventSink
from gateway.ports.adapter import unpacked

ACK_SECONDS: Final = 2.5
"""Slack waits 3 seconds. A delivery that takes longer is not acknowledged and comes again."""
MAX_LOOKUPS: Final = 5
"""Mentioned people whose names are looked up; for others the ids are shown."""


class SlackReceiver:
    """Receives the deliveries of one account, those of a channel in order."""

    def __init__(
        self, me: SlackBot, context: AdapterContext, sink: EventSink, directory: SlackDirectory
    ) -> None:
        self._me = replace(me, names=directory.names)
        self._queue = ReceiveQueue("slack", context, sink)
        self._sink = sink
        self._directory = directory
        self._count = context.count
        self._closed = False

    async def take(self, body: dict[str, object]) -> bool:
        """True once every event of `body` is stored: only then may it be acknowledged.

        A repeated delivery is stored like the first one, which may never have been stored.
        """
        if self._closed:
            return False
        changed = mapping(body, "event")
        if text(changed, "type", 50) == "user_change":
            self._directory.forget(identifier(mapping(changed, "user"), "id"))
        events = self._queue.parse(_delivery_id(body), lambda: parse(body, self._me))
        if not events:
            if events is not None:
                self._count("ignored", _kind(body))
            return True
        channel_id = events[0].place.channel_id
        states_shared = isinstance(body.get("is_ext_shared_channel"), bool)
        try:
            async with asyncio.timeout(ACK_SECONDS), self._queue.turn(channel_id):
                for event in await self._with_names(body, events):
                    await self._sink(await self._completed(event, states_shared))
        except (StoreUnavailable, TimeoutError):
            self._count("unacknowledged", _kind(body))
            return False
        return True

    async def close(self) -> None:
        """Refuse further deliveries, and let the current ones end."""
        self._closed = True
        await self._queue.drain(ACK_SECONDS)

    async def _with_names(
        self, body: dict[str, object], events: list[InboundEvent]
    ) -> list[InboundEvent]:
        """The same events with the names of mentioned people, where Slack knows them."""
        mentioned = {user for event in events for user in _mentions(event)}
        unknown = sorted(mentioned - {self._me.user_id} - set(self._me.names))[:MAX_LOOKUPS]
        if not unknown:
            return events
        await asyncio.gather(*(self._directory.person(user) for user in unknown))
        return parse(body, self._me)

    async def _completed(self, event: InboundEvent, states_shared: bool) -> InboundEvent:
        """The event with its author's name, and with whether author and readers are from outside.
        `states_shared`: the delivery itself says whether another company is in the channel."""
        match event:
            case MessageReceived() | MessageEdited():
                message = event.message
                (place, author), files = await asyncio.gather(
                    self._looked_up(message.place, message.author, states_shared),
                    self._directory.described(message.attachments),
                )
                completed = replace(message, place=place, author=author, attachments=files)
                return replace(event, message=completed)
            case CommandInvoked() | ButtonPressed():
                place, author = await self._looked_up(event.place, event.author, states_shared)
                place = await self._with_audience(place, author)
                return replace(event, place=place, author=author)
            case _:
                return event

    async def _with_audience(self, place: Place, author: MessageAuthor) -> Place:
        """The place, as a private room where a direct channel belongs to two other people: commands
        and the buttons of their answers work there as well."""
        if place.audience is not Audience.DIRECT:
            return place
        if await self._directory.is_own_direct_channel(place.channel_id, author.id):
            return place
        shared = await self._directory.is_shared(place.channel_id)
        return replace(place, audience=Audience.PRIVATE_ROOM, outsiders=shared)

    async def _looked_up(
        self, place: Place, author: MessageAuthor, states_shared: bool
    ) -> tuple[Place, MessageAuthor]:
        person, shared = await asyncio.gather(
            self._person(author), self._is_shared(place, states_shared)
        )
        outside = author.outside or person.outside
        name, language = author.name or person.name, person.language
        author = replace(author, name=name, outside=outside, language=language, zone=person.zone)
        return replace(place, outsiders=shared), author

    async def _person(self, author: MessageAuthor) -> UserInfo:
        if author.is_bot:
            return UserInfo("", outside=True)
        return await self._directory.person(author.id)

    async def _is_shared(self, place: Place, states_shared: bool) -> bool:
        if states_shared:
            self._directory.note_shared(place.channel_id, place.outsiders)
        if states_shared or place.audience is Audience.DIRECT:
            return place.outsiders
        return await self._directory.is_shared(place.channel_id)


def _mentions(event: InboundEvent) -> tuple[str, ...]:
    if isinstance(event, MessageReceived | MessageEdited):
        return unpacked(SlackExtras, event.message.extras).mentions
    return ()


def _kind(body: JsonObject) -> str:
    return text(mapping(body, "event"), "type", 50) or text(body, "type", 50) or "unknown"


def _delivery_id(body: JsonObject) -> str:
    """The same id for every delivery of an event: Slack's own, or else a digest."""
    known = text(body, "event_id", 50) or text(body, "trigger_id", 100)
    return known or hashlib.blake2b(repr(body).encode(), digest_size=16).hexdigest()
