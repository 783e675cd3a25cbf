"""Long polling: an update is confirmed to Telegram only after it is stored.

The library's `Updater` confirms a batch with its next request, as soon as the batch is in memory,
and builds an `Update` object of everything. This loop calls `getUpdates` through the library's
`Bot`, keeps the JSON, and moves the offset only past stored updates.
"""

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import Final

import structlog

from adapters.shared.connection import CONNECTION_DEADLINE, Backoff, LivenessMonitor
from adapters.shared.json_readers import JsonObject, integer, objects
from adapters.telegram.client import RateLimited, RawBot
from adapters.telegram.errors import start_error
from adapters.telegram.library import Conflict, InvalidToken, TelegramError
from adapters.telegram.parse import ALLOWED_UPDATES
from adapters.telegram.receive import (
    MAX_PARTS,
    QUIET_SECONDS,
    TelegramReceiver,
    album_of,
    ordering_key,
)
from db.errors import StoreUnavailable
from gateway.ports import Clock, Liveness
from gateway.text import text

log = structlog.get_logger(__name__)

# Translators: a poll asks the platform for new messages.
_NO_POLL: Final = text("no poll was answered for {time}")
POLL_SECONDS: Final = 30
"""The time for which Telegram holds a request open when there is nothing new (it allows 50)."""
READ_MARGIN: Final = 10.0
BATCH: Final = 100
ALBUM_STEP: Final = 0.1
"""Seconds between two polls while an album is incomplete."""
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
OVERDUE_SECONDS: Final = POLL_SECONDS + READ_MARGIN + 10.0
"""A poll is answered within its own time or fails within the margin; the rest is for a retry."""
MAX_CONFLICTS: Final = 5
MAX_FAILURES: Final = 5
"""Attempts at an update that fails for another reason than the store."""


@dataclass(slots=True)
class _Step:
    """One update, or the parts of one album."""

    updates: list[tuple[int, JsonObject]] = field(default_factory=list)
    album: str = ""


