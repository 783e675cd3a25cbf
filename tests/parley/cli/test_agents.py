"""`parley agents` and `parley pools`, beside a running program or without one."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest
import yaml

from memory.agents.model import AgentType, Permission, SharedScope
from memory.model.record import Draft, Kind
from parley.cli.memory_access import OPERATOR, OpenedAgents, caller_for, with_agents
from parley.security.tokens import person_of
from parley.wiring.storage import Storage
from tests.parley.cli.kit import parley
from tests.parley.http.api.kit import running
from tests.support.databases import migrated_database

ADA, BOB = "telegram:main:ada", "telegram:main:bob"
T = TypeVar("T")


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
async def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with a configuration and an empty database."""
    url = (
        f"sqlite:///{tmp_path}/parley.db"
        if request.param == "sqlite"
        else migrated_database(request.getfixturevalue("postgres"))
    )
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "parley.yaml").write_text(yaml.safe_dump({"database": {"url": url}}))
    return tmp_path


async def inside(folder: Path, job: Callable[[OpenedAgents], Awaitable[T]]) -> T:
    """Do something in the database of a folder."""
    from gateway.ports.clock import SystemClock  # noqa: PLC0415 - only here
    from parley.config import load  # noqa: PLC0415 - only here

    config = folder / "config" / "parley.yaml"
    storage = Storage(load(config, {}), SystemClock())
    await storage.start(exclusive=False)
    await storage.stop()
    return await asyncio.to_thread(with_agents, config, job)


async def agent_of(opened: OpenedAgents, person: str, text: str = "") -> str:
    """An agent of a person, which wrote a text that its person approved; its id."""
    request = await opened.person(person)
    agent = await opened.services.registry.register_agent(
        request, AgentType.CLAUDE_CODE, name="A private name"
    )
    if text:
        caller = await caller_for(
            opened.settings, opened.storage, opened.extensions, person_of(person)
        )
        handle = await opened.memory.for_principal(caller)
        waiting = await handle.for_agent(agent.id).write.infer(Draft(text, Kind.FACT))
        await handle.review.approve(waiting.review_id)
    return agent.id


async def test_agents_are_listed_shown_unregistered_and_taken_back(folder: Path) -> None:
    agent = await inside(folder, lambda opened: agent_of(opened, ADA, "The form has two fields"))
    listed = await parley("agents", "list", cwd=folder)
    assert listed.out.startswith(f"{agent}  {ADA}  claude_code  ")
    assert listed.out.endswith("  1  0  0  0\n")
    shown = await parley("agents", "show", agent[:8], cwd=folder)
    assert "memories: 1" in shown.out
    assert "two fields" not in shown.out
    assert "A private name" not in listed.out + shown.out
    shown = await parley("agents", "show", agent[:8], "--person", ADA, cwd=folder)
    assert "The form has two fields" in shown.out
    done = await parley("agents", "unregister", agent[:8], "--yes", cwd=folder)
    assert (done.status, done.out[:13]) == (0, "Unregistered.")
    assert (await parley("agents", "list", cwd=folder)).out == "There are no agents.\n"
    refused = await parley("agents", "take-back", agent, "--yes", cwd=folder)
    assert refused.status == 1
    assert "name its person with --person" in refused.err
    done = await parley("agents", "take-back", agent, "--person", ADA, "--yes", cwd=folder)
    assert done.out == "Taken back: 1 memories, 0 waiting, 0 shares, 0 handoffs.\n"
    left = await parley("memory", "list", "--person", ADA, cwd=folder)
    assert "two fields" not in left.out


async def test_take_back_since_a_day_and_without_confirmation(folder: Path) -> None:
    agent = await inside(folder, lambda opened: agent_of(opened, ADA, "The form has two fields"))
    later = ("agents", "take-back", agent[:8], "--since")
    refused = await parley(*later, "yesterday", "--yes", cwd=folder)
    assert (refused.status, "is not a date" in refused.err) == (1, True)
    ended = await parley(*later, "2020-01-01", cwd=folder)
    assert (ended.status, "--yes confirms" in ended.err) == (1, True)
    none = await parley(*later, "2999-01-01", "--yes", "--json", cwd=folder)
    assert json.loads(none.out)["memories"] == 0
    done = await parley(*later, "2020-01-01", "--yes", "--json", cwd=folder)
    assert json.loads(done.out) == {"memories": 1, "waiting": 0, "shares": 0, "handoffs": 0}


async def test_the_agents_of_one_person_are_listed_alone(folder: Path) -> None:
    async def both(opened: OpenedAgents) -> tuple[str, str]:
        return await agent_of(opened, ADA), await agent_of(opened, BOB)

    own, others = await inside(folder, both)
    listed = await parley("agents", "list", "--person", ADA, "--json", cwd=folder)
    assert [json.loads(line)["id"] for line in listed.out.splitlines()] == [own]
    everybody = await parley("agents", "list", "--json", cwd=folder)
    ids = {json.loads(line)["id"] for line in everybody.out.splitlines()}
    assert ids == {own, others}
    wrong = await parley("agents", "show", others, "--person", ADA, cwd=folder)
    assert (wrong.status, "no agent with this id" in wrong.err) == (1, True)


