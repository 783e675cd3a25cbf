"""Invitations of agents into pools of other people, and memberships there, on the console."""

import pytest

from gateway.ports.conversations import StoredTurn
from gateway.stores.people_names import keep_names
from memory.agents.model import AgentType, Permission, PoolInvitation, SharedScope
from memory.model.scope import RequestScope
from tests.parley.console.kit import OTHER, PERSON, Console
from tests.support.messages import AT

NAME = "<b>forms</b>"


async def request_of(console: Console, name: str) -> RequestScope:
    handle = await console.program.api_client(name).in_private()
    return handle.request


async def invited(console: Console) -> tuple[PoolInvitation, str]:
    """Somebody invites the person's agent into a pool; the invitation, and the agent."""
    agents = console.app.memory.agents
    assert agents is not None
    person, other = await request_of(console, PERSON), await request_of(console, OTHER)
    agent = await agents.registry.register_agent(person, AgentType.CLAUDE_CODE, name="laptop")
    pool = await agents.pools.create_pool(other, NAME, SharedScope.TEAM)
    invitation = await agents.pools.join_pool(other, pool.id, agent.id, Permission.WRITE)
    assert isinstance(invitation, PoolInvitation)
    return invitation, agent.id


async def test_an_invitation_is_accepted_on_the_page_and_the_pool_left_again(
    either_console: Console,
) -> None:
    invitation, agent = await invited(either_console)
    ada, eve = await either_console.visitor(PERSON), await either_console.visitor(OTHER)
    page = (await ada.get("/memory/pools")).text
    assert "laptop" in page
    assert f":{OTHER}" in page
    assert "<b>forms" not in page
    assert "You have no invitations." in (await eve.get("/memory/pools")).text
    path = f"/memory/pools/invitations/{invitation.id}/accept"
    assert (await eve.post(path)).status == 404
    done = await ada.post(path)
    assert "Your agent is in the pool now." in done.text
    assert "None of your agents" not in done.text
    assert (await ada.post(path)).status == 404
    leave = f"/memory/pools/{invitation.pool}/leave"
    assert (await ada.post(leave, {"agent": "0" * 32})).status == 404
    left = await ada.post(leave, {"agent": agent})
    assert "The agent is out of the pool" in left.text
    assert "None of your agents" in left.text


async def test_the_names_of_people_and_agents_come_before_their_ids(
    console: Console,
) -> None:
    invitation, agent = await invited(console)
    turn = StoredTurn("m1", "user", "hello", AT, invitation.inviter, "Eve <i>Example</i>")
    database = console.app.storage.long_lived
    await database.run(lambda: keep_names(invitation.tenant, [turn]))
    ada = await console.visitor(PERSON)
    name, id_ = "Eve &lt;i&gt;Example&lt;/i&gt;", '<small class="id">'
    waiting = (await ada.get("/memory/pools")).text
    assert 0 < waiting.find(name) < waiting.find(id_)
    done = await ada.post(f"/memory/pools/invitations/{invitation.id}/accept")
    members = done.text.partition('id="members"')[2]
    assert 0 < members.find(name) < members.find(id_)
    assert 0 < members.find("laptop") < members.find(agent[:8])


async def test_an_invitation_is_declined_on_the_page(console: Console) -> None:
    invitation, _ = await invited(console)
    ada = await console.visitor(PERSON)
    path = f"/memory/pools/invitations/{invitation.id}"
    assert "is declined" in (await ada.post(f"{path}/decline")).text
    assert (await ada.post(f"{path}/accept")).status == 404


@pytest.mark.parametrize("answer", ["accept", "decline"])
async def test_a_token_does_not_answer_for_its_person(console: Console, answer: str) -> None:
    invitation, _ = await invited(console)
    client = console.program.api_client(PERSON)
    path = f"/console/memory/pools/invitations/{invitation.id}/{answer}"
    refused = await client("POST", path, {})
    assert refused.status == 403
    assert len((await client("GET", "/console/memory/pools")).json["waiting"]) == 1
