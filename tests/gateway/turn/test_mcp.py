"""Tools of real MCP servers, over stdio and over streamable HTTP."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import pytest_asyncio

from gateway.errors import ConfigurationError, ToolError
from gateway.llm.offline import OfflineProvider
from gateway.ports import ToolAnswer, ToolResult, text_of_answer
from gateway.ports.clock import SystemClock
from gateway.turn.external_mcp_server import McpServer
from gateway.turn.mcp_connection import McpTools
from gateway.turn.mcp_format import tool_name, tool_spec, usable_schema
from gateway.turn.tools import Toolbox
from tests.gateway.turn.mcp_program import PNG
from tests.gateway.turn.stubs import StubTools, Turn, spec
from tests.support.clock import HurriedClock
from tests.support.patience import LAUNCH
from tests.support.waiting import eventually

PROGRAM = Path(__file__).with_name("mcp_program.py")
SHARED = "shared by several tests"
"""An argument that the program passes over."""


def stdio(name: str = "test", **changes: Any) -> McpServer:
    return McpServer(name, command=sys.executable, args=(str(PROGRAM), "stdio"), **changes)


async def connected(tools: McpTools) -> McpTools:
    await tools.start()
    await eventually(lambda: tools.connected, LAUNCH)
    return tools


def children() -> list[int]:
    """The programs that the running test has started."""
    return [
        child.pid
        for child in psutil.Process().children(recursive=True)
        if str(PROGRAM) in (command := _command_of(child)) and SHARED not in command
    ]


def _command_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def on_one_server(test: Callable[..., Coroutine[Any, Any, None]]) -> Any:
    """Run a test on the server that all such tests share: each start of one imports for a second
    of the processor."""
    return pytest.mark.xdist_group("mcp")(pytest.mark.asyncio(loop_scope="module")(test))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[McpTools]:
    """A server that no test ends."""
    program = McpServer("test", command=sys.executable, args=(str(PROGRAM), "stdio", SHARED))
    tools = McpTools(program, HurriedClock())
    yield await connected(tools)
    await tools.close()


@pytest.fixture
async def local() -> AsyncIterator[McpTools]:
    """A server of the test's own."""
    tools = McpTools(stdio(), HurriedClock())
    yield await connected(tools)
    await tools.close()


@pytest.fixture
def web(tmp_path: Path) -> Iterator["WebServer"]:
    server = WebServer(tmp_path / "port")
    server.start()
    yield server
    server.stop()


class WebServer:
    """The program behind HTTP; comes back on the same port."""

    def __init__(self, port_file: Path) -> None:
        self._port_file = port_file
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port_file.read_text()}/mcp"

    def start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM), "http", str(self._port_file)]
        )
        deadline = time.monotonic() + LAUNCH
        while not (self._port_file.exists() and self._port_file.read_text()):
            assert time.monotonic() < deadline
            assert self._process.poll() is None
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)


@on_one_server
async def test_tools_are_named_with_their_server(shared: McpTools) -> None:
    specs = {each.name: each for each in await shared.tools()}

    assert specs["test__add"].description == "Adds two numbers."
    assert specs["test__add"].schema["type"] == "object"
    assert not specs["test__add"].side_effects
    assert specs["test__write_note"].side_effects
    assert all(len(name) <= 64 for name in specs)


@on_one_server
async def test_tools_are_called(shared: McpTools) -> None:
    assert await shared.call("test__add", {"a": 1, "b": 2}) == "3"
    assert await shared.call("test__write_note", {"text": "ü"}) == "noted: ü"


@on_one_server
async def test_a_tool_with_an_invalid_name_is_called_by_its_corrected_one(shared: McpTools) -> None:
    (name,) = [s.name for s in await shared.tools() if "spaces" in s.name]

    assert await shared.call(name, {}) == "odd done"


