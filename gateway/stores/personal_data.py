"""A person's conversations, spending, traces, admission, queued events and sends, and values that
adapters store: export and erasure.

Usage rows only lose the name: the amounts stay. The person's sums of the current day and month stay
too, because erasure would otherwise renew a budget. The admission is erased, because it names the
person: they have to be approved again. That they read the private text of somebody else as an
operator, or took a conversation over, is a record of that other person, and stays as it was made.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Final

from msgspec import Struct

from db import Database, Row, Statement, Work, among, lock, together
from db.statements import begins, contains, json_item, json_values, listed
from db.transaction import Change, Fetch
from db.values import micros, time_of
from gateway.message import InboundEvent, Outbound
from gateway.observe.correlation import correlation_id
from gateway.people import Audience, PersonId
from gateway.ports import Clock
from gateway.ports.adapter import AdapterStates, StateEntry
from gateway.ports.queues import Inbox, Outbox
from gateway.ports.unit_of_work import ERASED_TURNS
from gateway.stores import usage_days
from gateway.stores.codec import event_to_json, files_from_json, outbound_to_json
from gateway.stores.conversations import NO_SUMMARY, NO_TASK

MAX_ROWS: Final = 100_000
"""Rows of one table that are exported."""
PERSON: Final = among("person", "persons")
OWN_TENANT: Final = f"{json_item('conversation', 0)} = :tenant"
# An answer belongs to the person whose message it answers.
TURNS: Final = f"""
    {OWN_TENANT} AND ({PERSON} OR (
        role = 'assistant' AND (channel, answers) IN (
            SELECT channel, answers FROM turns
            WHERE role = 'user' AND {PERSON} AND {OWN_TENANT})))
"""
USAGE: Final = f"tenant = :tenant AND {PERSON}"
READ: Final = f"tenant = :tenant AND {among('reader', 'persons')}"
ARCHIVED: Final = f"tenant = :tenant AND {among('owner', 'persons')}"
OPERATED: Final = among("operator", "persons")
TAKEN_OVER: Final = f"tenant = :tenant AND ({PERSON} OR {OPERATED})"
ACCOUNT: Final = "platform || ':' || account || ':'"
# Ids of commands and presses contain several ids, including the person's (Slack).
ID_INSIDE: Final = contains(
    "':' || message_id || ':'", "substr(p.value, length(platform) + length(account) + 2) || ':'"
)
NAMED: Final = f"""
    ({contains("message_id", "':'")} AND EXISTS (
        SELECT 1 FROM {listed("persons", "p")}
        WHERE {begins("p.value", f"({ACCOUNT})")} AND {ID_INSIDE}))
"""
AUTHOR: Final = f"({ACCOUNT} || {json_item('conversation', 4)})"
TRACES: Final = f"""
    {OWN_TENANT} AND (
        id IN (SELECT turn FROM usage WHERE {USAGE})
        OR (conversation, message_id) IN (SELECT conversation, message_id FROM turns WHERE {PERSON})
        OR {among(AUTHOR, "persons")}
        OR {NAMED})
"""
KEY_BEGINS: Final = begins("spent.key", "('user:' || :tenant || ':' || p.value || ':')")
SPENT: Final = f"EXISTS (SELECT 1 FROM {listed('persons', 'p')} WHERE {KEY_BEGINS})"
PAST: Final = f"""
    {SPENT} AND substr(spent.key, length(spent.key) - 9) <> :day
        AND substr(spent.key, length(spent.key) - 7) <> :month
"""
OWN_TASK: Final = f"(task <> '' AND {among('task_person', 'persons')})"
SPOKE: Final = f"""
    EXISTS (SELECT 1 FROM {json_values("persons", "said")} WHERE {among("said.value", "persons")})
"""
# '*' stands for material, '*repository' for that of a repository.
ALONE: Final = f"""
    NOT EXISTS (SELECT 1 FROM {json_values("persons", "said")}
        WHERE said.value NOT IN ('*', '*repository') AND NOT {among("said.value", "persons")})
"""

PROGRAM: Final = "parley"
"""The platform name under which the program stores values of its own."""
RUNS_FOR: Final = timedelta(days=1)
"""The time for which a turn may still run: as long as it waits for a store."""
REASON: Final = "erased"


@lru_cache
def _statement(source: str) -> Statement:
    return Statement(source)


class _Table(Struct, frozen=True):
    """A table with a person's rows and its exported columns."""

    name: str
    columns: tuple[str, ...]
    source: str

    @property
    def select(self) -> Statement:
        """The rows of a person."""
        return _statement(self.source)

    @property
    def count(self) -> Statement:
        """The number of these rows."""
        return _statement(f"SELECT count(*) FROM ({self.source}) AS counted")

    def rows(self, rows: Sequence[Row]) -> list[dict[str, object]]:
        """Return the rows by column name."""
        return [
            {"table": self.name}
            | {name: _plain(name, value) for name, value in zip(self.columns, row, strict=True)}
            for row in rows
        ]


