"""The MCP endpoint: pages of other sites, broken messages, answers and states of other people."""

import json
from typing import Any

from tests.attacks.mcp_calls import VERSION, agent_of, asked, tool
from tests.attacks.scene import Scene, hold
from tests.attacks.spying import watched_loop
from tests.attacks.steps import does, plants, still_there
from tests.attacks.table import Attack
from tests.e2e.harness import by_bot

READ = "read another person's memories over MCP"
DELETE = "delete another person's memory over MCP"
BREAK = "stop the program, or hold it up, over MCP"
ONE = ("telegram",)
HELD_SECONDS = 0.3


async def _other_sites(scene: Scene) -> None:
    """A page in the person's browser, with their token, from other origins and hosts."""
    token = scene.token("ada")
    port = scene.stage.app.local.port
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": f"http://127.0.0.1.evil.example:{port}"},
        {"Origin": f"http://localhost:{port + 1}"},
        {"Origin": f"http://user@localhost:{port}@evil.example"},
        {"Host": "evil.example", "Origin": "http://evil.example"},
        {"Host": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": f"http://localhost:{port + 1}"},
    ):
        status, _ = await asked(scene, "tools/list", {}, token=token, headers=headers)
        hold(status in (400, 403, 421), f"{headers} is answered with {status}")


async def _broken(scene: Scene) -> None:
    """Deep, huge and broken messages: refused at once, and the next request is served."""
    scene.member("mallory")
    await tool(scene, "memory_search", query="kite")  # the servers are built by the first request
    token = scene.token("mallory")
    deep = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + '{"a":' * 40_000
    bodies = (
        deep + "1" + "}" * 40_001,
        "[" * 100_000 + "]" * 100_000,
        "x" * 300_000,
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "more": "y" * 300_000}),
        "[" + ",".join(['{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 5_000) + "]",
        '{"jsonrpc":"2.0","id":' + "9" * 4_000 + ',"method":"ping"}',
        "null", "", "\ufffd", '{"jsonrpc":"1.0"}',
    )  # fmt: skip
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2025-06-18",
    }
    with watched_loop() as loop:
        for body in bodies:
            status, _ = await scene.http("POST", "/mcp", token=token, data=body, headers=headers)
            hold(status < 500, f"{body[:40]!r} is answered with {status}")
    hold(loop.longest < HELD_SECONDS, f"the event loop was held up for {loop.longest:.2f} s")
    status, _ = await asked(scene, "tools/list", {})
    hold(status == 200, "the next request is not served")


async def _guessed(scene: Scene) -> None:
    """Resources of another person by their ids, and paths that lead elsewhere."""
    record = scene.words["ada_record"]
    uris = (
        f"memory://memories/{record}",
        f"memory://memories/{record[:12]}",
        "memory://memories/..%2F..%2Fetc%2Fpasswd",
        f"memory://memories/../{record}",
        f"memory://documents/soul?person={scene.person_id('ada')}",
        "memory://documents/../memories",
        "memory://handoffs/" + "0" * 32,
        "memory://events/-1",
        "file:///etc/passwd",
        f"http://localhost:{scene.stage.hits.port}/{scene.tag}",
        "memory://memories/" + "x" * 5_000,
    )
    for uri in uris:
        status, message = await asked(scene, "resources/read", {"uri": uri}, name=uri[:200])
        hold(status in (200, 400, 404), f"{uri[:60]} is answered with {status}")
        hold("result" not in (message or {}), f"{uri[:60]} was read")


async def _hidden_middle(scene: Scene) -> None:
    """Somebody has Ada keep, delete or share a text whose harm is in the middle of much else."""
    scene.member("ada")
    agent = await agent_of(scene, "ada")
    harm = f"pay invoices to account {scene.mark}"
    text = " ".join(["the notes begin here"] * 21 + [harm] + ["and they end here"] * 23)
    await scene.command("ada", "remember", text)
    record = next(one.id for one in await scene.records("ada") if scene.mark in one.content)
    pool = await tool(scene, "create_pool", "ada", name=f"pool {scene.tag}", scope="team")
    share = {"pool_id": pool["pool_id"], "agent_id": agent, "memory_id": record, "scope": "user"}
    await tool(
        scene, "join_pool", "ada", pool_id=share["pool_id"], agent_id=agent, permission="write"
    )
    for name, arguments in (("memory_delete", {"id": record}), ("share_memory_to_scope", share)):
        for asks in (True, False):
            params = {"name": name, "arguments": arguments}
            _, message = await asked(
                scene, "tools/call", params, by="ada", name=name, asks=asks
            )  # fmt: skip
            shown = json.dumps((message or {}).get("result"))
            hold(harm in shown, f"the question of {name} hides the middle of what it asks about")
    sim, room = scene.sim, scene.direct("ada")
    before = len(by_bot(sim.shown(room)))
    await scene.command("ada", "forget", record)
    question = " ".join(one.text for one in by_bot(sim.shown(room))[before:])
    hold(harm in question or "characters are not shown" in question, "/forget hides a part")


async def _states(scene: Scene) -> None:
    """The question about a deletion was put to Ada; Mallory answers it, or forges its state."""
    record = scene.words["ada_record"]
    scene.member("mallory")

    async def call(by: str, memory: str, **more: Any) -> Any:
        params = {"name": "memory_delete", "arguments": {"id": memory}, **more}
        return await asked(
            scene, "tools/call", params, by=by, name="memory_delete", asks=True
        )  # fmt: skip

    _, question = await call("ada", record)
    result = question["result"]
    hold(result["resultType"] == "input_required", "the person was not asked")
    (name,) = result["inputRequests"]
    yes = {name: {"action": "accept", "content": {"confirm": True}}}
    state = result["requestState"]
    await scene.api("POST", "/memories", {"content": f"I own {scene.mark}"})
    own = next(one.id for one in await scene.records("mallory") if scene.mark in one.content)
    forged = (state, state[:-2] + "xx", "", "x" * 10_000, state[::-1], VERSION)
    for each in forged:
        for memory in (record, own):
            _, message = await call("mallory", memory, inputResponses=yes, requestState=each)
            done = ((message or {}).get("result") or {}).get("structuredContent") or {}
            hold(not done.get("success"), "a state of another person was accepted")
    _, message = await call("mallory", own, inputResponses=yes)
    done = ((message or {}).get("result") or {}).get("structuredContent") or {}
    hold(not done.get("success"), "an answer without a question was accepted")
    _, other = await asked(
        scene, "tools/call", {"name": "memory_delete", "arguments": {"id": record}},
        by="ada", name="memory_delete",
    )  # fmt: skip
    code = other["result"]["structuredContent"]["confirm"]
    hold(not await tool(scene, "memory_delete", id=record, confirm=code), "the code of another")
    hold(not await tool(scene, "memory_delete", id=own, confirm=code), "the code of another")


MCP = (
    Attack(
        "mcp-hidden-middle",
        "agent of another person",
        "have a person confirm what the question does not show",
        ONE,
        (does(_hidden_middle),),
    ),
    Attack("mcp-other-sites", "page", READ, ONE, (plants(), does(_other_sites))),
    Attack("mcp-broken", "agent of another person", BREAK, ONE, (does(_broken),)),
    Attack(
        "mcp-guessed-resources", "agent of another person", READ, ONE, (plants(), does(_guessed))
    ),
    Attack(
        "mcp-states",
        "agent of another person",
        DELETE,
        ONE,
        (plants(), does(_states), still_there()),
    ),
)
