"""Agents, pools and tasks on the console, and the choice of a project."""

from gateway.message import Place
from gateway.people import Audience
from memory.agents.model import AgentType, Capability, SharedScope
from tests.parley.console.kit import OPERATOR, OTHER, PERSON, Console
from tests.parley.console.talk import Talk
from tests.parley.console.views.memory.kit import in_project
from tests.parley.console.views.memory.test_pools import request_of

TASK = "Order <b>tea</b>"


async def test_a_person_sees_and_ends_their_own_agents_pools_and_tasks(
    either_console: Console,
) -> None:
    agents = either_console.app.memory.agents
    assert agents is not None
    ada, eve = await either_console.visitor(PERSON), await either_console.visitor(OTHER)
    registered = await ada.post(
        "/memory/agents/register", {"type": "claude_code", "name": "tablet"}
    )
    assert "The agent is registered." in registered.text
    person = await request_of(either_console, PERSON)
    (agent,) = await agents.registry.agents_of(person)
    assert (agent.name, Capability.MEMORY_WRITE in agent.capabilities) == ("tablet", True)
    pool = await agents.pools.create_pool(person, "Forms", SharedScope.TEAM)
    other = await agents.registry.register_agent(person, AgentType.CLAUDE_CODE, name="desk")
    task = {"task_description": TASK}
    handoff = await agents.handoffs.initiate_handoff(person, other.id, agent.id, task)
    assert handoff is not None
    page = (await ada.get("/memory/agents")).text
    for text in ("tablet", "Forms", "Order"):
        assert text in page
    assert "<b>tea" not in page
    for agent_named in (other, agent):
        assert f'{agent_named.name}</bdi> <small class="id">' in page
    foreign = (await eve.get("/memory/agents")).text
    assert "tablet" not in foreign
    assert "Order" not in foreign
    ends = (
        (f"tasks/{handoff.id}/reject", "The task is rejected."),
        (f"pools/{pool.id}/delete", "The pool is deleted."),
        (f"{agent.id}/take-back", "Everything that the agent gave is taken back."),
        (f"{agent.id}/unregister", "The agent is unregistered"),
    )
    for path, said in ends:
        refused = await eve.post(f"/memory/agents/{path}")
        assert refused.status == 404, path
        assert said in (await ada.post(f"/memory/agents/{path}")).text
    assert await agents.registry.agents_of(person) == (other,)
    assert "tablet" not in (await ada.get("/memory/agents")).text


async def test_operators_see_whose_agents_and_pools_there_are_and_no_names_of_them(
    console: Console,
) -> None:
    at = Place("web", "main", PERSON, Audience.DIRECT)
    await Talk(console.app)(at, PERSON, "Hello", "Hello")
    agents = console.app.memory.agents
    assert agents is not None
    person = await request_of(console, PERSON)
    agent = await agents.registry.register_agent(person, AgentType.CLAUDE_CODE, name="tablet")
    pool = await agents.pools.create_pool(person, "Secret plan", SharedScope.TEAM)
    olga = await console.visitor(OPERATOR)
    page = (await olga.get("/memory/agents")).text
    assert agent.id[:8] in page
    assert pool.id[:8] in page
    named = f'{PERSON.title()}</bdi></a> <small class="id">'
    assert page.count(named) == len(("the agent", "the pool"))
    assert "tablet" not in page
    assert "Secret plan" not in page
    token = console.program.api_client(PERSON)
    assert (await token("GET", "/console/memory/agents")).status == 200
    answer = await token("POST", f"/console/memory/agents/{agent.id}/unregister", {})
    assert answer.status == 403


async def test_a_person_chooses_a_project_of_theirs_on_the_page(either_console: Console) -> None:
    handle = await in_project(either_console, PERSON)
    ada, eve = await either_console.visitor(PERSON), await either_console.visitor(OTHER)
    project = handle.access.project
    assert project
    left = await ada.post("/memory/project", {"project": "none"})
    assert "No project is chosen now." in left.text
    chosen = await ada.post("/memory/project", {"project": project})
    assert "Your project is" in chosen.text
    assert "Project notes (BIBLE)" in chosen.text
    assert (await request_of(either_console, PERSON)).project == project
    assert (await eve.post("/memory/project", {"project": project})).status == 422
    assert (await ada.post("/memory/project", {"project": "web:main:other"})).status == 422
