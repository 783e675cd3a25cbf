"""Where a webhook's album waits for its parts, across a crash.

Telegram calls a webhook for one update of a chat at a time and goes on only after the answer: an
unanswered first part would keep the second one away. So parts are answered as soon as they lie in
the adapter's durable state, and become one message when no more come. Only albums that are
addressed to the bot get here: nothing else may be stored.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final, TypeAlias

import structlog

from adapters.telegram.albums import MAX_PARTS, QUIET_SECONDS
from adapters.telegram.json_readers import integer, listing, mapping, text
from gateway.errors import StoreUnavailable
from gateway.ports import AdapterState, Clock

log = structlog.get_logger(__name__)

MAX_ALBUMS: Final = 20
MAX_VALUE: Final = 4000
"""Characters of one value in the adapter's state."""
KEEP: Final = timedelta(hours=24)
"""Telegram keeps an update for at most 24 hours."""
ATTEMPTS: Final = 8
FIRST_PAUSE: Final = 0.5

Update: TypeAlias = Mapping[str, object]
Deliver: TypeAlias = Callable[[list[Update]], Awaitable[None]]


class PendingUpdates:
    """Albums that are not complete yet. `deliver` stores the parts of one as one event."""

    def __init__(self, state: AdapterState, clock: Clock, account: str, deliver: Deliver) -> None:
        self._state = state
        self._clock = clock
        self._deliver = deliver
        self._prefix = f"telegram:{account}:album"
        self._parts: dict[str, list[Update]] = {}
        self._lanes: dict[str, str] = {}
        self._lock = asyncio.Lock()
        self._timers: dict[str, asyncio.Task[None]] = {}

    def holds(self, album: str) -> bool:
        """True when parts of this album wait here."""
        return album in self._parts

    async def put(self, album: str, lane: str, update: Update) -> bool:
        """Keep a part; false when it must go its own way (too large, too many, too late).

        Raises `StoreUnavailable`.
        """
        number = integer(update.get("update_id"))
        raw = json.dumps(update, separators=(",", ":"))
        async with self._lock:
            if album not in self._parts:
                done = await self._state.get(f"{self._prefix}:done:{album}")
                if done is not None:
                    return number in _list(done)
            parts = self._parts.get(album, [])
            if any(part.get("update_id") == number for part in parts):
                return True
            full = len(parts) >= MAX_PARTS or (not parts and len(self._parts) >= MAX_ALBUMS)
            if full or len(raw) > MAX_VALUE:
                return False
            await self._state.put(f"{self._prefix}:{album}:{len(parts)}", raw, KEEP)
            self._parts[album] = [*parts, update]
            self._lanes[album] = lane
            await self._write_index()
        if album not in self._timers:
            self._timers[album] = asyncio.create_task(self._settle(album))
        return True

    async def flush_chat(self, lane: str) -> None:
        """Deliver what waits in this chat, because something follows. Raises `StoreUnavailable`."""
        for album in [one for one, where in self._lanes.items() if where == lane]:
            await self._flush(album)

    async def restore(self) -> None:
        """Deliver what an earlier run left here. Raises `StoreUnavailable`."""
        index = await self._state.get(self._prefix)
        for entry in _list(index or "[]")[:MAX_ALBUMS]:
            album, count = text(mapping(entry).get("album")), mapping(entry).get("parts")
            parts = []
            for position in range(min(integer(count) or 0, MAX_PARTS)):
                raw = await self._state.get(f"{self._prefix}:{album}:{position}")
                if raw is not None:
                    parts.append(mapping(json.loads(raw)))
            if parts and album not in self._parts:
                self._parts[album] = parts
                self._lanes[album] = ""
        for album in list(self._parts):
            await self._flush(album)

    async def close(self) -> None:
        """Stop waiting; what lies here is delivered by the next `restore`."""
        timers = list(self._timers.values())
        for timer in timers:
            timer.cancel()
        await asyncio.gather(*timers, return_exceptions=True)
        self._timers.clear()

    async def _settle(self, album: str) -> None:
        try:
            seen = 0
            while seen < len(self._parts.get(album, ())):
                seen = len(self._parts[album])
                await self._clock.sleep(QUIET_SECONDS)
            pause = FIRST_PAUSE
            for _ in range(ATTEMPTS):
                try:
                    await self._flush(album)
                except StoreUnavailable:
                    await self._clock.sleep(pause)
                    pause *= 2
                else:
                    return
            log.error("album_left_for_the_next_start", platform="telegram")
        finally:
            self._timers.pop(album, None)

    async def _flush(self, album: str) -> None:
        async with self._lock:
            parts = self._parts.get(album)
            if not parts:
                return
            await self._deliver(parts)
            ids = json.dumps([part.get("update_id") for part in parts])
            await self._state.put(f"{self._prefix}:done:{album}", ids, KEEP)
            del self._parts[album]
            del self._lanes[album]
            await self._write_index()

    async def _write_index(self) -> None:
        index = [{"album": album, "parts": len(parts)} for album, parts in self._parts.items()]
        await self._state.put(self._prefix, json.dumps(index), KEEP)


def _list(raw: str) -> list[object]:
    return listing(json.loads(raw))