class Poller:
    """Fetches updates until it is cancelled."""

    def __init__(self, bot: RawBot, receiver: TelegramReceiver, clock: Clock) -> None:
        self._bot = bot
        self._receiver = receiver
        self._clock = clock
        self._offset = 0
        self._stored: set[int] = set()
        self._failures: dict[int, int] = {}
        self._conflicts: list[float] = []
        self._albums: dict[str, tuple[int, float]] = {}
        """Incomplete albums: the parts so far, and when the latest one came."""
        self._liveness = LivenessMonitor(_NO_POLL, clock.monotonic)
        self._storing = False

    def alive(self) -> Liveness:
        """The verdict by the last answered poll. There are no polls while a batch is stored."""
        if self._storing:
            return Liveness(True, "", self._liveness.seconds_since())
        return self._liveness.check(OVERDUE_SECONDS)

    async def fetch_first(self) -> None:
        """Fetch once without waiting, to learn whether the bot may. Raises `StartError`."""
        try:
            batch = await self._fetch(0)
        except TelegramError as error:
            raise start_error(error) from error
        await self._store_batch(batch)

    async def run(self) -> None:
        """Fetch and store updates without end. Raises `StartError` when the connection is
        permanently lost."""
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        stored = True
        self._liveness.answered()
        while True:
            try:
                batch = await self._fetch(POLL_SECONDS if stored and not self._albums else 0)
            except TelegramError as error:
                self._check_failure(error)
                log.warning("polling_failed", platform="telegram", error=error)
                requested = error.seconds if isinstance(error, RateLimited) else None
                await self._clock.sleep(backoff.pause(requested))
                continue
            self._liveness.answered()
            stored = await self._store_batch(batch)
            if not stored:
                await self._clock.sleep(backoff.pause())
                continue
            backoff.reset()
            if self._albums:
                await self._clock.sleep(ALBUM_STEP)

    def _check_failure(self, error: TelegramError) -> None:
        """Raise `StartError` when another poll cannot help."""
        now = self._clock.monotonic()
        if isinstance(error, Conflict):
            recent = [at for at in self._conflicts if now - at < CONNECTION_DEADLINE]
            self._conflicts = [*recent, now]
        lost = self._liveness.seconds_since() > CONNECTION_DEADLINE
        if lost or isinstance(error, InvalidToken) or len(self._conflicts) > MAX_CONFLICTS:
            raise start_error(error) from error

    async def confirm(self) -> None:
        """Confirm the stored updates, so that the next start does not receive them again."""
        if self._offset:
            with contextlib.suppress(TelegramError, TimeoutError):
                async with asyncio.timeout(2.0):
                    await self._fetch(0, limit=1)

    async def _fetch(self, seconds: int, limit: int = BATCH) -> list[JsonObject]:
        request: dict[str, object] = {
            "offset": self._offset,
            "limit": limit,
            "timeout": seconds,
            "allowed_updates": list(ALLOWED_UPDATES),
        }
        answer = await self._bot.call("getUpdates", request, read_timeout=seconds + READ_MARGIN)
        return objects(answer, BATCH)

    async def _store_batch(self, batch: list[JsonObject]) -> bool:
        """Store the new updates, chats side by side. False when the store refused one."""
        try:  # before any other: a group and its supergroup are two chats here
            batch = [await self._receiver.translated(update) for update in batch]
        except StoreUnavailable:
            return False
        chats: dict[str, list[_Step]] = {}
        numbers: list[int] = []
        for update in batch:
            number = integer(update, "update_id")
            if number is None:
                continue
            numbers.append(number)
            if number not in self._stored:
                _add_step(chats.setdefault(ordering_key(update), []), number, update)
        self._storing = True
        try:
            results = await asyncio.gather(*(self._store_chat(steps) for steps in chats.values()))
        finally:
            self._storing = False
        self._advance(numbers)
        return all(results)

    def _advance(self, numbers: list[int]) -> None:
        """Move the offset to the first of these updates that is not stored."""
        missing = [number for number in numbers if number not in self._stored]
        following = max(numbers, default=-1) + 1
        self._offset = max(self._offset, min(missing, default=following))
        self._stored = {number for number in self._stored if number >= self._offset}
        if not missing:
            self._albums.clear()
            self._failures.clear()

    async def _store_chat(self, steps: list[_Step]) -> bool:
        """Store one chat's updates in order. False when the store refused one."""
        for position, step in enumerate(steps):
            if step.album and not self._is_complete(step, is_last=position == len(steps) - 1):
                return True
            try:
                await self._store_step(step)
            except StoreUnavailable:
                return False
            except Exception:
                number = step.updates[0][0]
                if not self._give_up(number):
                    log.exception("update_not_handled", platform="telegram")
                    return False
                log.exception("update_skipped", platform="telegram", update=number)
            self._albums.pop(step.album, None)
            self._stored.update(number for number, _ in step.updates)
        return True

    async def _store_step(self, step: _Step) -> None:
        updates = [update for _, update in step.updates]
        if step.album:
            await self._receiver.store_album(updates)
        else:
            await self._receiver.store(self._receiver.read(updates[0]))

    def _is_complete(self, step: _Step, *, is_last: bool) -> bool:
        """True when no further part of the album is expected."""
        now = self._clock.monotonic()
        count, since = self._albums.get(step.album, (0, now))
        if len(step.updates) >= MAX_PARTS or not is_last:
            return True
        if len(step.updates) > count:
            self._albums[step.album] = (len(step.updates), now)
            return False
        return now - since >= QUIET_SECONDS

    def _give_up(self, number: int) -> bool:
        self._failures[number] = self._failures.get(number, 0) + 1
        return self._failures[number] >= MAX_FAILURES


def _add_step(steps: list[_Step], number: int, update: JsonObject) -> None:
    album = album_of(update)
    if album and steps and steps[-1].album == album:
        steps[-1].updates.append((number, update))
    else:
        steps.append(_Step([(number, update)], album))
