"""Tokens of agents in the hands of somebody else, and agents that want more than their person gave
them."""

import asyncio
import base64
import json
from collections.abc import Sequence
from typing import Any, Final
from unittest.mock import patch

from memory.agents.model import AgentType
from parley.http.api import events
from parley.security.keys import token_key
from parley.security.tokens import PREFIX
from tests.attacks.mcp_calls import agent_of, asked, confirmed, pool_of, tool
from tests.attacks.rows.agents import OF_ANOTHER, services
from tests.attacks.rows.tokens import THIEF
from tests.attacks.scene import Scene, hold
from tests.attacks.steps import does, plants, still_there
from tests.attacks.table import Attack
from tests.support.patience import PATIENCE

PERSON: Final = "act as the person with the token of an agent"
BEYOND: Final = "do with the token of an agent what the agent may not"
OTHERS: Final = "use another agent with the token of an agent"
STAY: Final = "keep an agent's access that its person ended"
FORGE: Final = "make a token of an agent into another one"
ONE = ("telegram",)
UNKNOWN: Final = "0" * 32
ENDS_WITHIN: Final = PATIENCE
"""Seconds within which an open stream of an ended agent ends."""

Call = tuple[str, dict[str, Any]]
Request = tuple[str, str, object]

READS_API: Final[Sequence[Request]] = (
    ("GET", "", None), ("GET", "/soul", None), ("GET", "/memories", None),
    ("GET", "/memories/$ada_record", None),
)  # fmt: skip
WRITES_API: Final[Sequence[Request]] = (
    ("PUT", "/soul", {"content": "$mark"}),
    ("POST", "/memories", {"content": "The port is 8443 ($mark)."}),
)
PERSONS_API: Final[Sequence[Request]] = (
    ("GET", "/soul/versions", None), ("POST", "/soul/restore", {"version": 1}),
    ("DELETE", "/memories/$ada_record", None), ("GET", "/reviews", None),
    ("GET", "/decisions", None), ("POST", "/reviews/x/approve", {}),
    ("POST", "/reviews/x/reject", {}), ("GET", "/choices", None),
    ("PUT", "/choices", {"memory": False}), ("GET", "/export", None),
    ("POST", "/import", {"file": "{}"}), ("GET", "/agents", None), ("GET", "/agents?of=all", None),
    ("POST", "/agents", {"type": "human"}), ("GET", "/agents/$ada_agent", None),
    ("DELETE", "/agents/$ada_agent", None), ("POST", "/agents/$ada_agent/take-back", {}),
    ("GET", "/handoffs", None), ("POST", "/handoffs/x/reject", {}), ("GET", "/pools", None),
    ("GET", "/pools/$ada_pool", None), ("DELETE", "/pools/$ada_pool", None),
    ("POST", "/pools/$ada_pool/unshare", {"memory": "$ada_record"}),
    ("GET", "/invitations", None), ("POST", "/invitations/x/decline", {}),
)  # fmt: skip
PERSONS_TOOLS: Final[Sequence[Call]] = (
    ("register_agent", {"agent_type": "human"}),
    ("get_agents_for_user", {}),
    ("create_pool", {"name": "mine", "scope": "user"}),
    ("join_pool", {"pool_id": "$ada_pool", "agent_id": "$tried_agent", "permission": "read"}),
    ("share_memory_to_scope", {"pool_id": "$ada_pool", "memory_id": "$ada_record",
                               "scope": "user"}),
    ("get_pool_invitations", {}),
    ("accept_pool_invitation", {"invitation_id": "x"}),
    ("decline_pool_invitation", {"invitation_id": "x"}),
)  # fmt: skip


async def _given(scene: Scene) -> None:
    """Ada has an agent in a pool with a shared memory, and another one in no pool, whose token
    somebody else has."""
    scene.member("mallory")
    await agent_of(scene, "ada")
    await pool_of(scene, "ada", "user")
    await _held(scene, AgentType.CLAUDE_CODE)


