"""`parley mcp` carries MCP over standard input and output to a running program."""

import asyncio
import codecs
import json
import os
import sys
import tomllib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.subscriptions import ResourceUpdated

from parley.cli.mcp import configuration_of
from tests.parley.http.api.conftest import members, program  # noqa: F401 - fixtures
from tests.parley.http.api.kit import Program
from tests.parley.http.mcp.kit import ERAS, Servers, answering, served
from tests.support.ports import free_port

URL = "http://127.0.0.1:8710/mcp"


@pytest.fixture
async def servers(program: Program) -> AsyncIterator[Servers]:  # noqa: F811 - the fixture
    async with served(program) as running:
        yield running


def environment(token: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "PARLEY_TOKEN": token}


@asynccontextmanager
async def stdio(
    servers: Servers, mode: str, name: str = "ada", answers: str | None = None, agent: str = ""
) -> AsyncIterator[Client]:
    """A client of the SDK that starts `parley mcp`."""
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "parley", "mcp", "--url", servers.url.removesuffix("/mcp")],
        env=environment(servers.program.token(name, agent=agent)),
    )
    ask = None if answers is None else answering(answers, None)
    async with Client(started, mode=mode, cache=None, elicitation_callback=ask) as client:  # type: ignore[arg-type] # a mode is any text there
        yield client


