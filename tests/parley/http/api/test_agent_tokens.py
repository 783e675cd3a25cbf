"""A token of an agent is valid as long as its agent, its person and their access are, and never
stands for the person."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from db import Statement
from gateway.ports.clock import SystemClock
from gateway.ports.rights import TokenScope
from memory.agents.model import (
    DEFAULT_CAPABILITIES,
    Agent,
    AgentEvent,
    AgentLimits,
    AgentType,
    EventKind,
)
from memory.ports.audit import AuditEntry
from parley.security.keys import audit_key
from tests.parley.http.api.kit import (
    ApiClient,
    Program,
    postgres_settings_in,
    running,
    settings_in,
)

READS = frozenset({TokenScope.READ})
ID = "0123456789abcdef0123456789abcdef"
LINK = Statement(
    "INSERT INTO people_links (tenant, person, link_group) VALUES ('default', :p, 'g')"
)
UNLINK = Statement("DELETE FROM people_links WHERE person = :p")


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
async def program(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Program]:
    settings = (
        settings_in(tmp_path, access={"blocked_users": ["web:bob"]}, memory={"audit_key": "a" * 40})
        if request.param == "sqlite"
        else postgres_settings_in(tmp_path, request.getfixturevalue("postgres"))
    )
    async with running(settings) as started:
        yield started


async def agent_of(program: Program, name: str, kind: AgentType = AgentType.CLAUDE_CODE) -> str:
    """The id of an agent of a person."""
    now, person = SystemClock().now(), f"web:main:{name}"
    agent = Agent(ID, "default", kind, person, DEFAULT_CAPABILITIES[kind], now)
    event = AgentEvent(EventKind.AGENT_REGISTERED, "default", now, agent=ID, person=person)
    await program.app.storage.memory.agents.add(agent, AgentLimits(), event)
    return ID


def agent(program: Program, name: str, **more: object) -> ApiClient:
    """A client with a token of the agent."""
    token = program.token(name, agent=ID, **more)  # type: ignore[arg-type]  # as they are given
    return program.api_client(name, token)


async def entries(program: Program) -> list[AuditEntry]:
    """The audit log."""
    await program.app.security.flush()
    log = program.app.storage.memory.audit_on(audit_key(program.settings))
    return [link.entry for link in await log.links(0, 10_000)]


async def test_the_token_of_an_agent_ends_with_the_agent(program: Program, ada: ApiClient) -> None:
    mine = agent(program, "ada")
    assert (await mine("GET", "/brain")).code == "token_revoked"  # it never was
    await agent_of(program, "ada")
    assert (await mine("GET", "/brain")).status == 200
    assert (await ada("DELETE", f"/brain/agents/{ID}")).status == 204
    for path in ("/brain", "/console/overview"):
        refused = await mine("GET", path)
        assert (refused.status, refused.code) == (401, "token_revoked")
    assert (await ada("GET", "/brain")).status == 200


async def test_only_an_agent_of_the_person_acts_for_them(program: Program) -> None:
    await agent_of(program, "ada")
    refused = await agent(program, "eve")("GET", "/brain")
    assert (refused.status, refused.code) == (401, "token_revoked")


async def test_an_agent_of_a_linked_account_acts_until_the_accounts_are_separated(
    program: Program,
) -> None:
    await agent_of(program, "ada")
    database = program.app.storage.memory.links._database
    for person in ("web:main:ada", "web:main:eve"):
        await database.change(LINK, {"p": person})
    assert (await agent(program, "eve")("GET", "/brain")).status == 200
    await database.change(UNLINK, {"p": "web:main:eve"})
    assert (await agent(program, "eve")("GET", "/brain")).status == 401


async def test_erasing_the_person_ends_the_tokens_of_their_agents(program: Program) -> None:
    await agent_of(program, "ada")
    assert (await agent(program, "ada")("GET", "/brain")).status == 200
    await program.app.storage.memory.personal.erase("default", ("web:main:ada",))
    assert (await agent(program, "ada")("GET", "/brain")).code == "token_revoked"


async def test_an_agent_of_a_person_without_access_or_of_another_tenant_is_refused(
    program: Program,
) -> None:
    await agent_of(program, "ada")
    other = await agent(program, "ada", tenant="other")("GET", "/brain")
    assert (other.status, other.code) == (401, "token_wrong")
    if program.settings.access.blocked_users:
        await program.app.storage.memory.personal.erase("default", ("web:main:ada",))
        await agent_of(program, "bob")
        blocked = await agent(program, "bob")("GET", "/brain")
        assert (blocked.status, blocked.code) == (403, "not_served")


async def test_scopes_narrow_the_token_of_an_agent(program: Program) -> None:
    await agent_of(program, "ada")
    reader = agent(program, "ada", scopes=READS)
    assert (await reader("GET", "/brain/memories")).status == 200
    refused = await reader("POST", "/brain/memories", {"content": "The port is 8443."})
    assert (refused.status, refused.code) == (403, "needs_scope")


async def test_what_an_agent_stores_waits_and_names_it(program: Program, ada: ApiClient) -> None:
    await agent_of(program, "ada")
    mine = agent(program, "ada")
    kept = await mine("POST", "/brain/memories", {"content": "The port is 8443."})
    assert (kept.status, kept.json["outcome"]) == (202, "review")
    written = await mine("PUT", "/brain/soul", {"content": "Answer in one line."})
    assert (written.status, written.json["outcome"]) == (202, "proposed")
    assert (await ada("GET", "/brain/memories")).json["memories"] == []
    assert len((await ada("GET", "/brain/reviews")).json["reviews"]) == 2


async def test_an_agent_stores_as_few_memories_in_a_session_as_over_mcp(program: Program) -> None:
    await agent_of(program, "ada")
    mine = agent(program, "ada")
    for number in range(20):
        kept = await mine("POST", "/brain/memories", {"content": f"Port {number} is of room {ID}."})
        assert kept.status in (202, 409), kept.json
    refused = await mine("POST", "/brain/memories", {"content": "The port is 8443."})
    assert (refused.status, refused.code) == (409, "session_limit")


async def test_a_share_is_changed_without_naming_the_agent(
    program: Program, ada: ApiClient
) -> None:
    await agent_of(program, "ada")
    update = {"memory": "mem-1", "version": 1, "content": "x"}
    for client, named in ((agent(program, "ada"), True), (ada, False)):
        for path, body in (("update", update), ("leave", {})):
            answer = await client("POST", f"/brain/pools/{ID}/{path}", body)
            assert (answer.status, answer.code) == (404, "not_found")
            told = str(answer.json["error"]["message"])
            assert ("name one of your agents" in told) != named


async def test_the_audit_names_the_agent_that_is_refused(program: Program) -> None:
    await agent_of(program, "ada", AgentType.CUSTOM_PIPELINE)
    mine = agent(program, "ada")
    assert (await mine("GET", "/brain/export")).code == "needs_person"
    assert (await mine("PUT", "/brain/soul", {"content": "x"})).code == "needs_capability"
    told = [dict(one.details) for one in await entries(program) if one.action == "security_event"]
    assert [(one["reason"], one["agent"]) for one in told] == [
        ("needs_person", ID),
        ("needs_capability", ID),
    ]


async def test_the_audit_names_the_agent_that_reads(program: Program) -> None:
    await agent_of(program, "ada")
    assert (await agent(program, "ada")("GET", "/brain/memories")).status == 200
    (told,) = [dict(e.details) for e in await entries(program) if e.action == "memory_read"]
    assert told["agent"] == ID