async def _held(scene: Scene, kind: AgentType) -> str:
    """Register another agent of Ada, and return a token of it; its id is `$tried_agent`."""
    request = (await scene.handle("ada")).request
    agent = await services(scene).registry.register_agent(request, kind)
    scene.words["tried_agent"] = agent.id
    scene.words["tried_token"] = scene.token("ada", agent=agent.id)
    return scene.words["tried_token"]


async def _call(scene: Scene, name: str, arguments: dict[str, Any], **more: Any) -> tuple[int, Any]:
    """Call a tool with the token of the agent; status, and the result or the error."""
    params = {"name": name, "arguments": arguments}
    token = more.pop("token", "") or scene.words["tried_token"]
    status, told = await asked(
        scene, "tools/call", params, by="ada", token=token, name=name, **more
    )
    return status, (told or {}).get("result") or (told or {}).get("error")


async def _refused(scene: Scene, calls: Sequence[Call], told: str) -> None:
    """Each of these calls is refused with this text."""
    for name, arguments in calls:
        _, answer = await _call(scene, name, arguments)
        hold(told in json.dumps(answer), f"{name} as an agent: {json.dumps(answer)[:200]}")


async def _denied(scene: Scene, requests: Sequence[Request], code: str) -> None:
    """Each of these requests is refused with this code."""
    for method, path, body in requests:
        token = scene.words["tried_token"]
        status, text = await scene.api(method, path, body, by="ada", token=token)
        hold(status == 403 and code in text, f"{method} {path} as an agent: {status} {text[:99]}")


async def _omits_the_id(scene: Scene) -> None:
    """Without `agent_id`, the call is the agent's: it is marked, waits, and has no words of Ada."""
    agent, token = scene.words["tried_agent"], scene.words["tried_token"]
    await tool(scene, "set_task_context", "ada", task="the person's own task")
    for extra in ({}, {"agent_id": None}, {"agent_id": ""}):
        _, told = await _call(scene, "set_task_context", {"task": f"as {scene.tag}", **extra})
        hold("isError" not in told or not told["isError"], "it could do nothing at all")
    shared = await tool(scene, "get_task_context", "ada")
    hold(shared["task"] == "the person's own task", "the agent replaced the task of the person")
    text = f"The port is 8443 ({scene.mark})."
    await _call(scene, "memory_store", {"type": "fact", "content": text})
    await _call(scene, "update_customer_brain", {"target": "soul", "content": scene.mark})
    for method, path, body in WRITES_API:
        status, answer = await scene.api(method, path, body, by="ada", token=token)
        hold(status in (202, 409), f"{method} {path} as an agent: {status} {answer[:99]}")
    hold(scene.mark not in await scene.remembered("ada"), "a memory of an agent did not wait")
    soul = await (await scene.handle("ada")).documents.read("soul")
    hold(soul is None or scene.mark not in soul.content, "an agent wrote the SOUL of its person")
    waits = (await scene.handle("ada")).review
    found = [one for one in await waits.waiting(20) if scene.mark in one.record.content]
    hold(bool(found), "nothing waits, so that nothing was tried")
    own = [one.record for one in found if one.target not in ("soul", "bible")]
    hold(all(one.provenance.agent == agent for one in own), "what waits does not name the agent")


