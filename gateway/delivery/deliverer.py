"""The one owner of every send: in order within a chat, repeated until the platform has it."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import structlog

from gateway.delivery.pacing import Pacer
from gateway.errors import Ambiguous, DeliveryError, FormatRejected, StoreUnavailable, Transient
from gateway.message import Outbound, Part, Receipt
from gateway.ports import Clock, PlatformAdapter
from gateway.stores import Outbox, OutboxEntry

_NOTE = "(You may see the next message twice: the connection broke while I sent it.)"
REPEAT_NOTE = Part(_NOTE, _NOTE)
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
"""Seconds between tries where the platform does not name its own; doubled each time."""
AT_START = 10_000
"""Sends that a start takes up again from the outbox."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class DeliveryRules:
    """`lifetime`: how long an answer is worth sending. `repeat_ambiguous`: send once more, with a
    note, when nobody knows whether it arrived."""

    lifetime: timedelta = timedelta(hours=24)
    repeat_ambiguous: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """An account that can be sent through, with its send budget. Sends wait while it is not
    `connected`."""

    adapter: PlatformAdapter
    pacer: Pacer
    connected: asyncio.Event = field(default_factory=asyncio.Event)


class Deliverer:
    """Sends what the outbox holds. One task per chat with work; a waiting chat delays no other."""

    def __init__(
        self,
        outbox: Outbox,
        lines: Mapping[tuple[str, str], Line],
        clock: Clock,
        rules: DeliveryRules,
        count: Callable[[str, str], None],
    ) -> None:
        self._outbox = outbox
        self._lines = lines
        self._clock = clock
        self._rules = rules
        self._count = count
        self._chats: dict[tuple[str, str, str], deque[OutboxEntry]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def idle(self) -> bool:
        """True when everything is sent."""
        return not self._chats

    async def start(self) -> None:
        """Go on with what an earlier run left."""
        for entry in await self._outbox.waiting(AT_START):
            self._queue(entry)

    def submit(self, outbound: Sequence[Outbound]) -> None:
        """Send these, which the outbox has stored already."""
        for item in outbound:
            self._queue(OutboxEntry(0, item, 0, self._clock.now()))

    async def drain(self, timeout: float) -> bool:
        """Wait until everything is sent; False after `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    async def stop(self) -> None:
        """Stop sending; the outbox still has the rest."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _queue(self, entry: OutboxEntry) -> None:
        place = entry.outbound.place
        chat = (place.platform, place.account, place.channel_id)
        waiting = self._chats.get(chat)
        if waiting is not None:
            waiting.append(entry)
            return
        self._chats[chat] = deque([entry])
        self._idle.clear()
        task = asyncio.create_task(self._serve(chat))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, chat: tuple[str, str, str]) -> None:
        waiting = self._chats[chat]
        try:
            while waiting:
                await self._deliver(waiting[0], waiting)
                waiting.popleft()
        except StoreUnavailable:
            log.exception("outbox_unavailable", platform=chat[0], account=chat[1])
        finally:
            del self._chats[chat]
            if not self._chats:
                self._idle.set()

    async def _deliver(self, entry: OutboxEntry, waiting: deque[OutboxEntry]) -> None:
        outbound = entry.outbound
        line = self._lines.get((outbound.place.platform, outbound.place.account))
        if line is None:
            await self._give_up(outbound, waiting, "no adapter for this account is configured")
            return
        attempts = entry.attempts
        while True:
            await line.connected.wait()
            await line.pacer.wait(outbound.place)
            try:
                receipt = await line.adapter.send(outbound)
            except DeliveryError as error:
                attempts += 1
                following = await self._after(error, outbound, line, attempts, entry)
                if following is None:
                    await self._give_up(outbound, waiting, f"{type(error).__name__}: {error}")
                    return
                outbound = following
            except Exception as error:  # an adapter must not be able to stop a chat for ever
                log.exception("send_failed", platform=outbound.place.platform, key=outbound.key)
                await self._give_up(
                    outbound, waiting, f"bug in the adapter: {type(error).__name__}"
                )
                return
            else:
                await self._confirm(outbound, receipt)
                return

    async def _after(
        self,
        error: DeliveryError,
        outbound: Outbound,
        line: Line,
        attempts: int,
        entry: OutboxEntry,
    ) -> Outbound | None:
        """What to send after a failed try, once it is time; None gives up."""
        platform = outbound.place.platform
        self._count("send_failed", f"{platform}:{type(error).__name__}")
        await self._outbox.tried(outbound.key, f"{type(error).__name__}: {error}")
        age = self._clock.now() - entry.created_at
        if age > self._rules.lifetime:
            return None
        match error:
            case Transient():
                pause = error.retry_after
                if pause is None:
                    pause = min(FIRST_PAUSE * 2 ** min(attempts - 1, 10), LONGEST_PAUSE)
                line.pacer.penalise(outbound.place, pause)
                return outbound
            case FormatRejected():
                return without_markup(outbound)
            case Ambiguous() if line.adapter.capabilities.idempotent_sends:
                return outbound
            case Ambiguous() if self._rules.repeat_ambiguous:
                await self._note_repetition(line, outbound)
                return outbound
            case _:
                return None

    async def _note_repetition(self, line: Line, outbound: Outbound) -> None:
        """Say that what follows may be a repetition; the answer matters more than this note."""
        line.pacer.penalise(outbound.place, FIRST_PAUSE)
        await line.pacer.wait(outbound.place)
        note = replace(outbound, key=f"{outbound.key}~", part=REPEAT_NOTE, file=None, buttons=())
        try:
            await line.adapter.send(note)
        except DeliveryError as error:
            log.warning("note_not_sent", platform=outbound.place.platform, error=str(error))

    async def _confirm(self, outbound: Outbound, receipt: Receipt) -> None:
        self._count("sent", outbound.place.platform)
        await self._outbox.sent(outbound.key, receipt)

    async def _give_up(self, outbound: Outbound, waiting: deque[OutboxEntry], reason: str) -> None:
        """The rest of the same reply makes no sense without this part: it goes as well."""
        group = outbound.key.rpartition(":")[0]
        rest = [e for e in list(waiting)[1:] if e.outbound.key.rpartition(":")[0] == group]
        for entry in rest:
            waiting.remove(entry)
        keys = [outbound.key, *(entry.outbound.key for entry in rest)]
        self._count("dead_letter", outbound.place.platform)
        log.error("dead_letter", platform=outbound.place.platform, keys=len(keys), reason=reason)
        await self._outbox.dead(keys, reason)


def without_markup(outbound: Outbound) -> Outbound | None:
    """The same as plain text; None when it is plain already."""
    part = outbound.part
    if part is None or part.payload == part.text:
        return None
    return replace(outbound, part=Part(part.text, part.text))
