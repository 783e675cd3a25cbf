"""The whole program, walked by callers of every kind: what each may do is what its declaration
says, and nothing is served without one."""

import json
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from gateway.immutable import replace
from gateway.message import MessageReceived, Place
from gateway.people import Audience
from gateway.ports.clock import SystemClock
from gateway.ports.rights import (
    PERSONS_ONLY,
    READS_ONLY,
    WRITES_ONLY,
    Credential,
    Proof,
    missing,
)
from memory.mcp.resources import LISTED, TEMPLATES
from memory.mcp.server import ALL_TOOLS, PROMPTS
from tests.parley.rights.callers import REFUSED as STATUSES
from tests.parley.rights.callers import CallerOf, face_of
from tests.parley.rights.conftest import PEOPLE, Program
from tests.parley.rights.walk import Found, Undeclared, routes_of
from tests.support.messages import message
from tests.support.waiting import eventually

pytestmark = pytest.mark.xdist_group("rights")

PAGE = Path(__file__).parents[3] / "docs/reference/rights.md"
ITEM = "0123456789abcdef"
UNKNOWN = "walk"
"""A parameter that nothing takes: a request that passes the gate fails at it."""
OWN_ANSWERS = {"POST /console/sign-in": 401, "POST /console/sign-out": 403, "POST /log-in": 401}
"""What is open to everybody and itself refuses a wrong login link, or a form of another session."""
WEB_COOKIE = "/chat/api/"
"""The page of the chat has a cookie of its own behind the access to the local pages."""
WORDS = {
    Credential.SESSION: "session",
    Credential.TOKEN: "token",
    Credential.AGENT: "agent",
    Credential.LOCAL: "local",
    Credential.NONE: "everybody",
}
"""The credentials as the documentation calls them."""
MCP_VERSION = "2026-07-28"
LACKS = "This agent lacks the capability "
GATE = (READS_ONLY, WRITES_ONLY, PERSONS_ONLY, LACKS)
"""The texts of the one check of the MCP servers."""


async def loaded(program: Program) -> list[Found]:
    """The routes of the running program, once everything is loaded."""
    for path in ("/console/sign-in", "/api/v1/openapi.json", "/api/v1/console/overview"):
        async with program.http.get(program.base + path) as answer:
            await answer.read()
    return list(routes_of(program.app.local.app))


async def status_of(program: Program, found: Found, caller: CallerOf) -> tuple[int, bool]:
    """The status of a request that changes nothing, and True if the gate of the pages refused."""
    path = found.path
    for part in ("{id}", "{name}"):
        path = path.replace(part, ITEM)
    face, more = face_of(path), dict[str, Any]()
    headers = dict(caller.headers)
    if face == "console" and found.method == "POST":
        more["data"] = {UNKNOWN: "1", **({"csrf": caller.form} if caller.form else {})}
    elif found.method in ("POST", "PUT"):
        more["json"] = {UNKNOWN: 1}
    if face == "console api" and caller.form:
        headers["X-CSRF-Token"] = caller.form
    url = f"{program.base}{path}?{UNKNOWN}=1"
    async with program.http.request(
        found.method, url, headers=headers, allow_redirects=False, **more
    ) as answer:
        return answer.status, "WWW-Authenticate" in answer.headers


