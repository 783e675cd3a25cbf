"""From a delivery to the gateway: parsed, completed, stored; only then is Slack told."""

import asyncio
from dataclasses import replace
from typing import Final

from adapters.slack.directory import Directory
from adapters.slack.frame import Me
from adapters.slack.lanes import Lanes
from adapters.slack.parse import parse
from adapters.slack.raw import Raw, mapping, text
from gateway.errors import StoreUnavailable
from gateway.message import (
    CommandInvoked,
    InboundEvent,
    MessageEdited,
    MessageReceived,
    SlackExtras,
    place_of,
)
from gateway.people import Audience
from gateway.ports import Counter, EventSink

ACK_SECONDS: Final = 2.5
"""Slack waits 3 seconds; what takes longer is left to be delivered again."""
MAX_LOOKUPS: Final = 5
"""Mentioned people whose names are asked for; of more, the ids are shown."""


class Intake:
    """Takes the deliveries of one account, those of a channel in order."""

    def __init__(self, sink: EventSink, me: Me, directory: Directory, count: Counter) -> None:
        self._sink = sink
        self._me = replace(me, names=directory.names)
        self._directory = directory
        self._count = count
        self._lanes = Lanes()
        self._closed = False

    async def take(self, body: dict[str, object]) -> bool:
        """True once everything in `body` is stored: then, and only then, may it be acknowledged.

        A repeated delivery is handed over like the first, for the first may never have arrived.
        """
        if self._closed:
            return False
        events = parse(body, self._me)
        if not events:
            self._count("ignored", _kind(body))
            return True
        try:
            async with (
                asyncio.timeout(ACK_SECONDS),
                self._lanes.turn(place_of(events[0]).channel_id),
            ):
                for event in await self._readable(body, events):
                    await self._sink(await self._completed(event))
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

    async def _completed(self, event: InboundEvent) -> InboundEvent:
        match event:
            case MessageReceived() | MessageEdited():
                author = event.message.author
                if author.name or author.is_bot:
                    return event
                named = replace(author, name=await self._directory.name(author.id))
                return replace(event, message=replace(event.message, author=named))
            case CommandInvoked() if event.place.audience is Audience.DIRECT:
                place = event.place
                if await self._directory.is_between_us(place.channel_id, event.author.id):
                    return event
                return replace(event, place=replace(place, audience=Audience.PRIVATE_ROOM))
            case _:
                return event


def _mentions(event: InboundEvent) -> tuple[str, ...]:
    if isinstance(event, MessageReceived | MessageEdited):
        extras = event.message.extras
        return extras.mentions if isinstance(extras, SlackExtras) else ()
    return ()


def _kind(body: Raw) -> str:
    return text(mapping(body, "event"), "type", 50) or text(body, "type", 50) or "unknown"
