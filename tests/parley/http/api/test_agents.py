"""Agents, pools and handoffs over HTTP: only one's own, and numbers for operators."""

from typing import Any

from memory.actions.call import AgentServices
from memory.agents.model import Permission, Pool, PoolInvitation, SharedScope
from memory.model.record import Draft, Kind
from tests.parley.http.api.kit import ApiClient, ApiResponse, Program

UNKNOWN = "0" * 32


def services(program: Program) -> AgentServices:
    assert program.app.memory.agents is not None
    return program.app.memory.agents


async def registered(client: ApiClient, **body: Any) -> str:
    """Register an agent; its id."""
    response = await client("POST", "/brain/agents", {"type": "claude_code"} | body)
    assert response.status == 201, response
    return str(response.json["id"])


async def wrote(client: ApiClient, agent: str, text: str) -> str:
    """An agent wrote a memory, and its person approved it; the id of the memory."""
    handle = await client.in_private()
    waiting = await handle.for_agent(agent).write.infer(Draft(text, Kind.FACT))
    approved = await handle.review.approve(waiting.review_id)
    assert approved.memory_id
    return approved.memory_id


async def listed(client: ApiClient, path: str = "/brain/agents", **query: str) -> list[Any]:
    response = await client("GET", path, params=query)
    assert response.status == 200, response
    (result,) = response.json.values()
    return list(result)


async def test_an_agent_is_registered_listed_and_unregistered(
    ada: ApiClient, eve: ApiClient
) -> None:
    agent = await registered(ada, name="Builder", capabilities=["memory_read"])
    (shown,) = await listed(ada)
    assert (shown["id"], shown["name"], shown["capabilities"]) == (
        agent,
        "Builder",
        ["memory_read"],
    )
    assert await listed(eve) == []
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/take-back")):
        body: object = {} if method == "POST" else None
        refused = await eve(method, f"/brain/agents/{agent}{path}", body)
        assert (refused.status, refused.code) == (404, "not_found")
    assert (await ada("DELETE", f"/brain/agents/{agent}")).status == 204
    assert (await ada("DELETE", f"/brain/agents/{agent}")).status == 404
    assert await listed(ada) == []


async def test_capabilities_beyond_the_type_are_refused(ada: ApiClient) -> None:
    body = {"type": "custom_pipeline", "capabilities": ["memory_write"]}
    refused = await ada("POST", "/brain/agents", body)
    assert (refused.status, refused.code) == (422, "refused")
    refused = await ada("POST", "/brain/agents", {"type": "claude_code", "person": "web:main:eve"})
    assert (refused.status, refused.where) == (400, "body.person")


async def test_take_back_takes_effect_at_the_next_query(ada: ApiClient) -> None:
    agent = await registered(ada)
    memory = await wrote(ada, agent, "The form has two fields")
    page = await ada("GET", f"/brain/agents/{agent}")
    assert [one["content"] for one in page.json["written"]] == ["The form has two fields"]
    assert (await ada("DELETE", f"/brain/agents/{agent}")).status == 204
    (left,) = await listed(ada)
    assert (left["registered"], left["memories"]) == (False, 1)
    done = await ada("POST", f"/brain/agents/{agent}/take-back", {})
    assert done.json == {"memories": 1, "waiting": 0, "shares": 0, "handoffs": 0}
    assert (await ada("GET", f"/brain/memories/{memory}")).status == 404
    assert await listed(ada) == []


async def test_take_back_since_a_time_leaves_what_is_older(ada: ApiClient) -> None:
    agent = await registered(ada)
    await wrote(ada, agent, "The form has two fields")
    path = f"/brain/agents/{agent}/take-back"
    later = await ada("POST", path, {"since": "2999-01-01T00:00:00Z"})
    assert later.json["memories"] == 0
    assert (await ada("POST", path, {"since": "2020-01-01T00:00:00Z"})).json["memories"] == 1
    assert (await ada("POST", path, {"since": "2020-01-01T00:00:00"})).status == 400


