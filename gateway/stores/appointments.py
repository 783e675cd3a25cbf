"""Appointments: each occurrence is worked on by one process at a time, and counted once.

A process claims what is due for some time. Once the outbox or the inbox has the occurrence, the
appointment moves on to its next one, in one statement that names the occurrence: a process that
died in between leaves the claim to end, and its successor uses the same name again.
"""

import asyncio
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, json
from pydantic import TypeAdapter

from db import Database, Row, Statement, Work, change, fetch, fetch_first, lock
from db.database import delete_some, deleting_some
from db.statements import BY_KEY, SKIP_LOCKED, within
from db.values import micros, storable, time_of
from gateway.appointments.appointment import OCCURRENCE, Appointment
from gateway.appointments.recurrence import Rule
from gateway.conversation import channel_name
from gateway.immutable import replace
from gateway.message import Place
from gateway.stores.proactive import forgotten

LEASE: Final = timedelta(seconds=60)
"""The time for which a process has the occurrences that it claimed."""
AT_ONCE: Final = 50
"""Occurrences of one claim."""
MAX_LISTED: Final = 500
MAX_ENDED: Final = 50
"""Appointments of one person that are over and are kept, the latest."""
PLACE: Final = TypeAdapter(Place)
COLUMNS: Final = (
    "id, tenant, person, name, kind, place, words, first, zone, due, made_at, rule, follows,"
    " number, state, missed"
)
SCHEMA: Final = (
    f"""CREATE TABLE appointments (
        id text PRIMARY KEY, tenant text NOT NULL, person text NOT NULL, channel text NOT NULL,
        name text NOT NULL, kind text NOT NULL CHECK (kind IN ('reminder', 'prompt')),
        place text NOT NULL, words text NOT NULL, first text NOT NULL, zone text NOT NULL,
        due text NOT NULL, made_at bigint NOT NULL, rule text NOT NULL, follows integer NOT NULL,
        number integer NOT NULL,
        state text NOT NULL CHECK (state IN ('active', 'paused', 'done')),
        missed integer NOT NULL DEFAULT 0, wake_at bigint NOT NULL,
        claimed_until bigint NOT NULL DEFAULT 0
    ) {BY_KEY}""",
    "CREATE INDEX appointments_wake ON appointments (wake_at) WHERE state = 'active'",
    "CREATE INDEX appointments_ended ON appointments (wake_at) WHERE state <> 'active'",
    "CREATE UNIQUE INDEX appointments_person ON appointments (tenant, person, number)",
    "CREATE INDEX appointments_channel ON appointments (channel)",
)
# One that is over counts until its last message was sent.
OF_PERSON: Final = Statement(f"""
    SELECT {COLUMNS} FROM appointments
    WHERE tenant = :tenant AND person = :person AND (state <> 'done' OR EXISTS (
        SELECT 1 FROM proactive_waiting AS w
        WHERE w.tenant = :tenant AND w.person = :person AND w.body <> ''
            AND w.key LIKE appointments.kind || '-' || appointments.id || '-%'))
    ORDER BY wake_at, number LIMIT :limit
""")
FIND: Final = Statement(f"SELECT {COLUMNS} FROM appointments WHERE id = :id")
OWN: Final = Statement("""
    SELECT count(*) FROM appointments
    WHERE tenant = :tenant AND person = :person AND state <> 'done'
""")
NUMBERS: Final = Statement("""
    SELECT coalesce(max(number), 0) FROM appointments WHERE tenant = :tenant AND person = :person
""")
IN_CHANNEL: Final = Statement("""
    SELECT count(*) FROM appointments WHERE channel = :channel AND state <> 'done'
""")
TRIM: Final = Statement("""
    DELETE FROM appointments WHERE id IN (
        SELECT id FROM appointments
        WHERE tenant = :tenant AND person = :person AND state = 'done'
        ORDER BY wake_at DESC, id LIMIT 1000 OFFSET :kept)
""")
ADD: Final = Statement("""
    INSERT INTO appointments (id, tenant, person, channel, name, kind, place, words, first, zone,
        due, made_at, rule, follows, number, state, missed, wake_at)
    VALUES (:id, :tenant, :person, :channel, :name, :kind, :place, :words, :first, :zone, :due,
        :made_at, :rule, :follows, :number, :state, :missed, :wake_at)
""")
CHANGE: Final = Statement("""
    UPDATE appointments SET words = :words, first = :first, zone = :zone, due = :due, rule = :rule,
        follows = :follows, state = 'active', missed = 0, wake_at = :wake_at, claimed_until = 0
    WHERE id = :id
""")
REMOVE: Final = Statement("DELETE FROM appointments WHERE id = :id AND person = :person")
# A claim that ends later than one of now would is of a clock that went back since.
FREE: Final = "(claimed_until <= :now OR claimed_until > :until)"
_DUE: Final = f"""
    SELECT id FROM appointments WHERE state = 'active' AND wake_at <= :now AND {FREE}
    ORDER BY wake_at, id LIMIT :most {SKIP_LOCKED}
"""
CLAIM: Final = Statement(f"""
    UPDATE appointments SET claimed_until = :until WHERE {within("id", _DUE)} RETURNING {COLUMNS}
""")
NEXT: Final = Statement("""
    SELECT min(CASE WHEN claimed_until > wake_at AND claimed_until <= :until THEN claimed_until
        ELSE wake_at END)
    FROM (SELECT wake_at, claimed_until FROM appointments WHERE state = 'active'
        ORDER BY wake_at LIMIT 100) AS soonest
""")
AT_ITS_TIME: Final = "id = :id AND due = :due AND state = 'active'"
ADVANCE: Final = Statement(f"""
    UPDATE appointments SET due = :next, wake_at = :wake_at, missed = :missed, claimed_until = 0
    WHERE {AT_ITS_TIME} AND zone = :zone
""")
END: Final = Statement(f"""
    UPDATE appointments SET state = :state, wake_at = :wake_at, claimed_until = 0
    WHERE {AT_ITS_TIME}
""")
WAIT: Final = Statement(f"""
    UPDATE appointments SET wake_at = :wake_at, claimed_until = 0 WHERE {AT_ITS_TIME}
""")
MOVE: Final = Statement("""
    UPDATE appointments SET zone = :zone, wake_at = :wake_at WHERE id = :id AND due = :due
        AND zone = :old
""")
PRUNE: Final = deleting_some(
    "appointments", "id", "state <> 'active' AND wake_at < :before", "wake_at"
)


