"""Tools of an MCP server, which is a program that we start or a URL.

One task per server connects, stays connected and connects again; it alone opens and closes the
connection, as the library wants it. A dead server costs a turn its tools and nothing else.
"""

import asyncio
import re
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import structlog

from gateway.errors import ConfigurationError, ToolError
from gateway.ports import Clock, ToolSpec
from gateway.turn.clip import clip
from gateway.turn.mcp_format import clean_result, result_text
from gateway.turn.mcp_tools import MAX_TOOLS, kept_tools

log = structlog.get_logger(__name__)

if TYPE_CHECKING:
    from mcp import Client

CONNECT_SECONDS: Final = 15.0
CALL_SECONDS: Final = 60.0
WAIT_SECONDS: Final = 10.0
"""How long a turn waits for a server that is still being connected for the first time: only just
after the start, where a busy machine takes this long to start a program. Ours."""

CHECK_SECONDS: Final = 60.0
"""How often an idle server is asked for its tools: finds out that it died, or has new ones."""

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
MAX_PAGES: Final = 20
MAX_ERROR: Final = 1_000
"""Characters of what a server says of its own failure."""

_SERVER_NAME: Final = re.compile(r"[a-zA-Z0-9-]+(_[a-zA-Z0-9-]+)*")
_MAX_SERVER_NAME: Final = 24


@dataclass(frozen=True, slots=True)
class McpServer:
    """An entry of `mcp.servers`: a `command` to start, or a `url` (streamable HTTP).

    Of our environment the command gets PATH, HOME and the like, and what `env` names: no secrets.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def check(self) -> None:
        """Raises `ConfigurationError` when the entry cannot be used."""
        where = f"mcp.servers.{self.name}"
        if not _SERVER_NAME.fullmatch(self.name) or len(self.name) > _MAX_SERVER_NAME:
            raise ConfigurationError(
                f"{where}: the name may have letters, digits, `-` and single `_`, "
                f"at most {_MAX_SERVER_NAME}"
            )
        if bool(self.command) == bool(self.url):
            raise ConfigurationError(f"{where}: write either `command` or `url`")
        if self.url and urlsplit(self.url).scheme not in ("http", "https"):
            raise ConfigurationError(f"{where}.url: write a URL that begins with https://")


class McpTools:
    """The tools of one server, named `server__tool`."""

    def __init__(self, server: McpServer, clock: Clock) -> None:
        server.check()
        self._server = server
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._tried = asyncio.Event()
        self._lost = asyncio.Event()
        self._client: Client | None = None
        self._names: Mapping[str, str] = {}
        self._specs: tuple[ToolSpec, ...] = ()
        self._left_out: tuple[tuple[str, str], ...] = ()
        self.problem = ""
        """Why the server is not connected, "" when it is."""

    @property
    def connected(self) -> bool:
        """Whether the server answers."""
        return self._client is not None

    def start(self) -> None:
        """Begin to connect, in the background; asking for the tools does it as well."""
        if self._task is None:
            self._task = asyncio.create_task(
                self._stay_connected(), name=f"mcp {self._server.name}"
            )

    async def tools(self) -> tuple[ToolSpec, ...]:
        """What the server offers. Raises `ToolError` while it is not connected."""
        self.start()
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT_SECONDS):
                await self._tried.wait()
        if self._client is None:
            raise ToolError(self._not_connected())
        return self._specs

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool, once: nobody knows what a call did whose server went away meanwhile.

        Raises `ToolError`, also for what the tool itself calls an error.
        """
        from mcp import MCPError  # noqa: PLC0415 - loaded by then, and too slow for start-up

        client, theirs = self._client, self._names.get(name)
        if client is None:
            raise ToolError(self._not_connected())
        if theirs is None:
            raise ToolError(f"there is no tool {name!r}")
        try:
            result = await client.call_tool(
                theirs, dict(arguments), read_timeout_seconds=CALL_SECONDS
            )
        except MCPError as error:
            if _is_closed(error):
                self._lost.set()
                raise ToolError(
                    f"the tool server {self._server.name} went away before it answered; "
                    "nobody knows whether the call took effect"
                ) from error
            said = clip(clean_result(error.message), MAX_ERROR)
            raise ToolError(f"the tool server says: {said}") from error
        except Exception as error:
            self._lost.set()
            raise ToolError(
                f"the tool server {self._server.name} failed: {type(error).__name__}"
            ) from error
        text = result_text(result.content, result.structured_content)
        if result.is_error:
            raise ToolError(text or "the tool failed and did not say why")
        return text

    async def close(self) -> None:
        """End the connection, and the program behind it."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    # --- the connection's own task --------------------------------------------------------------

    async def _stay_connected(self) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                await self._connection()
                pause = FIRST_PAUSE
            except Exception as error:  # noqa: BLE001 - whatever ended it, the answer is the same
                self.problem = _cause(error)
                pause = min(LONGEST_PAUSE, pause * 2)
            finally:
                self._client, self._specs, self._names = None, (), {}
            self._tried.set()
            await self._clock.sleep(pause)

    async def _connection(self) -> None:
        """Connect, and return when the connection is lost."""
        transport_of = await asyncio.to_thread(_load)
        self._lost.clear()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_SECONDS):
                client = await transport_of(self._server, stack)
                await self._take_list(client)
            self._client, self.problem = client, ""
            self._tried.set()
            while not self._lost.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(CHECK_SECONDS):
                        await self._lost.wait()
                        break
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._take_list(client)
            self.problem = "the connection was lost"
            self._client = None

    async def _take_list(self, client: "Client") -> None:
        tools: list[Any] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor, cache_mode="refresh")
            tools.extend(page.tools)
            cursor = page.next_cursor
            if not cursor or len(tools) >= MAX_TOOLS:
                break
        kept = kept_tools(self._server.name, tools)
        self._specs, self._names = kept.specs, kept.names
        if kept.problems != self._left_out:
            for name, problem in kept.problems:
                log.warning(
                    "mcp_tool_reduced", server=self._server.name, tool=name, problem=problem
                )
            self._left_out = kept.problems

    def _not_connected(self) -> str:
        reason = f": {self.problem}" if self.problem else ""
        return f"the tool server {self._server.name} is not connected{reason}"


def _load() -> Any:
    """Import the library, which takes a second, and give back what connects with it."""
    import mcp  # noqa: PLC0415
    import mcp.client.stdio  # noqa: PLC0415
    import mcp.client.streamable_http as http  # noqa: PLC0415
    from mcp.shared._httpx_utils import create_mcp_http_client  # noqa: PLC0415

    async def connect(server: McpServer, stack: AsyncExitStack) -> Any:
        if server.url:
            web = await stack.enter_async_context(create_mcp_http_client(dict(server.headers)))
            return await stack.enter_async_context(
                mcp.Client(http.streamable_http_client(server.url, http_client=web))
            )
        program = mcp.StdioServerParameters(
            command=server.command,
            args=list(server.args),
            env=dict(server.env),
            cwd=server.cwd or None,
            encoding_error_handler="replace",
        )
        return await stack.enter_async_context(mcp.Client(program))

    return connect


def _is_closed(error: Any) -> bool:
    import mcp_types  # noqa: PLC0415 - part of the library above

    return bool(error.code == mcp_types.CONNECTION_CLOSED)


def _cause(error: BaseException) -> str:
    """The first single error inside of groups, in a few words and without addresses or keys."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, FileNotFoundError):
        return "the command was not found"
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_SECONDS:g} seconds"
    return type(error).__name__