async def test_a_person_rejects_a_handoff_to_an_own_agent(
    program: Program, ada: ApiClient, eve: ApiClient
) -> None:
    first, second = await registered(ada), await registered(ada)
    request = (await ada.in_private()).request
    made = await services(program).handoffs.initiate_handoff(
        request, first, second, {"task_description": "Write the form"}
    )
    assert made is not None
    (open_,) = await listed(ada, "/brain/handoffs")
    assert (open_["id"], open_["task"], open_["agent"]) == (made.id, "Write the form", second)
    assert await listed(eve, "/brain/handoffs") == []
    path = f"/brain/handoffs/{made.id}/reject"
    assert (await eve("POST", path, {})).status == 404
    assert (await ada("POST", path, {"reason": "Not now"})).json["status"] == "rejected"
    again = await ada("POST", path, {})
    assert (again.status, again.code) == (409, "not_pending")
    handoff = await services(program).handoffs.get_handoff(request, made.id)
    assert handoff is not None
    assert handoff.reason == "Not now"


async def joined(
    program: Program, people: tuple[ApiClient, ApiClient], pool: Pool, agent: str
) -> None:
    """The first person's pool gets an agent of theirs, or of the second one, who accepts."""
    pools, (owner, other) = services(program).pools, [await one.in_private() for one in people]
    member = await pools.join_pool(owner.request, pool.id, agent, Permission.WRITE)
    assert member
    if isinstance(member, PoolInvitation):
        await pools.invitations.accept(other.request, member.id)


async def test_an_invitation_is_listed_and_declined_and_a_pool_of_others_is_left(
    program: Program, ada: ApiClient, eve: ApiClient
) -> None:
    others, pools = await registered(eve), services(program).pools
    request = (await ada.in_private()).request
    first, second = [
        await pools.create_pool(request, name, SharedScope.TEAM) for name in ("forms", "lists")
    ]
    for pool in (first, second):
        await pools.join_pool(request, pool.id, others, Permission.READ)
    assert (await ada("GET", "/brain/invitations")).json == {"invitations": []}
    waits = (await eve("GET", "/brain/invitations")).json["invitations"]
    assert [(one["name"], one["person"], one["agent"]) for one in waits] == [
        (name, "web:main:ada", others) for name in ("forms", "lists")
    ]
    page = (await ada("GET", f"/brain/pools/{first.id}")).json
    assert [one["agent"] for one in page["invited"]] == [others]
    path = f"/brain/invitations/{waits[0]['id']}/decline"
    assert (await ada("POST", path)).status == 404
    assert (await eve("POST", path)).status == 204
    assert (await eve("POST", path)).status == 404
    accept = f"/brain/invitations/{waits[1]['id']}/accept"
    assert (await eve("POST", accept)).status == 404, "a token does not agree for its person"
    await pools.invitations.accept((await eve.in_private()).request, waits[1]["id"])
    leave = f"/brain/pools/{second.id}/leave"
    assert (await ada("POST", leave, {"agent": "0" * 32})).status == 404
    assert (await eve("POST", leave, {"agent": others})).status == 204
    assert (await eve("POST", leave, {"agent": others})).status == 404
    assert (await eve("GET", "/brain/pools")).json == {"pools": []}


async def test_a_pool_is_listed_shown_and_deleted_by_its_owner(
    program: Program, ada: ApiClient, eve: ApiClient, olga: ApiClient
) -> None:
    own, others = await registered(ada), await registered(eve)
    pools, request = services(program).pools, (await ada.in_private()).request
    pool = await pools.create_pool(request, "auth refactor", SharedScope.TEAM)
    for agent in (own, others):
        await joined(program, (ada, eve), pool, agent)
    memory = await wrote(ada, own, "The form has two fields")
    await pools.share_memory(request, pool.id, memory, own, SharedScope.TEAM)
    (shown,) = await listed(ada, "/brain/pools")
    assert (shown["name"], shown["members"], shown["memories"]) == ("auth refactor", 2, 1)
    page = await eve("GET", f"/brain/pools/{pool.id}")
    assert [one["agent"] for one in page.json["members"]] == [own, others]
    assert (page.json["pool"]["person"], page.json["pool"]["yours"]) == (None, False)
    assert (await eve("DELETE", f"/brain/pools/{pool.id}")).status == 404
    assert (await olga("GET", f"/brain/pools/{pool.id}")).status == 404
    assert (await ada("DELETE", f"/brain/pools/{pool.id}")).status == 204
    assert (await eve("GET", f"/brain/pools/{pool.id}")).status == 404


