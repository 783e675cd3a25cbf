"""Turns that wait, and what becomes of them: episodic memory, a little after the answer.

A turn is kept as it was said in the same transaction as its answer, and goes through the write path
when there is time, so that nobody waits for it and a killed process loses none. Whoever looks at
memory, deletes from it or takes back a message comes after what waits of theirs.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from pydantic import TypeAdapter, ValidationError
from pydantic.main import IncEx

from db.values import storable
from gateway.ports.memory import WaitingTurn
from gateway.ports.work_guard import UNGUARDED, Owner, WorkGuard, WorkItem
from memory.model.record import MAX_DOCUMENT
from memory.model.scope import AccessScope, RequestScope, access_scope_of, channel_of
from memory.ports.waiting_turns import ConsolidatedTurn, WaitingTurns
from memory.write.path import TurnRecords, WritePath

AT_ONCE: Final = 4
"""Turns that are stored in one transaction, because nobody else is answered meanwhile."""
MAX_UNREADABLE: Final = 1_000
"""Turns that cannot be read and are passed over; a later version may be able to."""
MAX_STEPS: Final = 1_000
"""Steps after which whoever asks for memory waits no longer for what was said before."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TurnText:
    """What was said in one turn, and on which occasion. `external`: with text from outside.
    `shown` is what the person showed and somebody else wrote."""

    request: RequestScope
    said: str
    answer: str
    external: bool
    shown: str = ""


_SAID: Final = TypeAdapter(TurnText)
_SAID_ALREADY: Final[IncEx] = {"occasion": {"words"}}


def waiting_turn(turn_id: str, turn: TurnText, access: AccessScope) -> WaitingTurn:
    """The turn as it waits, shortened to what memory takes; `access` is that of its occasion."""
    request = turn.request
    said, answer = storable(turn.said[:MAX_DOCUMENT]), storable(turn.answer[:MAX_DOCUMENT])
    shown = storable(turn.shown[:MAX_DOCUMENT])
    kept = TurnText(request, said, answer, turn.external, shown)
    return WaitingTurn(
        id=turn_id,
        tenant=access.tenant,
        person=access.person,
        room=access.room,
        channel=channel_of(request.place),
        message_ids=request.message_ids,
        at=request.at,
        body=_SAID.dump_json(kept, exclude=_SAID_ALREADY).decode(),
    )


class Consolidation:
    """Takes turns up. Everything raises `StoreUnavailable`."""

    def __init__(
        self, waiting: WaitingTurns, path: WritePath, guard: WorkGuard = UNGUARDED
    ) -> None:
        self._waiting = waiting
        self._path = path
        self._guard = guard
        self._unreadable: set[str] = set()

    async def step(self) -> int:
        """Take up the oldest that wait; how many, 0 when none does."""
        return await self._take_up(await self._waiting.oldest(self._limit))

    async def everything(self) -> None:
        """Take up all that waits, whoever's it is."""
        await self._all(lambda: self._waiting.oldest(self._limit))

    async def of_reach(self, access: AccessScope) -> None:
        """Take up what this person said, and what was said in this room."""
        await self._all(lambda: self._waiting.within(access, self._limit))

    async def of_messages(
        self,
        tenant: str,
        channel: tuple[str, str, str],
        message_ids: Sequence[str],
        *,
        changed: bool = False,
    ) -> None:
        """Take up what goes back to these messages. Where they were `changed`, edited or deleted,
        a quarantined turn that says what they said is deleted."""
        await self._all(lambda: self._waiting.saying(tenant, channel, message_ids, self._limit))
        if changed and self._guard.suspects("waiting_turn"):
            await self._waiting.discard_quarantined(tenant, channel, message_ids)

    async def discard(self, tenant: str, channel: str, message_ids: Sequence[str]) -> None:
        """Delete quarantined turns that say what these messages of a channel
        ("platform:account:channel") say."""
        platform, account, place = (*channel.split(":", 2), "", "")[:3]
        if self._guard.suspects("waiting_turn"):
            await self._waiting.discard_quarantined(tenant, (platform, account, place), message_ids)

    async def _all(self, some: Callable[[], Awaitable[list[WaitingTurn]]]) -> None:
        for _ in range(MAX_STEPS):
            if not await self._take_up(await some()):
                return

    async def _take_up(self, turns: Sequence[WaitingTurn]) -> int:
        """Take up those that no process died of, and after them the others one by one; those that
        too many died of are quarantined. How many were dealt with."""
        quarantined = [turn for turn in turns if self._guard.exhausted(_item(turn))]
        for turn in quarantined:
            owner = Owner(turn.tenant, turn.person, turn.channel)
            await self._guard.quarantine(_item(turn), owner)
        passed = {turn.id for turn in quarantined} | self._unreadable
        left = [turn for turn in turns if turn.id not in passed]
        fresh = [turn for turn in left if not self._guard.deaths(_item(turn))]
        done = len(quarantined)
        for batch in [fresh[:AT_ONCE]] if fresh else [[turn] for turn in left]:
            with self._guard.working(*map(_item, batch)):
                done += await self._store(batch)
        return done

    async def _store(self, turns: Sequence[WaitingTurn]) -> int:
        """Two that take up the same turn at once store it once; one that cannot be read waits
        until somebody can."""
        prepared: list[tuple[ConsolidatedTurn, RequestScope, TurnRecords]] = []
        for turn in turns:
            said = self._read(turn)
            if said is None:
                continue
            request, access = said.request, access_scope_of(said.request)
            records = self._path.turn_records(
                *(request, access, turn.id, said.said, said.answer),
                external=said.external,
                shown=said.shown,
            )
            prepared.append((ConsolidatedTurn(turn, access, records.kept), request, records))
            await asyncio.sleep(0)  # an answer that is due comes first
        stored = await self._waiting.take_up([taken for taken, _, _ in prepared])
        for taken, request, records in prepared:
            if taken.turn.id in stored:
                await self._path.note_turn(request, records)
        return len(stored)

    @property
    def _limit(self) -> int:
        return AT_ONCE + len(self._unreadable) + self._guard.suspects("waiting_turn")

    def _read(self, turn: WaitingTurn) -> TurnText | None:
        if turn.id in self._unreadable:
            return None
        try:
            return _SAID.validate_json(turn.body)
        except ValidationError as error:
            log.error("waiting_turn_unreadable", turn=turn.id, problems=error.error_count())
        if len(self._unreadable) < MAX_UNREADABLE:
            self._unreadable.add(turn.id)
        return None


def _item(turn: WaitingTurn) -> WorkItem:
    return WorkItem("waiting_turn", turn.id)