@pytest.mark.asyncio(loop_scope="module")
async def test_each_route_answers_each_caller_as_declared(
    program: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    found, callers = await loaded(program), await program.callers()
    wrong, tried, refused = list[str](), 0, Counter[str]()
    for route in found:
        for caller in callers:
            if route.name == "POST /console/sign-out" and caller.kind == "session":
                continue  # which would end it
            expected = caller.expected(face_of(route.path), route.method, route.allowed)
            status, by_gate = await status_of(program, route, caller)
            tried += 1
            refused[face_of(route.path)] += status in STATUSES
            own = OWN_ANSWERS.get(route.name) == status or (
                WEB_COOKIE in route.path and not by_gate
            )
            if expected != (status if status in STATUSES and not (own and not expected) else 0):
                wrong.append(f"{caller.name}: {route.name}: {status}, not {expected or 'let in'}")
            assert status < 500, (caller.name, route.name, status)
    assert wrong == []
    with capsys.disabled():
        print(  # noqa: T201 - the figures of the walk
            f"\n{len(found)} routes, {len(callers)} callers, {tried} requests, "
            f"{refused.total()} refused: {dict(refused)}"
        )
    assert {face_of(one.path) for one in found} == {"pages", "console", "console api", "api"}


async def rpc(
    program: Program, headers: Mapping[str, str], method: str, **params: Any
) -> tuple[int, Any]:
    """The status and the message of a request to the MCP servers."""
    sent = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MCP_VERSION,
        "Mcp-Method": method,
        **({"Mcp-Name": str(params["name"])} if "name" in params else {}),
        **({"Mcp-Name": str(params["uri"])} if "uri" in params else {}),
        **headers,
    }
    meta = {
        "io.modelcontextprotocol/protocolVersion": MCP_VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    async with program.http.post(f"{program.base}/mcp", json=body, headers=sent) as answer:
        text = await answer.text()
    lines = [line for line in text.splitlines() if line.startswith("data:")]
    shown = lines[-1].removeprefix("data:") if lines else text
    return answer.status, json.loads(shown) if shown.startswith(("{", " {")) else None


@pytest.mark.asyncio(loop_scope="module")
async def test_each_tool_resource_and_prompt_answers_each_caller_as_declared(
    program: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    callers = await program.callers()
    owner = next(one for one in callers if one.name == "owner token")
    listed = (await rpc(program, owner.headers, "tools/list"))[1]["result"]["tools"]
    declared = {tool.name: tool.allowed for tool in ALL_TOOLS}
    assert sorted(tool["name"] for tool in listed) == sorted(declared)
    resources = (await rpc(program, owner.headers, "resources/list"))[1]["result"]["resources"]
    answer = (await rpc(program, owner.headers, "resources/templates/list"))[1]["result"]
    known = {one.uri: one.allowed for one in (*LISTED, *TEMPLATES)}
    uris = [one["uri"] for one in resources]
    uris += [one["uriTemplate"] for one in answer["resourceTemplates"]]
    assert sorted(uris) == sorted(known)
    wrong, tried, refused = list[str](), 0, 0
    calls = [("tools/call", {"name": n, "arguments": {UNKNOWN: 1}}, declared[n]) for n in declared]
    calls += [("resources/read", {"uri": u.replace("{id}", ITEM)}, known[u]) for u in uris]
    prompts = (await rpc(program, owner.headers, "prompts/list"))[1]["result"]["prompts"]
    calls += [("prompts/get", {"name": one["name"]}, PROMPTS) for one in prompts]
    for method, params, allowed in calls:
        for caller in callers:
            proof = caller.proof("api")
            status, told = await rpc(program, caller.headers, method, **params)
            by_gate = any(text in json.dumps(told) for text in GATE)
            tried += 1
            refused += status in STATUSES or by_gate
            may = proof is not None and not missing(allowed, proof)
            if (status == 401) != (proof is None) or by_gate != (proof is not None and not may):
                wrong.append(f"{caller.name}: {params}: {status} {told}")
    assert wrong == []
    with capsys.disabled():
        print(  # noqa: T201 - the figures of the walk
            f"\n{len(declared)} tools, {len(uris)} resources and {len(prompts)} prompts, "
            f"{len(callers)} callers, "
            f"{tried} requests, {refused} refused"
        )


@pytest.mark.asyncio(loop_scope="module")
async def test_each_command_answers_each_role_as_declared(
    program: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    commands, refused = program.app.services.commands, 0
    store = program.app.storage.stores.traces
    for name, role in PEOPLE.items():
        place = Place("web", "main", name, Audience.DIRECT)
        for spec in commands:
            id_ = f"{name}-{spec.name}"
            said = message(f"/{spec.name}", message_id=id_, author=name, at=place)
            said = replace(said, timestamp=SystemClock().now())
            await program.app._intake(MessageReceived(id_, said))
            await eventually(partial(store.find, id_))
            (trace,) = await store.find(id_)
            denied = [one.reason for one in trace.decisions if one.stage == "command"]
            needed = missing(spec.allowed, Proof(Credential.CHAT, role))
            assert denied == ([f"needs_{needed}"] if needed else []), (name, spec.name)
            refused += bool(denied)
    assert refused
    with capsys.disabled():
        print(f"\n{len(commands)} commands, {len(PEOPLE)} roles, {refused} refused")  # noqa: T201 - the figures of the walk


@pytest.mark.asyncio(loop_scope="module")
async def test_webhooks_need_the_proof_of_their_platform(program: Program) -> None:
    paths = program.app.webhooks.paths
    assert sorted(paths) == ["/webhook/slack", "/webhook/telegram", "/webhook/whatsapp"]
    tokens = [caller.headers for caller in await program.callers()]
    for path, proof in paths.items():
        assert proof
        for headers in (*tokens, {proof: "wrong"}):
            url = program.app.webhook_url + path
            async with program.http.post(url, data=b"{}", headers=headers) as answer:
                assert answer.status in STATUSES, (path, headers)


@pytest.mark.asyncio(loop_scope="module")
async def test_the_documentation_names_everything_with_its_declaration(program: Program) -> None:
    text = PAGE.read_text("utf-8")
    for route in await loaded(program):
        if face_of(route.path) == "console api" or route.path.startswith("/console/static/"):
            continue
        if route.method == "HEAD":
            continue
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{route.name}` |")]
        words = [WORDS[one] for one in Credential if one in route.allowed.by]
        assert [word for word in WORDS.values() if f" {word}" in row.split("|")[2]] == words
    for name in (*(tool.name for tool in ALL_TOOLS), *(one.uri for one in (*LISTED, *TEMPLATES))):
        assert f"`{name}`" in text
    for spec in program.app.services.commands:
        assert f"`/{spec.name}`" in text


def test_what_has_no_declaration_is_found() -> None:
    def undeclared(_: object) -> Response:
        return Response()

    with pytest.raises(Undeclared, match="/late"):
        list(routes_of(Starlette(routes=[Route("/late", undeclared)])))
