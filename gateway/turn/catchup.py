"""Messages of places that agreed to it: kept for a bounded time, changed with the platform, and
read for people who ask what they missed."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from gateway.conversation import ConversationKey, channel_name
from gateway.message import ChatMessage, MessageAuthor, Place
from gateway.people import DEFAULT_TENANT, Audience, PersonId
from gateway.ports import Clock
from gateway.stores.catchup import CatchUpStore, KeptMessage

KNOWN_SECONDS: Final = 3.0
"""Seconds until a place that another process switched counts."""
TRIM_EVERY: Final = 32
"""Kept messages of a place after which its oldest ones beyond the bound are deleted."""
MAX_TEXT: Final = 2_000
"""Characters of a kept message."""


class CatchUpRules(Struct, frozen=True):
    """`keep` is the time for which a message is kept, `messages` their number in a place."""

    keep: timedelta = timedelta(days=7)
    messages: int = 2_000


class CatchUp:
    """The kept messages of all places. Every method that waits raises `StoreUnavailable`."""

    def __init__(self, store: CatchUpStore, clock: Clock, rules: CatchUpRules) -> None:
        self.store = store
        self.rules = rules
        self._clock = clock
        self._on: frozenset[str] = frozenset()
        self._until = 0.0
        self._since_trim: dict[str, int] = {}

    async def is_on(self, room: str) -> bool:
        """Return True for a room, the text of a `ConversationKey`, that is switched on."""
        if self._clock.monotonic() >= self._until:
            await self._refresh()
        return room in self._on

    async def switch_on(self, key: ConversationKey, person: str) -> bool | None:
        """Switch a room on; False if it is on already, None if there are too many."""
        now, channel = self._clock.now(), _channel(key.platform, key.account, key.channel)
        done = await self.store.switch_on(str(key.room), key.tenant, channel, person, now)
        await self._refresh()
        return done

    async def switch_off(self, key: ConversationKey) -> bool:
        """Switch a room off and delete its messages; False if it was off."""
        was_on = await self.store.switch_off(str(key.room))
        await self._refresh()
        return was_on

    async def opt_out(self, tenant: str, persons: Sequence[str]) -> int:
        """Keep nothing of this human any more; returns the number of deleted messages."""
        return await self.store.opt_out(tenant, persons, self._clock.now())

    async def keep(self, key: ConversationKey, message: ChatMessage, text: str, link: str) -> bool:
        """Keep a message of a room that is on, in words without secrets; False if it is not
        kept."""
        place, room = message.place, str(key.room)
        if message.timestamp <= self._clock.now() - self.rules.keep:
            return False
        kept = KeptMessage(
            message.id,
            str(place.identity(message.author)),
            message.author.name,
            message.timestamp,
            text[:MAX_TEXT],
            link,
        )
        done = await self.store.keep(room, key.tenant, kept, identities(place, message.author))
        self._since_trim[room] = self._since_trim.get(room, TRIM_EVERY) + done
        if self._since_trim[room] > TRIM_EVERY:
            self._since_trim[room] = 0
            await self.store.trim(room, self.rules.messages)
        return done

    async def edit(self, tenant: str, message: ChatMessage, text: str) -> bool:
        """Replace the text of a kept message; False if it is not kept."""
        channel = _channel_of(message.place)
        persons = identities(message.place, message.author)
        return await self.store.edit(tenant, channel, message.id, persons, text[:MAX_TEXT])

    async def delete(self, place: Place, message_ids: Sequence[str]) -> int:
        """Delete kept messages; returns how many."""
        return await self.store.delete(_channel_of(place), message_ids)

    async def has_any(self) -> bool:
        """Return True if any room is on."""
        if self._clock.monotonic() >= self._until:
            await self._refresh()
        return bool(self._on)

    async def leave(self, place: Place, *, whole_workspace: bool) -> None:
        """Switch off the rooms of a channel, or of a workspace, from which the assistant was
        removed."""
        await self._refresh()
        for room in self._on:
            key = ConversationKey.of(room)
            if (key.platform, key.account) != (place.platform, place.account):
                continue
            workspace = whole_workspace and key.workspace == place.workspace_id != ""
            if workspace or key.channel == place.channel_id:
                await self.switch_off(key)

    async def read(self, room: str, since: datetime, until: datetime) -> list[KeptMessage]:
        """Return the messages of a room in a time, newest first; none older than the rules allow,
        and none of people who opted out."""
        since = max(since, self._clock.now() - self.rules.keep)
        return await self.store.read(room, since, until, self.rules.messages)

    async def _refresh(self) -> None:
        self._on = await self.store.places()
        self._until = self._clock.monotonic() + KNOWN_SECONDS
        self._since_trim = {room: n for room, n in self._since_trim.items() if room in self._on}


def may_be_kept(message: ChatMessage) -> bool:
    """Return True for a message that a person wrote where all members of a room read it. A chat in
    its own name is nobody who could opt out."""
    place, author = message.place, message.author
    in_room = place.audience is not Audience.DIRECT and not place.closed_thread
    return in_room and not (author.is_bot or author.is_chat or message.unreadable)


def identities(place: Place, author: MessageAuthor) -> tuple[str, ...]:
    """Return every known identity of an author, the present one first."""
    ids = dict.fromkeys((author.id, *author.aliases, *author.former))
    return tuple(str(PersonId(place.platform, place.account, one)) for one in ids)


def _channel_of(place: Place) -> str:
    return _channel(place.platform, place.account, place.channel_id)


def _channel(platform: str, account: str, channel: str) -> str:
    return channel_name(DEFAULT_TENANT, platform, account, channel)
