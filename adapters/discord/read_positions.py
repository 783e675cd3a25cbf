"""The last message read in each channel, kept across restarts: the start of a catch-up."""

import asyncio
import contextlib
import json
from collections import OrderedDict
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

import structlog
from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.background_tasks import stop_task
from gateway.message import Place
from gateway.ports import AdapterState

MAX_CHANNELS: Final = 500
"""Channels that are kept; beyond that, the one without messages for longest is removed."""
PER_PAGE: Final = 40
"""Channels in one value of the adapter's state, which has 4,000 characters: 95 for each."""
MAX_DIGITS: Final = 20
KEEP: Final = timedelta(days=90)
NEW_SECONDS: Final = 0.2
"""The time after which a new channel is written."""
FLUSH_SECONDS: Final = 5.0
"""The shortest time between two writes of everything else: a message costs no write of its own."""

_PAGES: Final = -(-MAX_CHANNELS // PER_PAGE)
_LATEST: Final = "read:latest"

log = structlog.get_logger(__name__)


class ChannelRef(Struct, frozen=True):
    """A channel, thread or direct conversation. `parent_id` is set for threads, `private` for those
    that only invited people read; `guild_id` is empty for direct conversations."""

    channel_id: str
    guild_id: str = ""
    parent_id: str = ""
    private: bool = False

    @classmethod
    def of(cls, place: Place) -> "ChannelRef":
        """The channel of a place."""
        if place.thread_id:
            return cls(
                place.thread_id, place.workspace_id, place.channel_id, private=place.closed_thread
            )
        return cls(place.channel_id, place.workspace_id)


class ReadPositions:
    """The last message read in each channel where the bot was addressed or wrote, and of all.

    A background task writes them. After a kill they are some seconds old; a message that is then
    read twice is recognised by its id.
    """

    def __init__(self, state: AdapterState) -> None:
        self._state = state
        self._channels: OrderedDict[str, tuple[ChannelRef, int]] = OrderedDict()
        self._slots: dict[str, int] = {}
        self._free = list(range(MAX_CHANNELS))
        self._dirty: set[int] = set()
        self._newest = self._latest = self._written = 0
        self._new = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.catching_up = False
        """While True, older messages are being fetched, and `latest` does not change."""

    @property
    def latest(self) -> int:
        """Everything up to this id was read, in any channel; 0 when that is unknown."""
        return self._latest

    async def open(self) -> None:
        """Read the positions of earlier runs, and begin to write. Raises `StoreUnavailable`."""
        entries: list[tuple[ChannelRef, int]] = []
        for page in range(_PAGES):
            entries += _entries(await self._state.get(_key(page)))
        for channel, last in sorted(entries, key=lambda entry: entry[1])[-MAX_CHANNELS:]:
            self._keep(channel, last)
        self._latest = self._newest = self._written = _number(await self._state.get(_LATEST))
        self._new.clear()
        self._task = asyncio.create_task(self._write_periodically(), name="discord-seen")

    async def close(self) -> None:
        """Write what is not written yet. Safe to call twice."""
        task, self._task = self._task, None
        if task is not None:
            await stop_task(task)
            await self._flush()

    def channels(self) -> list[tuple[ChannelRef, int]]:
        """Every kept channel with the last message read, the latest channel first."""
        return list(reversed(self._channels.values()))

    def advance(self, place: Place, message_id: str, *, addressed: bool) -> None:
        """A message was stored, or the bot wrote it. A channel is kept from the first message on
        that addresses the bot."""
        number = _number(message_id)
        if not number:
            return
        self._newest = max(self._newest, number)
        if not self.catching_up:
            self._latest = self._newest
        channel = ChannelRef.of(place)
        known = self._channels.get(channel.channel_id)
        if known is not None:
            self._keep(channel, max(number, known[1]))
        elif addressed:
            self._keep(channel, number)
            self._new.set()

    def finish_catch_up(self) -> None:
        """Every older message was read."""
        self.catching_up, self._latest = False, self._newest

    def forget(self, channel_id: str) -> None:
        """Remove a channel that is gone, or closed to the bot."""
        slot = self._slots.pop(channel_id, None)
        if slot is not None:
            del self._channels[channel_id]
            self._free.append(slot)
            self._dirty.add(slot // PER_PAGE)

    def _keep(self, channel: ChannelRef, last: int) -> None:
        channel_id = channel.channel_id
        if not all(_fits(value) for value in (channel_id, channel.guild_id, channel.parent_id)):
            return
        if channel_id not in self._slots:
            if not self._free:
                self.forget(next(iter(self._channels)))
            self._slots[channel_id] = self._free.pop()
        self._channels[channel_id] = (channel, last)
        self._channels.move_to_end(channel_id)
        self._dirty.add(self._slots[channel_id] // PER_PAGE)

    async def _write_periodically(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECONDS):
                    await self._new.wait()
            await asyncio.sleep(NEW_SECONDS)
            self._new.clear()
            await self._flush()

    async def _flush(self) -> None:
        latest = self._latest
        try:
            for page in sorted(self._dirty):
                entries = [
                    self._channels[channel_id]
                    for channel_id, slot in self._slots.items()
                    if slot // PER_PAGE == page
                ]
                await self._put(page, _text(entries))
            if latest != self._written:
                await self._state.put(_LATEST, str(latest), KEEP)
                self._written = latest
        except StoreUnavailable as error:
            log.warning("read_positions_not_written", platform="discord", error=str(error))

    async def _put(self, page: int, text: str) -> None:
        """A change during the write marks the page again."""
        self._dirty.discard(page)
        try:
            await self._state.put(_key(page), text, KEEP)
        except BaseException:
            self._dirty.add(page)
            raise


def _key(page: int) -> str:
    return f"read:{page}"


def _text(entries: Iterable[tuple[ChannelRef, int]]) -> str:
    rows = [[w.channel_id, w.guild_id, w.parent_id, int(w.private), last] for w, last in entries]
    return json.dumps(rows, separators=(",", ":"))


def _entries(value: str | None) -> list[tuple[ChannelRef, int]]:
    """The entries that `_text` wrote; none for any other text."""
    try:
        rows = json.loads(value or "[]")
        return [
            (ChannelRef(str(channel), str(guild), str(parent), bool(private)), int(last))
            for channel, guild, parent, private, last in rows
        ]
    except (ValueError, TypeError):
        return []


def _fits(value: str) -> bool:
    return not value or (value.isdecimal() and value.isascii() and len(value) <= MAX_DIGITS)


def _number(value: str | None) -> int:
    return int(value) if value and _fits(value) else 0