class Full(Struct, frozen=True):
    """There is no room for another appointment: of the person, or in the place."""

    most: int
    of_person: bool


class AppointmentStore:
    """The appointments of everybody. Every method that waits raises `StoreUnavailable`.

    `changed` is set whenever the next time may be sooner than it was: for the runner in this
    process; others look from time to time.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.changed = asyncio.Event()

    async def add(
        self, appointment: Appointment, per_person: int, per_place: int
    ) -> Appointment | Full:
        """Store an appointment and return it with its number; a known id is left unchanged."""
        params = _params(appointment)
        whose = {"tenant": params["tenant"], "person": params["person"]}

        def work() -> Work[Appointment | Full]:
            yield from lock(
                *sorted((f"appointments {params['channel']}", f"appointments of {whose['person']}"))
            )
            known = yield from fetch_first(FIND, {"id": params["id"]})
            if known is not None:
                return _appointment(known)
            ((own,),) = yield from fetch(OWN, whose)
            if own >= per_person:
                return Full(per_person, True)
            ((here,),) = yield from fetch(IN_CHANNEL, {"channel": params["channel"]})
            if here >= per_place:
                return Full(per_place, False)
            ((number,),) = yield from fetch(NUMBERS, whose)
            yield from change(TRIM, {**whose, "kept": MAX_ENDED})
            yield from change(ADD, {**params, "number": number + 1})
            return replace(appointment, number=number + 1)

        added = await self._database.run(work)
        self.changed.set()
        return added

    async def of_person(self, tenant: str, person: str) -> list[Appointment]:
        """Return the appointments of a person that are not over, the next one first. One whose last
        message waits to be sent is not over."""
        whose = {"tenant": storable(tenant), "person": storable(person), "limit": MAX_LISTED}
        return [_appointment(row) for row in await self._database.fetch(OF_PERSON, whose)]

    async def find(self, id_: str) -> Appointment | None:
        """Return an appointment, also one that is over."""
        rows = await self._database.fetch(FIND, {"id": storable(id_)})
        return _appointment(rows[0]) if rows else None

    async def change(self, appointment: Appointment) -> bool:
        """Store other words and another time, from which on it is active; False if it is gone. What
        waits to be sent as it was is not sent; it happens again if its time stays."""
        params = _params(appointment)

        def work() -> Work[bool]:
            row = yield from fetch_first(FIND, params)
            if row is None or not (yield from change(CHANGE, params)):
                return False
            # After the appointments, as in an erasure: otherwise both could deadlock in PostgreSQL.
            unsent = yield from forgotten(*_waiting(appointment))
            if unsent and _times(_appointment(row)) == _times(appointment):
                due = datetime.strptime(unsent[-1].rpartition("-")[2], OCCURRENCE)  # noqa: DTZ007 - local times have no zone here
                yield from change(CHANGE, _params(replace(appointment, due=due)))
            return True

        changed = await self._database.run(work)
        self.changed.set()
        return changed

    async def remove(self, appointment: Appointment) -> bool:
        """Delete an appointment, and what waits to be sent of it; False if it is gone."""
        params = {"id": appointment.id, "person": storable(appointment.person)}

        def work() -> Work[bool]:
            removed = yield from change(REMOVE, params)
            yield from forgotten(*_waiting(appointment))
            return removed > 0

        return await self._database.run(work)

    async def claim(self, now: datetime) -> list[Appointment]:
        """Claim some of those that are due, for `LEASE`."""
        params = {"now": micros(now), "until": micros(now + LEASE), "most": AT_ONCE}
        rows = await self._database.fetch(CLAIM, params)
        return sorted(map(_appointment, rows), key=lambda one: (one.due_at, one.id))

    async def next_at(self, now: datetime) -> datetime | None:
        """Return the time at which there may be something to claim; None for never."""
        rows = await self._database.fetch(NEXT, {"until": micros(now + LEASE)})
        return None if rows[0][0] is None else time_of(rows[0][0])

    async def advance(
        self, appointment: Appointment, due: datetime | None, now: datetime, missed: int = 0
    ) -> bool:
        """Move on from the occurrence that was claimed to `due`, a local time; None: it was the
        last one. `missed` are times of which the person does not know yet. False if it was changed
        meanwhile: it is claimed again."""
        if due is None:
            return await self.end(appointment, "done", now)
        following = replace(appointment, due=due)
        params = {
            **_claimed(appointment),
            "zone": storable(appointment.zone),
            "next": due.isoformat(timespec="seconds"),
            "wake_at": micros(following.due_at),
            "missed": missed,
        }
        return await self._database.change(ADVANCE, params) > 0

    async def end(self, appointment: Appointment, state: str, now: datetime) -> bool:
        """End (`done`) or pause an appointment; False if it was changed meanwhile."""
        params = {**_claimed(appointment), "state": state, "wake_at": micros(now)}
        return await self._database.change(END, params) > 0

    async def wait(self, appointment: Appointment, until: datetime) -> bool:
        """Look at the occurrence that was claimed again at that time."""
        params = {**_claimed(appointment), "wake_at": micros(until)}
        return await self._database.change(WAIT, params) > 0

    async def move(self, appointment: Appointment, zone: str) -> bool:
        """Move an appointment to another time zone: its local times stay."""
        moved = replace(appointment, zone=zone)
        params = {
            **_claimed(appointment),
            "zone": storable(zone),
            "old": storable(appointment.zone),
            "wake_at": micros(moved.due_at),
        }
        changed = await self._database.change(MOVE, params)
        self.changed.set()
        return changed > 0

    async def prune(self, before: datetime) -> int:
        """Delete some that ended or were paused before that; returns how many, 0 at the end."""
        return await delete_some(self._database, PRUNE, {"before": micros(before)})


def _waiting(one: Appointment) -> tuple[str, str, str]:
    """Return whose messages wait to be sent, and the beginning of their keys."""
    return one.tenant, one.person, one.key_of("")


def _times(one: Appointment) -> tuple[object, ...]:
    return one.first, one.due, one.rule, one.zone


def _claimed(appointment: Appointment) -> dict[str, object]:
    return {"id": appointment.id, "due": appointment.due.isoformat(timespec="seconds")}


def _params(one: Appointment) -> dict[str, object]:
    place = one.place
    channel = channel_name(one.tenant, place.platform, place.account, place.channel_id)
    return {
        **_claimed(one),
        "tenant": storable(one.tenant),
        "person": storable(one.person),
        "channel": storable(channel),
        "name": storable(one.name),
        "kind": one.kind,
        "place": storable(PLACE.dump_json(place).decode()),
        "words": storable(one.words),
        "first": one.first.isoformat(timespec="seconds"),
        "zone": storable(one.zone),
        "made_at": micros(one.made_at),
        "rule": "" if one.rule is None else json.encode(one.rule).decode(),
        "follows": int(one.follows),
        "number": one.number,
        "state": one.state,
        "missed": one.missed,
        "wake_at": micros(one.due_at),
    }


def _appointment(row: Row) -> Appointment:
    id_, tenant, person, name, kind, place, words, first, zone, due, made_at = row[:11]
    rule, follows, number, state, missed = row[11:]
    return Appointment(
        id=id_,
        tenant=tenant,
        person=person,
        name=name,
        kind=kind,
        place=PLACE.validate_json(place),
        words=words,
        first=datetime.fromisoformat(first),
        zone=zone,
        due=datetime.fromisoformat(due),
        made_at=time_of(made_at),
        rule=json.decode(rule, type=Rule) if rule else None,
        follows=bool(follows),
        number=number,
        state=state,
        missed=missed,
    )