async def _names_others(scene: Scene) -> None:
    """The other agent of the same person, that of somebody else, and one that does not exist: the
    answers do not differ."""
    await agent_of(scene, "mallory")
    for name, argument, more in (
        ("memory_search", "agent_id", {"query": "drawer"}),
        ("memory_brief", "agent_id", {}),
        ("memory_store", "agent_id", {"type": "fact", "content": "$mark"}),
        ("update_customer_brain", "agent_id", {"target": "soul", "content": "$mark"}),
        ("get_task_context", "agent_id", {}),
        ("set_task_context", "agent_id", {"task": "$mark"}),
        ("search_decisions", "agent_id", {"query": "queue"}),
        ("get_agent_info", "agent_id", {}),
        ("initiate_handoff", "source_id", {"target_id": "$ada_agent",
                                           "context": {"task_description": "x"}}),
        ("get_pending_handoffs", "agent_id", {}),
        ("accept_handoff", "agent_id", {"handoff_id": "x"}),
        ("complete_handoff", "agent_id", {"handoff_id": "x", "result": {}}),
        ("leave_pool", "agent_id", {"pool_id": "$ada_pool"}),
        ("query_shared", "agent_id", {"pool_id": "$ada_pool", "max_scope": "global"}),
    ):  # fmt: skip
        answers = set()
        for id_ in (scene.words["ada_agent"], scene.words["mallory_agent"], UNKNOWN):
            _, told = await _call(scene, name, {argument: id_, **more})
            answers.add(json.dumps(told).replace(id_, "ID"))
            hold(told.get("isError") is True, f"{name} took another agent: {told}")
        hold(len(answers) == 1, f"{name} tells which agents there are: {answers}")
    token, update = scene.words["tried_token"], {"memory": "$ada_record", "version": 1,
                                                 "content": "$mark"}  # fmt: skip
    session = await services(scene).registry.start_session(
        (await scene.handle("ada")).request, scene.words["ada_agent"]
    )
    for id_ in (scene.words["ada_agent"], scene.words["mallory_agent"], UNKNOWN):
        for method, path, body in (
            ("POST", f"/agents/{id_}/sessions", None),
            ("POST", f"/sessions/{session.id}", None),
            ("DELETE", f"/sessions/{session.id}", None),
            ("POST", "/pools/$ada_pool/leave", {"agent": id_}),
            ("POST", "/pools/$ada_pool/update", {**update, "agent": id_}),
        ):
            status, _ = await scene.api(method, path, body, by="ada", token=token)
            hold(status == 404, f"{method} {path} for another agent: {status}")
    (pool,) = await services(scene).overview.own_pools((await scene.handle("ada")).request)
    hold((pool.members, pool.memories) == (1, 1), "the pool was changed")


async def _acts_as_the_person(scene: Scene) -> None:
    """Everything that is for people, over the API, the console and MCP."""
    token = scene.words["tried_token"]
    await _denied(scene, PERSONS_API, "needs_person")
    await _refused(scene, PERSONS_TOOLS, "not for an agent of theirs")
    for method, path in (
        ("GET", "/overview"), ("GET", "/memory"), ("GET", "/memory/tokens"), ("GET", "/account"),
        ("GET", "/memory/export"), ("GET", "/usage"), ("GET", "/conversations"),
        ("POST", "/memory/tokens/create"), ("POST", "/memory/data/erase"),
        ("POST", "/account/end-other-sessions"), ("POST", "/configuration/change"),
    ):  # fmt: skip
        data = {"data": "{}", "headers": {"Content-Type": "application/json"}}
        more: dict[str, Any] = data if method == "POST" else {}
        url = f"/api/v1/console{path}"
        status, _ = await scene.http(method, url, by="ada", token=token, **more)
        hold(status == 403, f"{method} {url} as an agent: {status}")
    status, _ = await scene.http("GET", "/api/v1/usage", by="ada", token=token)
    hold(status == 403, f"the usage of the person answers an agent with {status}")
    agents = await services(scene).registry.agents_of((await scene.handle("ada")).request)
    hold(len(agents) == 2, "an agent registered or unregistered an agent")


async def _uses_other_pools(scene: Scene) -> None:
    """The pool of the person in which this agent is no member."""
    pool = scene.words["ada_pool"]
    _, told = await _call(scene, "query_shared", {"pool_id": pool, "max_scope": "global"})
    hold("not_a_member" in json.dumps(told), f"an agent read a pool without it: {told}")
    token = scene.words["tried_token"]
    _, listed = await scene.http("GET", "/api/events?limit=500", by="ada", token=token)
    hold(pool not in listed, "an agent read events of a pool without it")
    body = {"memory": "$ada_record", "version": 1, "content": "$mark"}
    status, _ = await scene.api("POST", "/pools/$ada_pool/update", body, by="ada", token=token)
    hold(status == 403, f"an agent changed a share in a pool without it: {status}")
    found = await asked(scene, "resources/read", {"uri": "memory://events"}, by="ada", token=token,
                        name="memory://events")  # fmt: skip
    hold(pool not in json.dumps(found), "an agent read events of a pool over MCP")