async def test_pools_are_listed_shown_and_deleted(folder: Path) -> None:
    async def pool(opened: OpenedAgents) -> tuple[str, str, str]:
        request, agent = await opened.person(ADA), await agent_of(opened, ADA)
        pools, other = opened.services.pools, await agent_of(opened, BOB)
        made = await pools.create_pool(request, "A private pool", SharedScope.TEAM)
        for one in (agent, other):
            assert await pools.join_pool(request, made.id, one, Permission.WRITE)
        return made.id, agent, other

    made, agent, other = await inside(folder, pool)
    listed = await parley("pools", "list", cwd=folder)
    assert listed.out.startswith(f"{made}  {ADA}  team  ")
    assert listed.out.endswith("  1  0\n")
    shown = await parley("pools", "show", made[:8], cwd=folder)
    assert f"agent {agent}: write, since " in shown.out
    assert f"invited {other}: write, until " in shown.out
    assert "private" not in listed.out + shown.out
    deleted = await parley("pools", "delete", made[:8], "--yes", cwd=folder)
    assert deleted.out.startswith("Deleted.")
    assert (await parley("pools", "list", cwd=folder)).out == "There are no pools.\n"
    missing = await parley("pools", "show", made[:8], cwd=folder)
    assert (missing.status, "no pool" in missing.err) == (1, True)


async def test_a_take_back_beside_the_running_program_takes_effect_at_its_next_query(
    folder: Path,
) -> None:
    from parley.config import load  # noqa: PLC0415 - only here

    sections = yaml.safe_load((folder / "config" / "parley.yaml").read_text())
    sections |= {
        "model": {"provider": "offline"},
        "platforms": {"web": {"enabled": True}},
        "server": {"port": 0, "key_folder": str(folder)},
        "webhooks": {"port": 0},
    }
    (folder / "config" / "parley.yaml").write_text(yaml.safe_dump(sections))
    async with running(load(folder / "config" / "parley.yaml", {})) as program:
        ada = program.api_client("ada")
        agent = (await ada("POST", "/brain/agents", {"type": "claude_code"})).json["id"]
        handle = await ada.in_private()
        draft = Draft("The form has two fields", Kind.FACT)
        waiting = await handle.for_agent(agent).write.infer(draft)
        stored = await handle.review.approve(waiting.review_id)
        assert (await ada("GET", f"/brain/memories/{stored.memory_id}")).status == 200
        done = await parley("agents", "take-back", agent[:8], "--yes", cwd=folder)
        assert done.out.startswith("Taken back: 1 memories"), done
        assert (await ada("GET", f"/brain/memories/{stored.memory_id}")).status == 404


async def test_ended_handoffs_are_deleted_and_counted_and_open_ones_stay(folder: Path) -> None:
    async def hand_over(opened: OpenedAgents) -> str:
        request = await opened.person(ADA)
        agents = [await agent_of(opened, ADA) for _ in range(2)]
        handoffs = opened.services.handoffs
        contexts = [{"task_description": f"Write the tests of part {part}"} for part in range(4)]
        ids = [
            handoff.id
            for context in contexts
            if (handoff := await handoffs.initiate_handoff(request, agents[0], agents[1], context))
        ]
        await handoffs.reject_handoff(request, ids[0], agents[1], "no")
        await handoffs.reject_handoff(request, ids[1], agents[1], "no")
        await handoffs.accept_handoff(request, ids[2], agents[1])
        await handoffs.complete_handoff(request, ids[2], agents[1], {"status": "success"})
        return ids[3]

    still_open = await inside(folder, hand_over)
    refused = await parley("handoffs", "cleanup", cwd=folder, answers="n\n")
    assert (refused.status, "Deleted" in refused.out) == (1, False)
    none = await parley("handoffs", "cleanup", "--older-than", "1", "--yes", "--json", cwd=folder)
    assert json.loads(none.out) == {"completed": 0, "rejected": 0, "expired": 0}
    done = await parley("handoffs", "cleanup", "--yes", cwd=folder)
    assert (done.status, done.out) == (0, "Deleted: 1 completed, 2 rejected, 0 expired.\n")

    async def left(opened: OpenedAgents) -> list[str]:
        return [one.id for one in await opened.services.handoffs.open_of(await opened.person(ADA))]

    assert await inside(folder, left) == [still_open]
    shown = await parley("audit", "show", "--limit", "100", "--json", cwd=folder)
    noted = [one for one in map(json.loads, shown.out.splitlines()) if "deleted" in str(one)]
    assert [one["person"] for one in noted] == [str(OPERATOR)]
    details = noted[0]["details"]
    assert (details["what"], details["completed"], details["rejected"]) == ("deleted", "1", "2")