@on_one_server
async def test_errors_of_tools_are_tool_errors(shared: McpTools) -> None:
    with pytest.raises(ToolError, match="no such thing"):
        await shared.call("test__fail", {})
    with pytest.raises(ToolError):
        await shared.call("test__add", {"a": "x"})
    with pytest.raises(ToolError, match="there is no tool 'test__nothing'"):
        await shared.call("test__nothing", {})
    assert await shared.call("test__add", {"a": 1, "b": 1}) == "2"


@on_one_server
async def test_a_huge_result_is_limited(shared: McpTools) -> None:
    assert len(text_of_answer(await shared.call("test__flood", {}))) <= 100_000


@on_one_server
async def test_pictures_recordings_and_files_are_files_of_the_result(shared: McpTools) -> None:
    answer = await shared.call("test__chart", {})

    assert isinstance(answer, ToolResult)
    assert answer.text == "Sales of May\n\nthe notes\n\n(the page: https://example.com/page)"
    assert [(file.name, file.mime, file.data) for file in answer.files] == [
        ("chart.png", "image/png", PNG),
        ("sales.csv", "text/csv", b"month,sum\n5,7\n"),
        ("chart.wav", "audio/wav", b"RIFF-wave"),
    ]


@on_one_server
async def test_calls_run_concurrently_and_a_hanging_one_can_be_cancelled(shared: McpTools) -> None:
    hanging = asyncio.create_task(shared.call("test__hang", {}))

    assert await shared.call("test__add", {"a": 1, "b": 2}) == "3"
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert await shared.call("test__add", {"a": 2, "b": 2}) == "4"


async def test_the_program_receives_only_the_configured_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "xoxb-1")
    tools = await connected(
        McpTools(stdio(env={"CITY": "Oslo"}, cwd=str(tmp_path)), HurriedClock())
    )

    assert await tools.call("test__environment", {"name": "CITY"}) == "Oslo"
    assert await tools.call("test__environment", {"name": "SECRET_TOKEN"}) == "(not set)"
    assert await tools.call("test__where", {}) == str(tmp_path)
    await tools.close()


async def test_a_server_that_crashes_in_a_call_is_reported_and_restarted(local: McpTools) -> None:
    with pytest.raises(ToolError, match="the call may have taken effect"):
        await local.call("test__die", {})

    await eventually(lambda: not local.connected, LAUNCH)
    await eventually(lambda: local.connected, LAUNCH)
    assert await local.call("test__add", {"a": 1, "b": 2}) == "3"


async def test_a_killed_server_is_restarted(local: McpTools) -> None:
    (pid,) = children()
    psutil.Process(pid).kill()

    async def call_until_it_works() -> ToolAnswer:
        while True:
            with suppress(ToolError):
                return await local.call("test__add", {"a": 1, "b": 2})
            await asyncio.sleep(0.02)

    assert await asyncio.wait_for(call_until_it_works(), LAUNCH) == "3"
    assert children() != [pid]


async def test_close_ends_the_program() -> None:
    tools = await connected(McpTools(stdio(), HurriedClock()))
    assert len(children()) == 1

    await tools.close()
    await tools.close()

    await eventually(lambda: not children(), LAUNCH)


async def test_a_missing_command_is_a_tool_error_with_the_reason() -> None:
    tools = McpTools(McpServer("gone", command="/nonexistent/program"), HurriedClock())

    with pytest.raises(ToolError, match="gone is not connected: the command was not found"):
        await tools.tools()
    with pytest.raises(ToolError):
        await tools.call("gone__x", {})
    await tools.close()


async def test_a_program_that_is_not_a_server_is_a_tool_error() -> None:
    tools = McpTools(
        McpServer("odd", command=sys.executable, args=("-c", "print('hello')")), HurriedClock()
    )

    with pytest.raises(ToolError, match="odd is not connected"):
        await tools.tools()
    await tools.close()