def _table(name: str, columns: str, where: str) -> _Table:
    names = tuple(column.strip() for column in columns.split(","))
    sql = f"SELECT {', '.join(names)} FROM {name} WHERE {where} LIMIT {MAX_ROWS}"
    return _Table(name, names, sql)


# A summary with other people's words is not exported, but erased.
NOTES: Final = _Table(
    "conversation_notes",
    ("conversation", "at", "task", "summary"),
    f"""
        SELECT conversation, at, CASE WHEN {OWN_TASK} THEN task ELSE '' END AS task,
            CASE WHEN {SPOKE} AND {ALONE} THEN summary ELSE '' END AS summary
        FROM conversation_notes
        WHERE {OWN_TENANT} AND ({OWN_TASK} OR (summary <> '' AND {SPOKE} AND {ALONE}))
    """,
)
WORKING: Final = (
    _table(
        "turns",
        "id, conversation, channel, message_id, answers, role, text, at, person, speaker, material,"
        " audience, files, sent",
        TURNS,
    ),
    NOTES,
)
ALL: Final = (
    *WORKING,
    _table(
        "usage",
        "id, turn, tenant, person, workspace, model, input_tokens, output_tokens,"
        " cache_read_tokens, cache_write_tokens, micros, at, position",
        USAGE,
    ),
    _table(
        "traces",
        "id, message_id, platform, account, conversation, kind, at, decisions, outcome,"
        " milliseconds, slot, durations, audience",
        TRACES,
    ),
    _table("usage_days", ", ".join((*usage_days.KEY, *usage_days.SUMS)), USAGE),
    _table("archived_conversations", "tenant, owner, conversation, at", ARCHIVED),
    _table(
        "takeovers",
        "id, tenant, conversation, operator, name, person, since, active, shared, ended",
        TAKEN_OVER,
    ),
    _table("text_grants", "id, tenant, operator, person, since, until, reason", TAKEN_OVER),
    _table("spent", "key, micros, since", SPENT),
    _table("people_names", "tenant, person, name, at", USAGE),
    _table("feedback", "message_key, person, tenant, turn, rating, at", USAGE),
    _table("admissions", "tenant, person, role, name, place, by_person, at", USAGE),
    _table("pairing_requests", "tenant, person, name, place, state, made_at, until", USAGE),
    _table("approvers", "tenant, person, place, at", USAGE),
    _table("first_contacts", "tenant, person, room, at", USAGE),
    _table(
        "appointments",
        "id, tenant, person, name, kind, place, words, first, zone, due, made_at, rule, number,"
        " state",
        USAGE,
    ),
    _table(
        "people_languages", "tenant, person, chosen, told, zone, zone_told, voice, quiet, at", USAGE
    ),
    _table("proactive_sent", "tenant, reader, day, key, at", READ),
    _table("proactive_waiting", "tenant, key, person, due, reason, body, at", USAGE),
    _table(
        "console_sessions",
        "id, tenant, person, label, zone, theme, made_at, seen_at, until",
        USAGE,
    ),
    _table("console_links", "tenant, person, made_at, until", USAGE),
    _table("config_versions", "number, at, changed", among("author", "persons")),
)
CLEAR: Final = tuple(
    map(
        Statement,
        (
            # Notes before turns, as everywhere: otherwise two concurrent changes could deadlock in
            # PostgreSQL.
            f"UPDATE conversation_notes SET {NO_TASK} WHERE {OWN_TENANT} AND {OWN_TASK}",
            f"UPDATE conversation_notes SET {NO_SUMMARY} WHERE {OWN_TENANT} AND {SPOKE}",
            # The rows are selected first: the deletion must not change the condition.
            f"DELETE FROM turns WHERE id IN (SELECT id FROM turns WHERE {TURNS})",
        ),
    )
)
ERASE: Final = (
    # Before the traces, by which a conversation of the person is recognised.
    Statement(f"""
        DELETE FROM archived_conversations WHERE ({ARCHIVED}) OR conversation IN (
            SELECT conversation FROM traces WHERE audience IN ('', 'direct') AND ({TRACES}))
    """),
    Statement(f"""
        DELETE FROM takeovers WHERE tenant = :tenant AND ({PERSON} OR (person = '' AND {OPERATED}))
    """),
    Statement(f"DELETE FROM text_grants WHERE {USAGE}"),
    # What they did as operators ends; the record of it belongs to the other person.
    Statement(f"""
        UPDATE takeovers SET ended = :now WHERE tenant = :tenant AND {OPERATED} AND ended IS NULL
    """),
    Statement(f"""
        UPDATE text_grants SET until = :now WHERE tenant = :tenant AND {OPERATED} AND until > :now
    """),
    Statement(f"DELETE FROM traces WHERE {TRACES}"),
    *CLEAR,
    Statement(f"DELETE FROM people_names WHERE {USAGE}"),
    Statement(f"DELETE FROM feedback WHERE {USAGE}"),
    Statement(f"DELETE FROM admissions WHERE {USAGE}"),
    Statement(f"DELETE FROM pairing_requests WHERE {USAGE}"),
    Statement(f"DELETE FROM approvers WHERE {USAGE}"),
    Statement(f"DELETE FROM first_contacts WHERE {USAGE}"),
    Statement(f"DELETE FROM people_languages WHERE {USAGE}"),
    Statement(f"DELETE FROM appointments WHERE {USAGE}"),
    Statement(f"DELETE FROM proactive_sent WHERE {READ}"),
    Statement(f"DELETE FROM proactive_waiting WHERE {USAGE}"),
    Statement(f"DELETE FROM owner_codes WHERE {USAGE}"),
    Statement(f"DELETE FROM console_sessions WHERE {USAGE}"),
    Statement(f"DELETE FROM console_links WHERE {USAGE}"),
    # The values stay: they are the configuration, which a file could hold as well.
    Statement(f"UPDATE config_versions SET author = '' WHERE {among('author', 'persons')}"),
    Statement(f"DELETE FROM spent WHERE {PAST}"),
    Statement(f"UPDATE usage SET person = '' WHERE {USAGE}"),
    *usage_days.NAMELESS,
)


