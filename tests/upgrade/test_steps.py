"""Steps that carry rows over, from a database as it was just before the step."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path

import pytest

from db import Database, Statement
from db.migrations import Schema
from db.postgres import PostgresDatabase
from db.sqlite import SqliteDatabase
from db.values import micros
from gateway.inbound.crash_loop_guard import CRASHES as STORED
from gateway.inbound.crash_loop_guard import CrashCounts
from gateway.ports.clock import SystemClock
from gateway.ports.work_guard import WorkItem
from gateway.stores.break_glass import LATER as GRANTS
from gateway.stores.break_glass import TextGrantStore
from gateway.stores.schema import CRASHES
from gateway.stores.schema import SCHEMA as GATEWAY
from gateway.stores.sqlite.hot_state import SqliteAdapterStates
from gateway.stores.takeovers import TakeoverStore
from memory.agents.schema import INVITATIONS
from memory.agents.stores.invitations import SqlInvitations
from memory.schema import REPOSITORY_TEXT
from memory.schema import SCHEMA as MEMORY
from memory.stores.api_tokens import OF_AGENTS, TokenStore
from memory.stores.reviews import ReviewStore, record_to_json
from tests.memory.stores.records import ADA as RECORDED
from tests.memory.stores.records import BOB, access, record
from tests.support.databases import new_database, started
from tests.support.servers import PostgresServer

Open = Callable[[tuple[Schema, ...]], AbstractAsyncContextManager[Database]]
ADA, BEN, EVE, MAL = (f"telegram:main:{name}" for name in ("ada", "ben", "eve", "mal"))
POOL = Statement("""
    INSERT INTO pools (id, tenant, person, name, scope, project, created_at)
    VALUES (:id, 'default', :person, 'pool', 3, '', 0)
""")
AGENT = Statement("""
    INSERT INTO agents (id, tenant, person, type, capabilities, registered_at, name)
    VALUES (:id, 'default', :person, 'human', '[]', 0, '')
""")
MEMBER = Statement("""
    INSERT INTO pool_members (pool, agent, tenant, person, permission, granted, joined_at)
    VALUES (:pool, :agent, 'default', :person, 'write', :granted, 0)
""")
SHARE = Statement("""
    INSERT INTO pool_memories (pool, memory, number, tenant, person, agent, member, writer, scope,
        project, audiences, shared_at, version)
    SELECT pool, 'mem-1', 0, 'default', person, agent, seq, seq, 3, '', 'x', 0, 1
    FROM pool_members WHERE agent = :agent
""")
LINK = Statement("""
    INSERT INTO people_links (tenant, person, link_group) VALUES ('default', :person, 'g')
""")
MEMBERS = Statement("SELECT agent FROM pool_members ORDER BY agent")
REVIEW = Statement("""
    INSERT INTO memory_reviews (id, tenant, person, scope, project, room, target, state, record,
        reason, passed, failed, submitted_at, note)
    VALUES ('r1', 't', :person, 'user', '', '', '', 'pending', :record,
        'It says how things may be.', '["bounds"]', '["grounding"]', :at, '')
""")
TAKEOVER = Statement("""
    INSERT INTO takeovers (id, tenant, conversation, operator, name, person, since, active, shared)
    VALUES ('t1', 'default', 'c', 'test:main:olga', 'Olga', :person, 1, 2, 1)
""")
GIVEN_UP = Statement("""
    INSERT INTO traces (id, message_id, platform, account, conversation, kind, at, decisions,
        outcome, milliseconds)
    VALUES ('t', 'm', 'telegram', 'main', 'c', 'message', 1, :decisions, 'gave_up', 1)
""")
DECISIONS = Statement("SELECT decisions FROM traces")
COUNT = Statement("""
    INSERT INTO adapter_state VALUES ('parley', 'takeovers', 'm', '3', 9000000000)
""")
GRANT = Statement("""
    INSERT INTO text_grants (tenant, operator, subject, id, person, since, until)
    VALUES ('default', 'test:main:olga', 'c', 'g1', :person, 1, :until)
""")


TOKEN = Statement("""
    INSERT INTO person_tokens (id, name, tenant, person, issued_at, until, scopes)
    VALUES ('t1', 'laptop', 'default', :person, 1, 9000000000000000, 'read')
