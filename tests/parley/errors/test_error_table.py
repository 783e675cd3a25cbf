"""The same case is answered in the same way on every face, as the one table says."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.errors import (
    BadInput,
    ConfigurationError,
    LibraryMissing,
    MemoryUnavailable,
    NotFound,
)
from gateway.message import Place
from gateway.people import Audience
from gateway.ports.error_codes import INVALID, STATUSES, code_of, exit_status_of, status_of
from memory.model.record import Draft, Kind
from memory.model.scope import NO_PROJECT
from parley.http.api.errors import CallRefused
from tests.parley.cli.kit import parley
from tests.parley.console.kit import Console
from tests.parley.http.api.kit import ApiResponse

ROOT = Path(__file__).parents[3]
FACES = ("parley/http", "parley/console", "memory")
MEMORY = "mem-00000000-0000-0000-0000-000000000000"
REVIEW = "rev-00000000-0000-0000-0000-000000000000"
LINE = {"document": "bible", "text": "We sell tea.", "based_on": 0}
AT_HOME = Place("web", "main", "ada", Audience.DIRECT)


class Faces(Struct, frozen=True):
    """The faces of a running program, for one person."""

    console: Console
    name: str = "ada"

    async def rest(self, method: str, path: str, body: object = None) -> ApiResponse:
        """The answer to a token."""
        return await self.console.program.api_client(self.name)(method, path, body)

    async def page_api(self, path: str, body: object) -> ApiResponse:
        """The answer of the console to a program, in the session of the person."""
        return await self.console.signed_in(self.name)("POST", f"/console{path}", body)

    async def page(self, path: str, **fields: str) -> int:
        """The status of the page after a form."""
        return (await (await self.console.visitor(self.name)).post(path, fields)).status

    async def tool(self, name: str, /, **arguments: object) -> str:
        """The sentence with which a tool fails."""
        return str((await self._mcp("tools/call", name=name, arguments=arguments))["result"]
                   ["content"][0]["text"])  # fmt: skip

    async def resource(self, uri: str) -> str:
        """The sentence with which a resource is refused."""
        return str((await self._mcp("resources/read", uri=uri))["error"]["message"])

    async def chat(self, line: str) -> str:
        """The sentence with which a command is refused."""
        command, _, arguments = line.removeprefix("/").partition(" ")
        client, commands = self.console.program.api_client(self.name), self.console.app.memory
        assert commands.commands is not None
        with pytest.raises(BadInput) as refused:
            await commands.commands.run(command, arguments, client.caller(AT_HOME))
        return str(refused.value)

    async def _mcp(self, method: str, **params: Any) -> Any:
        program, revision = self.console.program, "2026-07-28"
        meta: dict[str, object] = {f"io.modelcontextprotocol/{name}": value for name, value in (
            ("protocolVersion", revision), ("clientCapabilities", {}))}  # fmt: skip
        headers = {
            "Authorization": f"Bearer {program.token(self.name)}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": revision,
            "Mcp-Method": method,
            "Mcp-Name": str(params.get("name") or params.get("uri")),
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        url = f"{program.app.local.base_url}/mcp"
        async with program.http.post(url, json=body, headers=headers) as answer:
            return json.loads((await answer.text()).rpartition("data: ")[2])


@pytest.fixture
def ada(console: Console) -> Faces:
    return Faces(console)


async def test_a_project_that_nobody_chose_is_one_case(ada: Faces) -> None:
    answers = [
        await ada.rest("GET", "/brain/bible"),
        await ada.rest("GET", "/brain/bible/versions"),
        await ada.rest("PUT", "/brain/bible", {"content": "We sell tea."}),
        await ada.rest("POST", "/brain/bible/restore", {"version": 1}),
        await ada.rest("POST", "/brain/memories", {"content": "We open.", "scope": "project"}),
        await ada.page_api("/memory/lines/add", LINE),
        await ada.page_api("/memory/versions/undo", {"document": "bible", "based_on": 1}),
        await Faces(ada.console, "olga").page_api("/memory/status/sync", {}),
    ]
    assert {(one.status, one.code) for one in answers} == {(409, "no_project")}
    assert await ada.page("/memory/lines/add", document="bible", text="x", based_on="0") == 409
    assert await ada.chat("/bible We sell tea.") == NO_PROJECT.english
    assert await ada.resource("memory://documents/bible") == NO_PROJECT.english
    told = await ada.tool("update_customer_brain", target="bible", content="We sell tea.")
    assert told == NO_PROJECT.english
    assert "project" in await ada.tool("create_pool", name="tea", scope="PROJECT")


async def test_something_that_does_not_exist_is_one_case(ada: Faces) -> None:
    answers = [
        await ada.rest("GET", f"/brain/memories/{MEMORY}"),
        await ada.rest("DELETE", f"/brain/memories/{MEMORY}"),
        await ada.rest("GET", "/brain/soul"),
        await ada.rest("POST", "/brain/soul/restore", {"version": 7}),
        await ada.rest("POST", f"/brain/reviews/{REVIEW}/reject", {}),
        await ada.page_api(f"/memory/entries/{MEMORY}/confirm", {}),
        await ada.page_api(f"/memory/reviews/{REVIEW}/reject", {}),
        await ada.page_api("/memory/versions/restore",
                           {"document": "soul", "version": 7, "based_on": 0}),
        await ada.page_api("/memory/versions/undo", {"document": "soul", "based_on": 0}),
    ]  # fmt: skip
    assert {(one.status, one.code) for one in answers} == {(404, "not_found")}
    assert await ada.page(f"/memory/reviews/{REVIEW}/reject") == 404
    assert await ada.chat("/soul undo") == "There is no earlier version of the preferences."
    assert "no memory" in (await ada.resource(f"memory://memories/{MEMORY}")).lower()
    assert "no memory" in (await ada.tool("memory_delete", id=MEMORY)).lower()


async def test_memory_that_the_person_turned_off_is_one_case(ada: Faces) -> None:
    handle = await ada.console.program.api_client("ada").in_private()
    kept = await handle.write.remember(Draft("I like tea.", Kind.FACT))
    await handle.privacy.choose(memory=False)
    edit = {"text": "I like coffee."}
    answers = [
        await ada.rest("POST", "/brain/memories", {"content": "I like coffee."}),
        await ada.page_api(f"/memory/entries/{kept.memory_id}/edit", edit),
    ]
    assert {(one.status, one.code) for one in answers} == {(409, "memory_off")}
    assert await ada.page(f"/memory/entries/{kept.memory_id}/edit", **edit) == 409
    assert "off" in await ada.tool("memory_store", content="I like coffee.", type="fact")


async def test_a_memory_that_is_stored_already_is_one_case(ada: Faces) -> None:
    handle = await ada.console.program.api_client("ada").in_private()
    await handle.write.remember(Draft("I like tea.", Kind.FACT))
    other = await handle.write.remember(Draft("My shoes have the size 44.", Kind.FACT))
    answers = [
        await ada.rest("POST", "/brain/memories", {"content": "I like tea."}),
        await ada.page_api(f"/memory/entries/{other.memory_id}/edit", {"text": "I like tea."}),
    ]
    assert {(one.status, one.code) for one in answers} == {(409, "duplicate")}


async def test_a_change_of_an_older_version_is_one_case(ada: Faces) -> None:
    await ada.rest("PUT", "/brain/soul", {"content": "Short answers."})
    stale = {"document": "soul", "text": "Long answers.", "based_on": 0}
    answers = [
        await ada.rest("PUT", "/brain/soul", {"content": "Long answers.", "based_on": 0}),
        await ada.rest("POST", "/brain/soul/restore", {"version": 1, "based_on": 0}),
        await ada.page_api("/memory/lines/add", stale),
        await ada.page_api("/memory/versions/restore",
                           {"document": "soul", "version": 1, "based_on": 0}),
    ]  # fmt: skip
    assert {(one.status, one.code, one.where) for one in answers} == {
        (409, "conflict", "body.based_on")
    }


async def test_a_limit_that_is_reached_is_one_case(ada: Faces) -> None:
    assert (await ada.rest("POST", "/brain/agents", {"type": "human"})).status == 201
    full = await ada.rest("POST", "/brain/agents", {"type": "human"})
    assert (full.status, full.code) == (409, "full")
    assert await ada.tool("register_agent", agent_type="human") == full.json["error"]["message"]


async def test_the_command_line_ends_as_the_table_says(console: Console, tmp_path: Path) -> None:
    database = console.program.settings.database.url
    document = {"model": {"provider": "offline"}, "database": {"url": database}}
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump(document), "utf-8")
    given = ("--config", "parley.yaml", "--person", "web:main:ada")
    handle = await console.program.api_client("ada").in_private()
    await handle.write.remember(Draft("I like tea.", Kind.FACT))
    missing = await parley("memory", "review", *given, "--reject", REVIEW, cwd=tmp_path)
    assert missing.status == exit_status_of(NotFound()) == 1
    assert "decided already" in missing.err
    (tmp_path / "parley.yaml").write_text("nonsense: 1\n", "utf-8")
    unusable = await parley("memory", "review", *given, cwd=tmp_path)
    assert unusable.status == exit_status_of(ConfigurationError()) == 3
    assert (await parley("memory", "review", "--wrong", cwd=tmp_path)).status == 2


def test_each_error_has_its_code_status_and_exit_status() -> None:
    rows = {
        (BadInput("x"), "refused", 422, 1),
        (BadInput("x", code="no_project"), "no_project", 409, 1),
        (NotFound("x"), "not_found", 404, 1),
        (MemoryUnavailable("x"), "memory_unavailable", 503, 1),
        (StoreUnavailable("x"), "unavailable", 503, 1),
        (ConfigurationError("x"), "failed", 500, 3),
        (LibraryMissing("place", ["x"], "extra"), "refused", 422, 3),
        (ValueError("a defect"), "failed", 500, 1),
    }
    for error, code, status, ended in rows:
        assert (code_of(error), status_of(code_of(error)), exit_status_of(error)) == (
            code,
            status,
            ended,
        )


def test_each_code_in_the_program_is_in_the_table() -> None:
    """A code that is misspelt, or new and without a status, would be answered as invalid input."""
    used = set(_codes())
    assert len(used) > 30
    assert used - set(STATUSES) == set()
    assert set(STATUSES.values()) >= {400, 401, 403, 404, 409, 413, 415, INVALID, 429, 503}
    assert CallRefused("quota", "").status == 409


def _codes() -> list[str]:
    """The constant codes of refusals in the sources."""
    found = []
    for folder in FACES:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    found += _codes_of(node)
    return found


def _codes_of(call: ast.Call) -> list[str]:
    name = getattr(call.func, "id", "")
    given = [one.value for one in call.keywords if one.arg == "code" and _is_error(name)]
    if name in ("CallRefused", "RefusedWithResult"):
        given += call.args[:1]
    return [
        one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]


def _is_error(name: str) -> bool:
    return name in ("BadInput", "NotFound", "Denied", "CallRefused", "RefusedWithResult")
