"""Tokens of people in the hands of somebody else: what only the person may do, and what a token
that only reads may not."""

import json
from collections.abc import Mapping
from typing import Any, Final

from gateway.ports.rights import TokenScope
from tests.attacks.mcp_calls import asked
from tests.attacks.scene import Scene, hold
from tests.attacks.steps import does, plants, still_there
from tests.attacks.table import Attack

THIEF: Final = "thief of a token"
OWN = "keep control with a stolen token"
ERASE = "erase a person with their token"
CHANGE = "change something with a token that only reads"
REBIND = "use the API through a page of another host"
ONE = ("telegram",)
SENTENCE = "erase everything"
READS = frozenset({TokenScope.READ})

Tried = tuple[str, Mapping[str, object]]


async def _console(scene: Scene, token: str, path: str, fields: Mapping[str, object]) -> None:
    """Post to the console with a token: as JSON, and as a form of the page."""
    body, headers = json.dumps(fields), {"Content-Type": "application/json"}
    json_path = f"/api/v1/console{path}"
    status, _ = await scene.http("POST", json_path, token=token, data=body, headers=headers)
    hold(status == 403, f"POST {json_path}: {status} with a token")
    form = {**{name: str(value) for name, value in fields.items()}, "csrf": "0" * 64}
    status, _ = await scene.http("POST", f"/console{path}", token=token, data=form)
    hold(status == 401, f"POST /console{path}: {status} with a token")


async def _adds_an_owner(scene: Scene) -> None:
    scene.member("mallory")
    scene.owner()
    token, owners = scene.token("oona"), scene.stage.app.services.policies.roles.owners
    change = {"key": "access.owners", "value": scene.filled("telegram:$mallory"), "based_on": 0}
    for path, fields in (
        ("/configuration/change", change),
        ("/configuration/choices", {"key": "access.owners", "based_on": 0}),
        ("/configuration/revert", {"key": "access.owners", "based_on": 0}),
        ("/configuration/restore", {"based_on": 0}),
        ("/configuration/undo", {"based_on": 0}),
        ("/health/backup", {}),
    ):
        await _console(scene, token, path, fields)
    hold(scene.stage.app.services.policies.roles.owners == owners, "the owners are others")


async def _uses_powers(scene: Scene) -> None:
    """An operator's token on what reaches other people, or ends what the operator has."""
    await scene.say("ada", "my $mark is private")
    scene.operator()
    token = scene.token("olga")
    status, text = await scene.http("GET", "/api/v1/console/conversations", token=token)
    hold(status == 200, f"the list answers {status}, so that nothing was tried")
    turn = json.loads(text)["rows"][0]["id"]
    person = str(scene.person_id("ada"))
    tried: tuple[Tried, ...] = (
        ("/access/requests/0123456789abcdef/approve", {}),
        ("/access/requests/0123456789abcdef/reject", {}),
        ("/access/approved/revoke", {"person": person}),
        ("/access/tokens/revoke", {"name": "laptop"}),
        (f"/conversations/{turn}/take-over", {"name": "Olga"}),
        (f"/conversations/{turn}/answer", {"text": "I am Olga"}),
        (f"/conversations/{turn}/break-glass", {"reason": "a real emergency", "name": "Olga"}),
        ("/private-memory/ask", {"person": person, "memory": "abcdef", "reason": "x" * 12}),
        ("/account/end-other-sessions", {}),
        ("/memory/visibility/choose", {"memory": "off"}),
        ("/memory/accounts/unlink", {}),
        ("/memory/accounts/code", {}),
        ("/memory/tokens/create", {"name": "mine"}),
        ("/outbox/send-again", {}),
        ("/health/check", {}),
    )
    for path, fields in tried:
        await _console(scene, token, path, fields)
    taken = await scene.stage.app.storage.takeovers.of(f"telegram/main/{person}")
    hold(taken is None, "the conversation was taken over")
    _, text = await scene.http("GET", f"/api/v1/console/conversations/{turn}", token=token)
    hold(scene.mark not in text, "private text was read")