""")


@pytest.fixture(params=["sqlite", "postgres"])
def open_(request: pytest.FixtureRequest, tmp_path: Path, postgres: PostgresServer) -> Open:
    if request.param == "sqlite":
        return lambda schemas: started(SqliteDatabase(tmp_path / "parley.db", schemas))
    url = new_database(postgres)
    return lambda schemas: started(PostgresDatabase(url, schemas))


def before(schema: Schema, statement: str) -> Schema:
    """The schema without the step that contains a statement, and without later ones."""
    number = next(n for n, step in enumerate(schema.steps) if statement in step)
    return Schema(schema.name, schema.steps[:number])


@pytest.fixture
async def members(open_: Open) -> AsyncIterator[Database]:
    """A pool of Ada's with agents of hers, of a linked account, and of others."""
    async with open_((GATEWAY, before(MEMORY, INVITATIONS[0]))) as old:
        await old.change(POOL, {"id": "pool", "person": ADA})
        for person in (ADA, MAL):
            await old.change(LINK, {"person": person})
        for agent, person, granted in (
            ("own", ADA, True),
            ("linked", MAL, True),
            ("walked-in", BEN, False),
            ("unasked", BEN, True),
            ("shares", EVE, True),
        ):
            await old.change(AGENT, {"id": agent, "person": person})
            member = {"pool": "pool", "agent": agent, "person": person, "granted": granted}
            await old.change(MEMBER, member)
        await old.change(SHARE, {"agent": "shares"})
    async with open_((GATEWAY, MEMORY)) as new:
        yield new


async def test_a_membership_to_which_nobody_agreed_becomes_an_invitation(
    members: Database,
) -> None:
    found = [agent for (agent,) in await members.fetch(MEMBERS)]
    assert found == ["linked", "own", "shares", "walked-in"]
    invitations, now = SqlInvitations(members), SystemClock().now()
    (waits,) = await invitations.listed("default", [BEN], now, 10)
    assert (waits.agent, waits.inviter, waits.permission.value) == ("unasked", ADA, "write")
    assert timedelta(days=29) < waits.until - now <= timedelta(days=30)
    assert len(waits.id) == 32
    assert await invitations.unnotified(now, 10) == [], "no message about an old membership"
    for other in (ADA, EVE, MAL):
        assert await invitations.listed("default", [other], now, 10) == []


async def test_a_memory_that_waits_for_review_is_decided_after_the_upgrade(open_: Open) -> None:
    now = SystemClock().now()
    kept = json.loads(record_to_json(record("I may move to Oslo", id="mem-1")))
    del kept["provenance"]["from_repository"], kept["evidence"]["fields"]
    async with open_((GATEWAY, before(MEMORY, REPOSITORY_TEXT[0]))) as old:
        row = {"person": RECORDED, "record": json.dumps(kept), "at": micros(now)}
        await old.change(REVIEW, row)
    async with open_((GATEWAY, MEMORY)) as new:
        reviews = ReviewStore(new)
        (waits,) = await reviews.waiting(access(), 10)
        assert (waits.id, waits.record.content) == ("r1", "I may move to Oslo")
        assert waits.reason.english == "It says how things may be."
        assert (waits.passed, waits.failed) == (("bounds",), ("grounding",))
        assert not waits.record.provenance.from_repository
        assert await reviews.waiting(access(BOB), 10) == []
        taken = await reviews.take(access(), "r1", "approved", "", now)
        assert taken is not None
        assert taken.record == waits.record
        (decided,) = await reviews.history(access(), 10)
        assert (decided.state, decided.decided_by) == ("approved", RECORDED)


async def test_open_takeovers_and_grants_are_carried_over(open_: Open) -> None:
    now = SystemClock().now()
    until = int((now + timedelta(minutes=5)).timestamp() * 1_000_000)
    async with open_((before(GATEWAY, GRANTS[0]),)) as old:
        await old.change(TAKEOVER, {"person": ADA})
        await old.change(GRANT, {"person": ADA, "until": until})
    async with open_((GATEWAY,)) as new:
        takeover = await TakeoverStore(new).of("c")
        assert takeover is not None
        assert (takeover.id, takeover.person, takeover.shared) == ("t1", ADA, True)
        grant = await TextGrantStore(new).of("default", "test:main:olga", "c", now)
        assert grant is not None
        assert (grant.id, grant.person, grant.reason) == ("g1", ADA, "")


async def test_tokens_stay_valid_and_are_of_their_person(open_: Open) -> None:
    async with open_((GATEWAY, before(MEMORY, OF_AGENTS[0]))) as old:
        await old.change(TOKEN, {"person": ADA})
    async with open_((GATEWAY, MEMORY)) as new:
        tokens = TokenStore(new)
        assert await tokens.good("t1")
        (token,) = await tokens.listed(SystemClock().now())
        assert (token.person, token.agent, sorted(token.scopes)) == (ADA, "", ["read"])


async def test_counts_of_crashes_are_carried_over(open_: Open) -> None:
    async with open_((before(GATEWAY, CRASHES[1]),)) as old:
        given = '[["takeover",false,"gave_up",""],["operator",false,"takeover",""]]'
        await old.change(GIVEN_UP, {"decisions": given})
        if isinstance(old, SqliteDatabase):
            await old.change(COUNT, {})
    async with open_((GATEWAY,)) as new:
        ((decisions,),) = await new.fetch(DECISIONS)
        assert decisions == given.replace("takeover", "crash_guard", 1)
        if isinstance(new, SqliteDatabase):
            counts = CrashCounts(SqliteAdapterStates(new, SystemClock()).of(*STORED))
            assert await counts.of(WorkItem("message", "m")) == 3
