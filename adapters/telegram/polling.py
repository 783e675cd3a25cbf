"""Long polling: fetch, store, and only then let the next fetch confirm.

The library's `Updater` confirms a batch with its next request as soon as it has put it into a
queue, and builds an `Update` object of everything. This loop asks with the library's own `Bot`,
keeps the JSON, and moves the offset only past what the sink has stored.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import structlog
from telegram.error import Conflict, InvalidToken, TelegramError

from adapters.telegram.albums import MAX_PARTS, QUIET_SECONDS, album_of, merged
from adapters.telegram.client import RateLimited, RawBot
from adapters.telegram.errors import start_error
from adapters.telegram.json_readers import identity, integer, listing, mapping
from adapters.telegram.parse import ALLOWED_UPDATES
from adapters.telegram.receive import Receiver
from gateway.errors import StoreUnavailable
from gateway.ports import Clock, Liveness

log = structlog.get_logger(__name__)

POLL_SECONDS: Final = 30
"""How long Telegram holds a request open when there is nothing new (it allows 50)."""
READ_MARGIN: Final = 10.0
BATCH: Final = 100
ALBUM_STEP: Final = 0.1
"""Seconds between two looks while an album is incomplete."""
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
OVERDUE_SECONDS: Final = POLL_SECONDS + READ_MARGIN + 10.0
"""A poll is answered within its own time, or fails within the margin; the rest is for a retry."""
DEAF_SECONDS: Final = 120.0
"""Without a successful poll for so long, the connection counts as dead."""
MAX_CONFLICTS: Final = 5
MAX_FAILURES: Final = 5
"""Attempts at an update that fails for another reason than the store."""

Update = Mapping[str, object]


@dataclass(slots=True)
class _Step:
    """One update, or the parts of one album."""

    updates: list[tuple[int, Update]] = field(default_factory=list)
    album: str = ""


class Poller:
    """Fetches updates until it is stopped."""

    def __init__(self, bot: RawBot, intake: Receiver, clock: Clock) -> None:
        self._bot = bot
        self._intake = intake
        self._clock = clock
        self._offset = 0
        self._stored: set[int] = set()
        self._failures: dict[int, int] = {}
        self._conflicts: list[float] = []
        self._albums: dict[str, tuple[int, float]] = {}
        self._heard = clock.monotonic()
        self._storing = False

    def alive(self) -> Liveness:
        """Whether Telegram answers our polls. While what it brought is being stored, nobody asks
        it anything."""
        since = self._clock.monotonic() - self._heard
        if since <= OVERDUE_SECONDS or self._storing:
            return Liveness(True, "", since)
        return Liveness(False, f"no poll was answered for {since:.0f} s", since)

    async def first(self) -> None:
        """One fetch without waiting, to learn whether we are allowed to. Raises `StartError`."""
        try:
            batch = await self._fetch(0)
        except TelegramError as problem:
            raise start_error(problem) from problem
        await self._take(batch)

    async def run(self) -> None:
        """Fetch for ever. Raises `StartError` when the connection is dead for good."""
        pause = 0.0
        stored = True
        self._heard = self._clock.monotonic()
        while True:
            try:
                batch = await self._fetch(POLL_SECONDS if stored and not self._albums else 0)
            except TelegramError as problem:
                self._judge(problem)
                log.warning("polling_failed", platform="telegram", error=problem)
                pause = _longer(pause)
                wanted = problem.seconds if isinstance(problem, RateLimited) else 0.0
                await self._clock.sleep(max(pause, wanted))
                continue
            self._heard = self._clock.monotonic()
            stored = await self._take(batch)
            pause = 0.0 if stored else _longer(pause)
            if pause or self._albums:
                await self._clock.sleep(pause or ALBUM_STEP)

    def _judge(self, problem: TelegramError) -> None:
        """Raise `StartError` when polling on makes no sense."""
        now = self._clock.monotonic()
        if isinstance(problem, Conflict):
            self._conflicts = [at for at in self._conflicts if now - at < DEAF_SECONDS] + [now]
        lost = isinstance(problem, InvalidToken) or now - self._heard > DEAF_SECONDS
        if lost or len(self._conflicts) > MAX_CONFLICTS:
            raise start_error(problem) from problem

    async def confirm(self) -> None:
        """Tell Telegram what is stored, so that a restart does not get it again."""
        if self._offset:
            with contextlib.suppress(TelegramError, TimeoutError):
                async with asyncio.timeout(2.0):
                    await self._fetch(0, limit=1)

    async def _fetch(self, seconds: int, limit: int = BATCH) -> list[object]:
        request: dict[str, object] = {
            "offset": self._offset,
            "limit": limit,
            "timeout": seconds,
            "allowed_updates": list(ALLOWED_UPDATES),
        }
        answer = await self._bot.call("getUpdates", request, read_timeout=seconds + READ_MARGIN)
        return listing(answer)

    async def _take(self, batch: list[object]) -> bool:
        """Store what is new, chats beside each other; false when the store refused something."""
        lanes: dict[str, list[_Step]] = {}
        numbers: list[int] = []
        for raw in batch:
            update = mapping(raw)
            number = integer(update.get("update_id"))
            if number is None:
                continue
            numbers.append(number)
            if number not in self._stored:
                _queue(lanes.setdefault(ordering_key(update), []), number, update)
        self._storing = True
        try:
            results = await asyncio.gather(*(self._store_chat(lane) for lane in lanes.values()))
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
        """One chat's updates in order; false when the store refused one."""
        for position, step in enumerate(steps):
            if step.album and not self._complete(step, is_last=position == len(steps) - 1):
                return True
            try:
                await self._store(step)
            except StoreUnavailable:
                return False
            except Exception:
                if not self._give_up(step.updates[0][0]):
                    log.exception("update_not_handled", platform="telegram")
                    return False
                log.exception("update_skipped", platform="telegram", update=step.updates[0][0])
            self._albums.pop(step.album, None)
            self._stored.update(number for number, _ in step.updates)
        return True

    async def _store(self, step: _Step) -> None:
        events = [event for _, update in step.updates for event in self._intake.read(update)]
        await self._intake.store(merged(events) if step.album else events)

    def _complete(self, step: _Step, *, is_last: bool) -> bool:
        """True when no further part of the album is to be expected."""
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


def _queue(lane: list[_Step], number: int, update: Update) -> None:
    album = album_of(update)
    if album and lane and lane[-1].album == album:
        lane[-1].updates.append((number, update))
    else:
        lane.append(_Step([(number, update)], album))


def ordering_key(update: Update) -> str:
    """The chat whose order an update belongs to; the person's, where there is no chat."""
    for key, value in update.items():
        if key == "update_id":
            continue
        body = mapping(value)
        inner = mapping(body.get("message")) if key == "callback_query" else body
        chat = identity(mapping(inner.get("chat")).get("id"))
        return chat or identity(mapping(body.get("from")).get("id"))
    return ""


def _longer(pause: float) -> float:
    return min(LONGEST_PAUSE, pause * 2) if pause else FIRST_PAUSE