async def test_a_server_over_http_works(web: WebServer) -> None:
    server = McpServer("web", url=web.url, headers={"X-Key": "sesame"})
    tools = await connected(McpTools(server, HurriedClock()))

    assert "web__add" in [each.name for each in await tools.tools()]
    assert await tools.call("web__add", {"a": 1, "b": 2}) == "3"
    with pytest.raises(ToolError, match="no such thing"):
        await tools.call("web__fail", {})
    await tools.close()


async def test_a_server_over_http_with_another_key_is_refused(web: WebServer) -> None:
    tools = McpTools(McpServer("web", url=web.url, headers={"X-Key": "wrong"}), HurriedClock())

    with pytest.raises(ToolError, match="web is not connected"):
        await tools.tools()

    assert "wrong" not in tools.problem
    await tools.close()


async def test_a_server_over_http_reconnects_after_an_outage(web: WebServer) -> None:
    server = McpServer("web", url=web.url, headers={"X-Key": "sesame"})
    tools = await connected(McpTools(server, HurriedClock()))
    web.stop()

    with pytest.raises(ToolError):
        await tools.call("web__add", {"a": 1, "b": 2})
    await eventually(lambda: not tools.connected, LAUNCH)
    await asyncio.to_thread(web.start)

    await eventually(lambda: tools.connected, LAUNCH)
    assert await tools.call("web__add", {"a": 1, "b": 2}) == "3"
    await tools.close()


@on_one_server
async def test_one_unavailable_server_does_not_affect_the_others(shared: McpTools) -> None:
    dead = McpTools(McpServer("dead", command="/nonexistent/program"), HurriedClock())
    toolbox = Toolbox([dead, shared, StubTools(spec("own"))])

    result = await Turn().ask(
        'use the tool add with {"a": 20, "b": 22}', OfflineProvider(), _plain(toolbox)
    )

    assert "42" in result.text
    assert toolbox.problems == ("the tool server dead is not connected: the command was not found",)
    await dead.close()


def _plain(toolbox: Toolbox) -> Any:
    return toolbox.limited(lambda specs: {each.name for each in specs})


# --- without a server ---


@pytest.mark.parametrize(
    ("server", "path"),
    [
        (McpServer("a b", command="x"), "mcp.servers.a b"),
        (McpServer("a__b", command="x"), "mcp.servers.a__b"),
        (McpServer("a" * 25, command="x"), "mcp.servers"),
        (McpServer("a"), "either `command` or `url`"),
        (McpServer("a", command="x", url="https://x.org"), "either `command` or `url`"),
        (McpServer("a", url="file:///etc"), "mcp.servers.a.url"),
    ],
)
def test_an_invalid_entry_is_refused(server: McpServer, path: str) -> None:
    with pytest.raises(ConfigurationError, match=path):
        McpTools(server, SystemClock())


def test_secrets_of_an_entry_are_hidden() -> None:
    server = McpServer("a", command="x", env={"K": "hidden"}, headers={"Authorization": "hidden"})

    assert "hidden" not in repr(server)


def test_two_names_are_never_merged() -> None:
    names = [tool_name("s", name) for name in ("a.b", "a_b", "a b", "x" * 80, "x" * 81)]

    assert len(set(names)) == len(names)
    assert all(len(name) <= 64 for name in names)


@pytest.mark.parametrize(
    ("schema", "usable"),
    [
        ({"type": "object"}, {"type": "object"}),
        ({}, {"type": "object"}),
        ({"type": "object", "anyOf": [], "$schema": "x"}, {"type": "object"}),
        ({"type": "string"}, None),
        (None, None),
        ({"type": "object", "properties": []}, None),
        ({"type": "object", "properties": {"a b": {}}}, None),
        ({"type": "object", "enum": ["x" * 900] * 30}, None),
    ],
)
def test_schemas_that_no_service_accepts_are_omitted(schema: object, usable: object) -> None:
    assert usable_schema(schema) == usable


def test_a_tool_without_a_valid_schema_is_omitted() -> None:
    tool = SimpleNamespace(
        name="t", title=None, description=None, annotations=None, input_schema={"type": "array"}
    )

    assert tool_spec("s", tool) is None