async def _erases(scene: Scene) -> None:
    """Each way to delete, with the person's own token and the sentence of the page."""
    token = scene.token("ada")
    for way in ({"confirm": SENTENCE}, {"confirm": SENTENCE.upper()}):
        await _console(scene, token, "/memory/data/erase", way)
    for method, path in (
        ("DELETE", ""), ("DELETE", "/memories"), ("POST", "/erase"), ("DELETE", "/export"),
        ("POST", "/export"), ("DELETE", "/person"), ("DELETE", "/choices"),
    ):  # fmt: skip
        status, _ = await scene.api(method, path, {"confirm": SENTENCE}, by="ada")
        hold(status in (400, 404, 405), f"{method} {path}: {status}")
    status, _ = await scene.http(
        "POST", "/api/v1/console/memory/data", token=token,
        headers={"X-HTTP-Method-Override": "DELETE"},
    )  # fmt: skip
    hold(status == 405, f"an overridden method answers {status}")
    for name in ("erase", "privacy", "erase_personal_data"):
        _, told = await asked(scene, "tools/call", {"name": name, "arguments": {}}, by="ada",
                              name=name)  # fmt: skip
        hold("result" not in (told or {}), f"there is a tool {name}")


async def _writes(scene: Scene) -> None:
    """Every change through the API, the console and MCP with a token that only reads."""
    token = scene.token("ada", scopes=READS)
    status, _ = await scene.http("GET", "/api/v1/brain/memories", by="ada", token=token)
    hold(status == 200, f"the token reads nothing ({status}), so that nothing was tried")
    changes: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("POST", "/memories", {"content": "I am $mark"}),
        ("DELETE", "/memories/$ada_record", {}),
        ("PUT", "/soul", {"content": "$mark"}),
        ("POST", "/soul/restore", {"version": 1}),
        ("PUT", "/choices", {"memory": False}),
        ("POST", "/import", {"file": "{}"}),
        ("POST", "/agents", {"type": "claude_code"}),
        ("POST", "/reviews/x/approve", {}),
        ("DELETE", "/pools/x", {}),
        ("POST", "/handoffs/x/reject", {"reason": "x"}),
    )
    for method, path, body in changes:
        status, _ = await scene.api(method, path, body, by="ada", token=token)
        hold(status == 403, f"{method} {path}: {status}")
    await _console(scene, token, "/memory/lines/add", {"document": "soul", "text": "x"})
    for name, arguments in (
        ("memory_store", {"type": "fact", "content": "I am $mark"}),
        ("memory_delete", {"memory_id": "$ada_record"}),
        ("update_customer_brain", {"document": "soul", "content": "$mark"}),
        ("set_task_context", {"task": "$mark"}),
        ("register_agent", {"agent_type": "claude_code"}),
        ("create_pool", {"name": "mine", "scope": "team"}),
        ("leave_pool", {"pool_id": "x", "agent_id": "x"}),
    ):
        params = {"name": name, "arguments": arguments}
        _, told = await asked(scene, "tools/call", params, by="ada", token=token, name=name)
        answer = json.dumps(told)
        hold("only reads" in answer, f"{name} with a token that only reads: {answer[:200]}")
    hold(scene.mark not in json.dumps(await scene.kept("ada"), default=str).replace(
        scene.words.get("ada_record", "-"), ""), "something was written")  # fmt: skip


async def _rebinds(scene: Scene) -> None:
    """A page whose name leads to this machine, in the browser of somebody with a token."""
    token = scene.token("ada")
    paths = ("/api/v1/brain", "/api/v1/console/overview", "/console/sign-in", "/api/events")
    for host in ("evil.example", "localhost.evil.example:8081", "10.0.0.1", "127.0.0.1.nip.io"):
        for path in paths:
            more = {"Host": host, "X-Forwarded-Host": "localhost"}
            status, _ = await scene.http("GET", path, by="ada", token=token, headers=more)
            hold(status in (400, 403), f"{path} answers {status} for the host {host}")


TOKENS = (
    Attack("token-adds-an-owner", THIEF, OWN, ONE, (does(_adds_an_owner),)),
    Attack("token-uses-powers", THIEF, OWN, ONE, (does(_uses_powers),)),
    Attack("token-erases", THIEF, ERASE, ONE, (plants(), does(_erases), still_there())),
    Attack("token-reads-only", THIEF, CHANGE, ONE, (plants(), does(_writes), still_there())),
    Attack("token-strange-host", THIEF, REBIND, ONE, (plants(), does(_rebinds))),
)
