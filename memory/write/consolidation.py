"""Stores waiting turns as episodic memory, some time after the answer.

The gateway stores each turn in the transaction of its answer. It goes through the write path later,
so nobody waits for it and a crash loses none. Searches, deletions, exports and edits wait for that
person's waiting turns.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog
from msgspec import Struct
from msgspec.json import Encoder
from pydantic import TypeAdapter, ValidationError

from db.values import storable
from gateway.message import Place
from gateway.people import Principal
from gateway.ports.memory import WaitingTurn
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem, WorkOwner
from memory.model.record import MAX_DOCUMENT
from memory.model.scope import AccessScope, RequestScope, access_scope_of, channel_of
from memory.stores.waiting_turns import ConsolidatedTurn, WaitingTurns
from memory.write.turns import TurnRecords
from memory.write.write_path import WritePath

AT_ONCE: Final = 4
"""Turns of one transaction, which blocks other answers."""
MAX_UNREADABLE: Final = 1_000
"""Unreadable turns that are skipped; a later version may be able to read them."""
MAX_STEPS: Final = 1_000
"""The steps after which a request stops waiting for earlier turns."""

log = structlog.get_logger(__name__)


class TurnText(Struct, frozen=True):
    """The text of one turn with its request. `external`: the turn contained external text. `shown`
    is what the person showed and others wrote."""

    request: RequestScope
    message: str
    answer: str
    external: bool
    shown: str = ""


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """The stored part of a `RequestScope`. It has no `words`, because these contain the secrets
    that were removed from `StoredWaitingTurn.message`."""

    principal: Principal
    persons: tuple[str, ...]
    place: Place
    at: datetime
    project: str
    conversation: str
    session: str
    message_ids: tuple[str, ...]
    shows_private: bool

    def scope(self) -> RequestScope:
        """Return the request without words."""
        return RequestScope(
            principal=self.principal,
            persons=self.persons,
            place=self.place,
            at=self.at,
            project=self.project,
            conversation=self.conversation,
            session=self.session,
            message_ids=self.message_ids,
            shows_private=self.shows_private,
        )


@dataclass(frozen=True, slots=True)
class StoredWaitingTurn:
    """A waiting turn as it is stored (`WaitingTurn.body`)."""

    request: StoredRequest
    message: str
    answer: str
    external: bool
    shown: str


_STORED: Final = TypeAdapter(StoredWaitingTurn)
_ENCODER: Final = Encoder()


def waiting_turn(turn_id: str, turn: TurnText, access: AccessScope) -> WaitingTurn:
    """Return the waiting turn, cut to the length of memories; `access` belongs to its request."""
    request = turn.request
    stored = StoredWaitingTurn(
        StoredRequest(
            request.principal,
            request.persons,
            request.place,
            request.at,
            request.project,
            request.conversation,
            request.session,
            request.message_ids,
            request.shows_private,
        ),
        storable(turn.message[:MAX_DOCUMENT]),
        storable(turn.answer[:MAX_DOCUMENT]),
        turn.external,
        storable(turn.shown[:MAX_DOCUMENT]),
    )
    return WaitingTurn(
        id=turn_id,
        tenant=access.tenant,
        person=access.person,
        room=access.room,
        channel=channel_of(request.place),
        message_ids=request.message_ids,
        at=request.at,
        body=_ENCODER.encode(stored).decode(),
    )


class Consolidation:
    """Stores waiting turns. Every method raises `StoreUnavailable`."""

    def __init__(
        self, waiting: WaitingTurns, path: WritePath, guard: WorkGuard = UNGUARDED
    ) -> None:
        self._waiting = waiting
        self._turns = path.turns
        self._guard = guard
        self._unreadable: set[str] = set()

    async def step(self) -> int:
        """Store the oldest waiting turns; return their number."""
        return await self._take_up(await self._waiting.oldest(self._limit))

    async def everything(self) -> None:
        """Store all waiting turns."""
        await self._all(lambda: self._waiting.oldest(self._limit))

    async def of_reach(self, access: AccessScope) -> None:
        """Store the waiting turns of this person and of this room."""
        await self._all(lambda: self._waiting.within(access, self._limit))

    async def of_messages(
        self,
        tenant: str,
        channel: tuple[str, str, str],
        message_ids: Sequence[str],
        *,
        changed: bool = False,
    ) -> None:
        """Store the waiting turns of these messages. If they were `changed` (edited or deleted),
        delete their quarantined turns."""
        await self._all(lambda: self._waiting.saying(tenant, channel, message_ids, self._limit))
        if changed and self._guard.suspects("waiting_turn"):
            await self._waiting.discard_quarantined(tenant, channel, message_ids)

    async def discard(self, tenant: str, channel: str, message_ids: Sequence[str]) -> None:
        """Delete quarantined turns of these messages in a channel ("platform:account:channel")."""
        platform, account, place = (*channel.split(":", 2), "", "")[:3]
        if self._guard.suspects("waiting_turn"):
            await self._waiting.discard_quarantined(tenant, (platform, account, place), message_ids)

    async def _all(self, some: Callable[[], Awaitable[list[WaitingTurn]]]) -> None:
        for _ in range(MAX_STEPS):
            if not await self._take_up(await some()):
                return

    async def _take_up(self, turns: Sequence[WaitingTurn]) -> int:
        """Store turns that no crash involved, and after them the others one by one; quarantine
        those involved in too many crashes. Return the number of finished turns."""
        quarantined = [turn for turn in turns if self._guard.exhausted(_item(turn))]
        for turn in quarantined:
            owner = WorkOwner(turn.tenant, turn.person, turn.channel)
            await self._guard.quarantine(_item(turn), owner)
        passed = {turn.id for turn in quarantined} | self._unreadable
        left = [turn for turn in turns if turn.id not in passed]
        fresh = [turn for turn in left if not self._guard.crash_weight(_item(turn))]
        done = len(quarantined)
        for batch in [fresh[:AT_ONCE]] if fresh else [[turn] for turn in left]:
            with self._guard.working(*map(_item, batch)):
                done += await self._store(batch)
        return done

    async def _store(self, turns: Sequence[WaitingTurn]) -> int:
        """Store turns; concurrent calls store a turn once, and an unreadable turn keeps waiting."""
        prepared: list[tuple[ConsolidatedTurn, RequestScope, TurnRecords]] = []
        for turn in turns:
            stored = self._read(turn)
            if stored is None:
                continue
            request = stored.request.scope()
            access = access_scope_of(request)
            records = self._turns.turn_records(
                *(request, access, turn.id, stored.message, stored.answer),
                external=stored.external,
                shown=stored.shown,
            )
            prepared.append((ConsolidatedTurn(turn, access, records.kept), request, records))
            await asyncio.sleep(0)  # an answer that is due comes first
        finished = await self._waiting.take_up([taken for taken, _, _ in prepared])
        notes = (
            self._turns.note_turn(request, records)
            for taken, request, records in prepared
            if taken.turn.id in finished
        )
        await asyncio.gather(*notes)  # concurrent work shares one transaction
        return len(finished)

    @property
    def _limit(self) -> int:
        return AT_ONCE + len(self._unreadable) + self._guard.suspects("waiting_turn")

    def _read(self, turn: WaitingTurn) -> StoredWaitingTurn | None:
        if turn.id in self._unreadable:
            return None
        try:
            return _STORED.validate_json(turn.body)
        except ValidationError as error:
            log.error("waiting_turn_unreadable", turn=turn.id, problems=error.error_count())
        if len(self._unreadable) < MAX_UNREADABLE:
            self._unreadable.add(turn.id)
        return None


def _item(turn: WaitingTurn) -> WorkItem:
    return WorkItem("waiting_turn", turn.id)