async def test_of_two_updates_of_a_shared_memory_the_slower_one_gets_both_texts(
    program: Program, ada: ApiClient, eve: ApiClient
) -> None:
    own, others = await registered(ada), await registered(eve)
    pools, request = services(program).pools, (await ada.in_private()).request
    pool = await pools.create_pool(request, "auth refactor", SharedScope.TEAM)
    for agent in (own, others):
        await joined(program, (ada, eve), pool, agent)
    memory = await wrote(ada, own, "The form has two fields")
    await pools.share_memory(request, pool.id, memory, own, SharedScope.TEAM)
    path = f"/brain/pools/{pool.id}/update"
    first = {"agent": own, "memory": memory, "version": 1, "content": "The form has three fields"}
    waits = await ada("POST", path, first)
    assert (waits.status, waits.json["outcome"], waits.json["version"]) == (202, "review", 1)
    review = waits.json["review_id"]
    assert (await ada("POST", f"/brain/reviews/{review}/approve", {})).status == 200
    done = await ada("POST", path, first)

    assert (done.status, done.json["outcome"], done.json["version"]) == (200, "updated", 2)
    second = {**first, "agent": others, "content": "The form has nine fields"}
    late = await eve("POST", path, second)
    assert (late.status, late.json["outcome"], late.json["version"]) == (409, "conflict", 2)
    assert late.json["content"] == "The form has three fields"
    assert late.json["own_content"] == "The form has nine fields"
    assert (await eve("POST", path, {**second, "agent": own})).status == 404
    for agent, code in (
        (await registered(eve, type="custom_pipeline"), "missing_capability"),
        (await registered(eve), "missing_permission"),
    ):
        refused = await eve("POST", path, {**second, "agent": agent})
        assert (refused.status, refused.code) == (403, code)


async def test_a_share_is_ended_by_its_person_and_by_the_owner_of_the_pool(
    program: Program, ada: ApiClient, eve: ApiClient
) -> None:
    own, others = await registered(ada), await registered(eve)
    pools, request = services(program).pools, (await ada.in_private()).request
    pool = await pools.create_pool(request, "auth refactor", SharedScope.TEAM)
    for agent in (own, others):
        await joined(program, (ada, eve), pool, agent)
    path, owner = f"/brain/pools/{pool.id}/unshare", (await eve.in_private()).request
    first = await wrote(ada, own, "The form has two fields")
    await pools.share_memory(request, pool.id, first, own, SharedScope.TEAM)
    assert (await eve("POST", path, {"memory": first})).status == 404, "somebody else's"
    assert (await ada("POST", path, {"memory": first})).status == 204
    assert (await ada("POST", path, {"memory": first})).status == 404
    second = await wrote(eve, others, "The list has two fields")
    for caller in (eve, ada):
        await pools.share_memory(owner, pool.id, second, others, SharedScope.TEAM)
        assert (await caller("POST", path, {"memory": second})).status == 204


async def test_a_session_is_started_used_and_ended_by_its_person(
    ada: ApiClient, eve: ApiClient
) -> None:
    agent = await registered(ada)
    started = await ada("POST", f"/brain/agents/{agent}/sessions")
    assert (started.status, started.json["agent"]) == (201, agent)
    path = f"/brain/sessions/{started.json['id']}"
    assert (await eve("POST", f"/brain/agents/{agent}/sessions")).status == 404
    assert [(await eve(method, path)).status for method in ("POST", "DELETE")] == [404, 404]
    assert (await ada("POST", path)).json == started.json
    assert [(await ada("DELETE", path)).status for _ in range(2)] == [204, 404]
    assert (await ada("POST", path)).status == 404


async def test_operators_see_numbers_of_everybody_without_names_and_texts(
    ada: ApiClient, eve: ApiClient, olga: ApiClient
) -> None:
    agent = await registered(ada, name="A private name")
    await wrote(ada, agent, "The form has two fields")
    (shown,) = await listed(olga, of="all")
    assert (shown["id"], shown["name"], shown["memories"]) == (agent, None, 1)
    assert (await olga("GET", f"/brain/agents/{agent}")).status == 404
    refused = await eve("GET", "/brain/agents", params={"of": "all"})
    assert refused.status == 404


async def test_an_unknown_id_is_answered_like_that_of_another_person(
    ada: ApiClient, eve: ApiClient
) -> None:
    agent = await registered(ada)

    async def asked(id_: str) -> list[ApiResponse]:
        paths = (f"/brain/agents/{id_}", f"/brain/pools/{id_}")
        return [await eve(method, path) for method in ("GET", "DELETE") for path in paths]

    answers = [
        [(one.status, one.code, one.json["error"]["message"]) for one in await asked(id_)]
        for id_ in (agent, UNKNOWN, agent[:8])
    ]
    assert answers[0] == answers[1] == answers[2]