@pytest.mark.parametrize("mode", [*ERAS, "auto"])
async def test_a_client_over_stdio_reaches_its_memory(servers: Servers, mode: str) -> None:
    known = await servers.remember("ada", "The staging cluster runs in Frankfurt.")
    async with stdio(servers, mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("memory_search", {"query": "staging cluster"})
        failed = await client.call_tool("memory_search", {"limit": 0})
        (brief,) = (await client.read_resource("memory://brief")).contents
    assert "memory_store" in names
    assert (result.structured_content or {})["results"][0]["id"] == known
    assert failed.is_error
    assert "Frankfurt" in str(brief)


async def test_an_agent_with_its_own_token_is_itself_over_stdio(servers: Servers) -> None:
    async with stdio(servers, "auto") as client:
        made = await client.call_tool("register_agent", {"agent_type": "custom_pipeline"})
        agent = (made.structured_content or {})["agent_id"]
    async with stdio(servers, "auto", agent=agent) as client:
        own = await client.call_tool("get_agent_info", {})
        refused = await client.call_tool("memory_store", {"type": "fact", "content": "x"})
        other = await client.call_tool("register_agent", {"agent_type": "human"})
    assert (own.structured_content or {})["agent_id"] == agent
    assert "lacks the capability memory_write" in str(refused.content)
    assert "not for an agent of theirs" in str(other.content)


async def test_a_question_reaches_the_person_over_stdio(servers: Servers) -> None:
    known = await servers.remember("ada", "The staging cluster runs in Frankfurt.")
    async with stdio(servers, "auto", answers="accept") as client:
        result = await client.call_tool("memory_delete", {"id": known})
    assert result.structured_content == {"success": True, "id": known}


async def test_events_reach_the_client_over_stdio(servers: Servers) -> None:
    async with (
        stdio(servers, "auto") as client,
        client.listen(resource_subscriptions=["memory://events"]) as stream,
    ):
        await client.call_tool("register_agent", {"agent_type": "claude_code"})
        async with asyncio.timeout(20):
            assert await anext(aiter(stream)) == ResourceUpdated("memory://events")


async def run(
    *arguments: str, token: str = "", send: bytes = b"", more: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """Status, output and errors of the command."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "parley", "mcp", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**environment(token), **(more or {})},
    )
    async with asyncio.timeout(60):
        out, problems = await process.communicate(send)
    assert process.returncode is not None
    return process.returncode, out.decode(), problems.decode()


async def test_lines_that_are_no_messages_get_an_error(servers: Servers) -> None:
    address = servers.url.removesuffix("/mcp")
    lines = (b"{", b"[]", b'"text"', b"[" * 100_000, b"", b'{"id": 7, "method": "ping"}')
    token = servers.program.token("ada")
    status, out, _ = await run("--url", address, token=token, send=b"\n".join(lines) + b"\n")
    answers = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert [answer["error"]["code"] for answer in answers[:4]] == [-32700] * 4
    assert len(answers) == 5
    assert "error" in answers[4]


async def test_a_byte_order_mark_before_a_message_is_passed_over(servers: Servers) -> None:
    """Some programs on Windows write one."""
    address, token = servers.url.removesuffix("/mcp"), servers.program.token("ada")
    ping = b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}\n'
    plain = await run("--url", address, token=token, send=ping)
    marked = await run("--url", address, token=token, send=codecs.BOM_UTF8 + ping)
    assert json.loads(plain[1])["id"] == 7
    assert marked[:2] == plain[:2]


async def test_without_a_running_program_the_command_names_the_next_step() -> None:
    address = f"http://127.0.0.1:{free_port()}"
    status, out, problems = await run("--url", address, token="parley_x.y")
    assert (status, out) == (1, "")
    assert f"No Parley answers on {address}." in problems
    assert "`parley run`" in problems
    assert "Traceback" not in problems


async def test_a_program_that_ends_is_named_in_the_answer(servers: Servers) -> None:
    address = servers.url.removesuffix("/mcp")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "parley", "mcp", "--url", address),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment(servers.program.token("ada")),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    request = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    process.stdin.write(request)
    assert "result" in json.loads(await process.stdout.readline())
    await servers.stop()
    process.stdin.write(request)
    document = json.loads(await process.stdout.readline())
    assert document["id"] == 1
    assert "`parley run`" in document["error"]["message"]
    process.stdin.close()
    assert await process.wait() == 0


@pytest.mark.parametrize(
    ("token", "words"),
    [("", "PARLEY_TOKEN is empty"), ("parley_x.y", "`parley token` prints a new one")],
)
async def test_a_missing_or_wrong_token_is_explained(
    servers: Servers, token: str, words: str
) -> None:
    status, _, problems = await run("--url", servers.url.removesuffix("/mcp"), token=token)
    assert status == 1
    assert words in problems


@pytest.mark.parametrize(
    "address", ["http://parley.example", "ftp://127.0.0.1", "http://127.0.0.1.evil.example"]
)
async def test_a_token_is_not_sent_over_an_open_network(address: str) -> None:
    status, _, problems = await run("--url", address, token="parley_x.y")
    assert status == 1
    assert "https" in problems


def without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def test_the_configuration_of_codex_is_toml() -> None:
    read = tomllib.loads(configuration_of("codex", "parley", URL, None))
    assert read["mcp_servers"]["parley"] == {"url": URL, "bearer_token_env_var": "PARLEY_TOKEN"}


@pytest.mark.parametrize(
    ("client", "value"),
    [("cursor", "Bearer ${env:PARLEY_TOKEN}"), ("claude-code", "Bearer ${PARLEY_TOKEN}")],
)
def test_the_configuration_of_clients_with_an_address_is_json(client: str, value: str) -> None:
    text = without_comments(configuration_of(client, "parley", URL, None))
    read = json.loads(text[text.index("{\n") :])["mcpServers"]["parley"]
    assert read["url"] == URL
    assert read["headers"] == {"Authorization": value}


def test_the_configuration_of_claude_desktop_starts_this_program(tmp_path: Path) -> None:
    file = tmp_path / "parley.yaml"
    text = without_comments(configuration_of("claude-desktop", "session-memory", URL, file))
    read = json.loads(text)["mcpServers"]["session-memory"]
    assert Path(read["command"]).name == "parley"
    assert read["args"] == ["mcp", "--server", "session-memory", "--config", str(file)]
    assert list(read["env"]) == ["PARLEY_TOKEN"]


@pytest.mark.parametrize("client", ["claude-desktop", "plain"])
async def test_the_command_prints_each_configuration(client: str, tmp_path: Path) -> None:
    file = tmp_path / "parley.yaml"
    file.write_text("server: {port: 8999}\n", encoding="utf-8")
    status, out, problems = await run("config", "--client", client, "--config", str(file))
    assert (status, problems) == (0, "")
    if client == "claude-desktop":
        assert str(file) in out
    else:
        assert "http://127.0.0.1:8999/mcp" in out
    assert "parley_x" not in out