class SqlPersonalData:
    """Turns, notes, usage, traces, feedback, admissions, appointments and sessions. Implements
    `memory.ports.people.WorkingMemory`."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return everything of these identities, row by row."""
        return await self._read(ALL, tenant, persons)

    async def working(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return turns and notes only."""
        return await self._read(WORKING, tenant, persons)

    async def erase(self, tenant: str, persons: Sequence[str], turn_id: str = "") -> int:
        """Delete turns, notes, traces, feedback and the admission, and remove the name from the
        usage; returns the number of rows."""
        return await self._change(ERASE, tenant, persons, usage_days.LOCK)

    async def clear(self, tenant: str, persons: Sequence[str]) -> int:
        """Delete turns and notes only; returns the number of rows."""
        return await self._change(CLEAR, tenant, persons)

    async def _read(
        self, tables: Sequence[_Table], tenant: str, persons: Sequence[str]
    ) -> list[dict[str, object]]:
        params = self._params(tenant, persons)

        def work() -> Work[list[list[Row]]]:
            return (yield from together(*(Fetch(one.select, params) for one in tables), last=True))

        results = await self._database.run(work)
        return [
            row for table, rows in zip(tables, results, strict=True) for row in table.rows(rows)
        ]

    async def count(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, int]]:
        """Return the numbers of rows of `export`, by table."""
        params = self._params(tenant, persons)

        def work() -> Work[list[list[Row]]]:
            return (yield from together(*(Fetch(one.count, params) for one in ALL), last=True))

        results = await self._database.run(work)
        counted = zip(ALL, results, strict=True)
        return [(table.name, int(count)) for table, ((count,),) in counted if count]

    async def _change(
        self, statements: Sequence[Statement], tenant: str, persons: Sequence[str], *locks: str
    ) -> int:
        params = self._params(tenant, persons)

        def work() -> Work[int]:
            if locks:
                yield from lock(*locks)
            return sum((yield from together(*(Change(one, params) for one in statements))))

        return await self._database.run(work)

    def _params(self, tenant: str, persons: Sequence[str]) -> Mapping[str, object]:
        now = self._clock.now()
        return {
            "tenant": tenant,
            "persons": [person for person in persons if person],
            "now": micros(now),
            "day": now.strftime("%Y-%m-%d"),
            "month": now.strftime(":%Y-%m"),
        }


def _plain(name: str, value: object) -> object:
    """Convert a value for export: times to seconds, JSON to values, files to name and type."""
    if name in (
        "at",
        "since",
        "active",
        "made_at",
        "seen_at",
        "until",
        "ended",
        "day",
        "due",
    ) and isinstance(value, int):
        return time_of(value).timestamp()
    if name in ("decisions", "durations") and isinstance(value, str):
        return json.loads(value)
    if name == "files" and isinstance(value, str):
        return [{"name": one.name, "type": one.mime or one.kind} for one in files_from_json(value)]
    return value


class HotPersonalData:
    """Implements `memory.ports.people.PersonalDataStore` over the hot stores. Identities
    of a platform are the same in every tenant."""

    def __init__(self, inbox: Inbox, outbox: Outbox, states: AdapterStates) -> None:
        self._inbox = inbox
        self._outbox = outbox
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

    async def count(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, int]]:
        values = await self._values(persons)
        counts = {
            "inbox": len(await self._events(persons)),
            "outbox": len(await self._sends(persons)),
            "adapter_state": len(values),
        }
        return [(name, count) for name, count in counts.items() if count]

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
            await self._outbox.drop(sends)
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
        dead = [letter.entry.outbound for letter in await self._outbox.dead_letters(MAX_ROWS)]
        return [send for send in (*waiting, *dead) if _is_for(send, persons)]

    async def _values(self, persons: Sequence[str]) -> list[StateEntry]:
        return [entry async for entry in self._states.entries() if _concerns(entry, persons)]


def _is_by(event: InboundEvent, persons: Collection[str]) -> bool:
    """Return True if one of these people (`str(PersonId)`) caused the event."""
    author, place = event.author, event.place
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