async def _lacks_capabilities(scene: Scene) -> None:
    """Agents without a capability, on each tool, resource and route that it covers."""
    lacks = "lacks the capability"
    await _held(scene, AgentType.CUSTOM_PIPELINE)  # reads and searches
    await _denied(scene, WRITES_API, "needs_capability")
    update = {"memory": "$ada_record", "version": 1, "content": "$mark"}
    await _denied(scene, [("POST", "/pools/$ada_pool/update", update)], "needs_capability")
    await _refused(scene, (
        ("memory_store", {"type": "fact", "content": "$mark"}),
        ("update_customer_brain", {"target": "soul", "content": "$mark"}),
        ("memory_delete", {"id": "$ada_record"}),
        ("initiate_handoff", {"target_id": "$ada_agent", "context": {"task_description": "x"}}),
        ("get_pending_handoffs", {}),
        ("accept_handoff", {"handoff_id": "x"}),
    ), lacks)  # fmt: skip
    request = (await scene.handle("ada")).request
    nothing = await services(scene).registry.register_agent(
        request, AgentType.HUMAN, capabilities=()
    )
    scene.words["tried_token"] = scene.token("ada", agent=nothing.id)
    await _denied(scene, READS_API, "needs_capability")
    await _refused(scene, (
        ("memory_search", {"query": "drawer"}), ("memory_brief", {}), ("get_goals", {}),
        ("get_recent_activity", {}), ("search_code_kb", {"query": "queue"}),
        ("query_shared", {"pool_id": "$ada_pool", "max_scope": "global"}),
    ), lacks)  # fmt: skip
    for uri in ("memory://brief", "memory://documents/soul", "memory://memories/$ada_record"):
        _, told = await asked(scene, "resources/read", {"uri": uri}, by="ada",
                              token=scene.words["tried_token"], name=scene.filled(uri))  # fmt: skip
        hold(lacks in json.dumps(told), f"{uri} without memory_read: {json.dumps(told)[:200]}")


async def _confirms_for_the_person(scene: Scene) -> None:
    """An agent that may delete, with a client that cannot ask, and the code of the person."""
    await _held(scene, AgentType.HUMAN)
    arguments = {"id": scene.words["ada_record"]}
    params = {"name": "memory_delete", "arguments": arguments}
    _, told = await asked(scene, "tools/call", params, by="ada", name="memory_delete")
    code = told["result"]["structuredContent"]["confirm"]
    for given in ({}, {"confirm": code}, {"confirm": "0" * 16}):
        _, answer = await _call(scene, "memory_delete", {**arguments, **given})
        text = json.dumps(answer)
        hold("the person has to confirm" in text, f"an agent confirmed: {text[:200]}")
    shared = {"pool_id": scene.words["ada_pool"], "memory_id": scene.words["ada_record"],
              "agent_id": scene.words["ada_agent"], "scope": "user"}  # fmt: skip
    hold(bool(await confirmed(scene, "share_memory_to_scope", "ada", **shared)),
         "the person cannot share either, so that nothing was tried")  # fmt: skip


async def _ended(scene: Scene, token: str, told: str) -> None:
    """A token is refused everywhere."""
    for path in ("/api/v1/brain", "/api/v1/console/overview", "/api/events"):
        status, _ = await scene.http("GET", path, token=token)
        hold(status == 401, f"{path} {told}: {status}")
    for method in ("tools/list", "resources/list", "prompts/list"):
        status, _ = await asked(scene, method, {}, token=token)
        hold(status == 401, f"{method} {told}: {status}")


