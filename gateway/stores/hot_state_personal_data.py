"""A person's hot data: queued events and sends, and values that adapters store."""

import json
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final

from gateway.message import InboundEvent, Outbound, author_of, place_of
from gateway.observe.correlation import correlation_id
from gateway.people import Audience, PersonId
from gateway.ports.adapter import AdapterStates, StateEntry
from gateway.ports.inbox import Inbox
from gateway.ports.outbox import DeadLetters, Outbox
from gateway.ports.unit_of_work import ERASED_TURNS
from gateway.stores.codec import event_to_json, outbound_to_json

PROGRAM: Final = "parley"
"""The platform name under which the program stores values of its own."""
RUNS_FOR: Final = timedelta(days=1)
"""The time for which a turn may still run: as long as it waits for a store."""
MAX_ROWS: Final = 100_000
"""Events, and sends, that are searched."""
REASON: Final = "erased"


class HotPersonalData:
    """Implements `memory.ports.personal_data.PersonalDataStore` over the hot stores. Identities of
    a platform are
    the same in every tenant."""

    def __init__(
        self, inbox: Inbox, outbox: Outbox, dead: DeadLetters, states: AdapterStates
    ) -> None:
        self._inbox = inbox
        self._outbox = outbox
        self._dead = dead
        self._states = states

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = [
            {"table": "inbox", "id": id_, "event": json.loads(event_to_json(event))}
            for id_, event in await self._events(persons)
        ]
        rows += [
            {"table": "outbox", "key": send.key, "outbound": json.loads(outbound_to_json(send))}
            for send in await self._sends(persons)
        ]
        values = await self._values(persons)
        return rows + [{"table": "adapter_state", **value._asdict()} for value in values]

    async def erase(self, tenant: str, persons: Sequence[str], turn_id: str = "") -> int:
        """Delete everything but what the answer to `turn_id` needs: its event, and the permission
        to send (WhatsApp's window, which expires within 24 hours). An event keeps its id, so that
        it is not accepted again; the turn that answers it just now learns that it was erased."""
        events = [id_ for id_, _ in await self._events(persons) if correlation_id(id_) != turn_id]
        if events:
            erased = self._states.of(*ERASED_TURNS)
            for id_ in events:
                await erased.put(correlation_id(id_), "1", RUNS_FOR)
            await self._inbox.finish(events, ())
        sends = [send.key for send in await self._sends(persons)]
        if sends:
            await self._outbox.dead(sends, REASON)
            await self._dead.drop(sends)
        values = [
            value
            for value in await self._values(persons)
            if not (turn_id and value.key.startswith("window:"))
        ]
        await self._states.delete(values)
        return len(events) + len(sends) + len(values)

    async def _events(self, persons: Sequence[str]) -> list[tuple[str, InboundEvent]]:
        entries = await self._inbox.unfinished(MAX_ROWS)
        return [(entry.id, entry.event) for entry in entries if _is_by(entry.event, persons)]

    async def _sends(self, persons: Sequence[str]) -> list[Outbound]:
        waiting = [entry.outbound for entry in await self._outbox.waiting(MAX_ROWS)]
        dead = [letter.entry.outbound for letter in await self._dead.dead_letters(MAX_ROWS)]
        return [send for send in (*waiting, *dead) if _is_for(send, persons)]

    async def _values(self, persons: Sequence[str]) -> list[StateEntry]:
        return [entry async for entry in self._states.entries() if _concerns(entry, persons)]


def _is_by(event: InboundEvent, persons: Collection[str]) -> bool:
    """Return True if one of these people (`str(PersonId)`) caused the event."""
    author, place = author_of(event), place_of(event)
    if author is None:
        return False
    ids = (author.id, *author.aliases)
    return any(str(PersonId(place.platform, place.account, one)) in persons for one in ids)


def _is_for(outbound: Outbound, persons: Collection[str]) -> bool:
    """Return True if a send answers one of these people, or only they read it."""
    place = outbound.place
    readers = [outbound.private_to]
    if place.audience is Audience.DIRECT:
        readers.append(place.channel_id)
    named = {str(PersonId(place.platform, place.account, one)) for one in readers if one}
    return outbound.person in persons or not named.isdisjoint(persons)


def _concerns(entry: StateEntry, persons: Collection[str]) -> bool:
    """Return True if a value is about one of these people: WhatsApp's window, their known
    identities, and recent questions or lists of the program."""
    if entry.platform == PROGRAM:
        reader = _reader_of(entry.value)
        return bool(reader) and reader in persons
    _, _, subject = entry.key.partition(":")
    # WhatsApp puts one sign in front of the id of a number whose owner is uncertain.
    ids = (one for one in (subject, entry.value, entry.value[1:]) if one)
    return any(str(PersonId(entry.platform, entry.account, one)) in persons for one in ids)


def _reader_of(value: str) -> str:
    """Return the `str(PersonId)` of a question or list, from JSON or from its first line; empty for
    any other value."""
    if not value.startswith("{"):
        return value.partition("\n")[0]
    try:
        stored = json.loads(value)
    except ValueError:
        return ""
    return str(stored.get("person") or "") if isinstance(stored, dict) else ""
