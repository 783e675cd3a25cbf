"""Tokens that were given out: the contract on both engines."""

from datetime import timedelta

import pytest

from db import Statement
from gateway.immutable import replace
from gateway.ports.rights import EVERY_SCOPE, TokenScope
from memory.agents.model import Agent, AgentEvent, AgentLimits, AgentType, EventKind
from memory.agents.stores.agents import SqlAgents
from memory.stores.api_tokens import ApiToken, TokenStore
from tests.memory.stores.records import ADA, AT, BOB
from tests.support.databases import Engine

LAPTOP = ApiToken("a1", "laptop", "t", ADA, AT, AT + timedelta(days=1))
READS = frozenset({TokenScope.READ})
PHONE = ApiToken("b2", "phone 🙂", "t", BOB, AT + timedelta(hours=1), AT + timedelta(days=2), READS)

WITHOUT_SCOPES = Statement("""
    INSERT INTO person_tokens (id, name, tenant, person, issued_at, until)
    VALUES ('c3', 'old', 't', 'web:main:ada', 0, 9000000000000000)
""")


@pytest.fixture
def tokens(engine: Engine) -> TokenStore:
    return TokenStore(engine)


async def test_a_token_is_valid_until_it_is_revoked(tokens: TokenStore) -> None:
    assert not await tokens.good("a1")
    assert await tokens.add(LAPTOP)
    assert await tokens.add(PHONE)
    assert await tokens.good("a1")
    assert await tokens.revoke("laptop") == LAPTOP
    assert not await tokens.good("a1")
    assert await tokens.good("b2")
    assert await tokens.revoke("laptop") is None


async def test_token_names_are_unique(tokens: TokenStore) -> None:
    assert await tokens.add(LAPTOP)
    assert not await tokens.add(replace(PHONE, name="laptop"))
    assert not await tokens.add(replace(PHONE, id="a1"))
    assert await tokens.listed(AT) == [LAPTOP]


async def test_expired_tokens_are_not_listed_and_deleted(tokens: TokenStore) -> None:
    for token in (LAPTOP, PHONE):
        await tokens.add(token)
    assert await tokens.listed(AT) == [PHONE, LAPTOP]
    late = AT + timedelta(days=1)
    assert await tokens.listed(late) == [PHONE]
    assert await tokens.prune(late) == 1
    assert await tokens.clear() == 1
    assert await tokens.listed(AT) == []


async def test_a_token_that_was_issued_before_there_were_scopes_has_both(
    tokens: TokenStore, engine: Engine
) -> None:
    assert await tokens.add(PHONE)
    await engine.change(WITHOUT_SCOPES)
    assert {one.id: one.scopes for one in await tokens.listed(AT)} == {
        "b2": READS,
        "c3": EVERY_SCOPE,
    }


async def test_unregistering_an_agent_revokes_its_tokens_alone(
    tokens: TokenStore, engine: Engine
) -> None:
    agents = SqlAgents(engine)
    for id_ in ("agent-1", "agent-2"):
        agent = Agent(id_, "t", AgentType.GPT_AGENT, ADA, frozenset(), AT)
        event = AgentEvent(EventKind.AGENT_REGISTERED, "t", AT, agent=id_, person=ADA)
        await agents.add(agent, AgentLimits(), event)
    of_one = replace(LAPTOP, id="d4", name="one", agent="agent-1")
    of_two = replace(LAPTOP, id="e5", name="two", agent="agent-2")
    for token in (LAPTOP, of_one, of_two):
        assert await tokens.add(token)
    assert of_one in await tokens.listed(AT)
    gone = AgentEvent(EventKind.AGENT_UNREGISTERED, "t", AT, agent="agent-1", person=ADA)
    assert not await agents.remove("t", [BOB], "agent-1", gone)
    assert await tokens.good("d4")
    assert await agents.remove("t", [ADA], "agent-1", gone)
    assert not await tokens.good("d4")
    assert sorted(one.id for one in await tokens.listed(AT)) == ["a1", "e5"]