async def _keeps_using_it(scene: Scene) -> None:
    """The agent is unregistered while a stream of its token is open."""
    token, agent = scene.words["tried_token"], scene.words["tried_agent"]
    status, _ = await scene.api("GET", "/soul", by="ada", token=token)
    hold(status in (200, 404), f"the token never worked ({status}), so that nothing was tried")
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    url = f"{scene.stage.app.local.base_url}/api/events"
    request = (await scene.handle("ada")).request
    with patch.object(events, "CHECK_SECONDS", 0.2):
        async with scene.stage.http.get(url, headers=headers) as answer:
            hold(answer.status == 200, "the stream was not opened, so that nothing was tried")
            gone = await services(scene).registry.unregister_agent(request, agent)
            hold(gone, "the agent was not unregistered")
            try:
                async with asyncio.timeout(ENDS_WITHIN):
                    await answer.content.read()  # ends only if the program ends the stream
            except TimeoutError:
                hold(condition=False, told="the stream outlived the agent")
    await _ended(scene, token, "after the agent was unregistered")


def _changed(token: str, **changes: object) -> str:
    """A token with other claims and the signature of before; None removes a claim."""
    body, _, signature = token.removeprefix(PREFIX).partition(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))) | changes
    left = {name: value for name, value in claims.items() if value is not None}
    text = base64.urlsafe_b64encode(json.dumps(left, separators=(",", ":")).encode())
    return f"{PREFIX}{text.rstrip(b'=').decode()}.{signature}"


def _body(token: str) -> str:
    """A token without its signature."""
    return token.rpartition(".")[0]


async def _forges(scene: Scene) -> None:
    """The token of an agent as one of its person or of another agent, and the other way round."""
    await agent_of(scene, "mallory")
    agent, person = scene.words["tried_token"], scene.token("ada")
    others, key = scene.words["ada_agent"], token_key(scene.stage.app.settings)
    before = key.current()
    for what, token in (
        ("without its kind and its agent", _changed(agent, kind=None, agent=None)),
        ("without its kind", _changed(agent, kind=None)),
        ("without its agent", _changed(agent, agent=None)),
        ("of another kind", _changed(agent, kind="person", agent=None)),
        ("of another agent", _changed(agent, agent=others)),
        ("of an empty agent", _changed(agent, agent="")),
        ("of a person as an agent", _changed(person, kind="agent", agent=others)),
        ("with more scopes", _changed(agent, scopes=["read", "write"])),
        ("with a later expiry", _changed(agent, until=2**32)),
        ("without a signature", _body(agent)),
        ("with an empty signature", f"{_body(agent)}."),
        ("with the signature of the person", f"{_body(agent)}.{person.partition('.')[2]}"),
        ("with the body of the person", f"{_body(person)}.{agent.partition('.')[2]}"),
        ("of an agent of somebody else", scene.token("mallory", agent=scene.words["tried_agent"])),
        ("of an agent that never was", scene.token("ada", agent=UNKNOWN)),
        ("that has expired", scene.token("ada", agent=scene.words["tried_agent"], days=-1)),
        ("of another tenant", scene.token("ada", agent=scene.words["tried_agent"], tenant="other")),
    ):  # fmt: skip
        await _ended(scene, token, what)
    hold(key.current() == before, "the key changed, so that nothing was tried")


BEGIN = (plants(), does(_given))
AGENT_TOKENS = (
    Attack("agent-token-without-id", THIEF, PERSON, ONE, (*BEGIN, does(_omits_the_id))),
    Attack(
        "agent-token-other-agent", THIEF, OTHERS, ONE, (*BEGIN, does(_names_others), still_there())
    ),
    Attack(
        "agent-token-as-person",
        THIEF,
        PERSON,
        ONE,
        (*BEGIN, does(_acts_as_the_person), still_there()),
    ),
    Attack("agent-token-other-pool", OF_ANOTHER, OTHERS, ONE, (*BEGIN, does(_uses_other_pools))),
    Attack(
        "agent-token-capabilities",
        THIEF,
        BEYOND,
        ONE,
        (*BEGIN, does(_lacks_capabilities), still_there()),
    ),
    Attack(
        "agent-token-confirms",
        THIEF,
        BEYOND,
        ONE,
        (*BEGIN, does(_confirms_for_the_person), still_there()),
    ),
    Attack("agent-token-unregistered", THIEF, STAY, ONE, (*BEGIN, does(_keeps_using_it))),
    Attack("agent-token-forged", THIEF, FORGE, ONE, (*BEGIN, does(_forges))),
)
