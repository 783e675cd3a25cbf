"""The configuration of an MCP server, the connection to it, and the reason of a failure."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from gateway.errors import ConfigurationError
from gateway.turn.mcp_bounds import MAX_MESSAGE, REFUSED_CODE, Refusals
from gateway.turn.mcp_format import MAX_TOOLS, clean_result, kept_tools
from gateway.turn.prompt import clip

CONNECT_SECONDS: Final = 15.0
MAX_PAGES: Final = 20
MAX_REPORT: Final = 200
"""Characters of a server's own error in its status."""
REFUSED: Final = 400
"""The least HTTP status that refuses a request."""

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
        """Raise `ConfigurationError` for an invalid entry."""
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


class HttpRefused(Exception):
    """The server answered over HTTP, with this status and without MCP."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status


class AnswerRefused(Exception):
    """The server's answer was outside of the bounds; the text is the reason."""


Connect: TypeAlias = Callable[[McpServer, AsyncExitStack, Refusals], Awaitable[Any]]
"""Opens a connection that the stack closes, and returns the library's client, initialised. Raises
the library's errors."""


def load_library() -> Connect:
    """Import the library, which takes a second, and return its connecting function."""
    import mcp  # noqa: PLC0415 - start-up stays short
    import mcp.client.streamable_http as http  # noqa: PLC0415 - start-up stays short

    from gateway.turn.mcp_http import bounded_client  # noqa: PLC0415 - imports httpx2
    from gateway.turn.mcp_stdio import bounded_program  # noqa: PLC0415 - imports the library

    async def connect(server: McpServer, stack: AsyncExitStack, refusals: Refusals) -> Any:
        before = refusals.count
        status = 0
        try:
            if not server.url:
                program = mcp.StdioServerParameters(
                    command=server.command,
                    args=list(server.args),
                    env=dict(server.env),
                    cwd=server.cwd or None,
                )
                started = bounded_program(program, server.name, refusals)
                return await stack.enter_async_context(mcp.Client(started, cache=None))
            web, transport = bounded_client(server.url, server.headers, refusals)
            await stack.enter_async_context(web)
            streams = http.streamable_http_client(
                server.url, http_client=web, max_sse_event_size=2 * MAX_MESSAGE
            )
            try:
                return await stack.enter_async_context(mcp.Client(streams, cache=None))
            finally:
                status = transport.status
        except Exception as error:
            if refusals.count > before:
                raise AnswerRefused(refusals.latest) from error
            if status:  # the library does not report it
                raise HttpRefused(status) from error
            raise

    return connect


def is_closed(error: Any) -> bool:
    import mcp_types  # noqa: PLC0415 - part of the library above

    return bool(error.code == mcp_types.CONNECTION_CLOSED)


def is_refused(error: Any) -> bool:
    """True for an answer that was outside of the bounds; the error's message is the reason."""
    return bool(error.code == REFUSED_CODE)


async def listed_tools(client: Any, most: int) -> list[Any]:
    """Return the server's tools as the library returns them, page by page, up to `most` and one.

    A page that was read before ends the list, as does one without tools.
    """
    tools: list[Any] = []
    cursor: str | None = None
    seen: set[str | None] = set()
    while cursor not in seen and len(seen) < MAX_PAGES and len(tools) <= most:
        seen.add(cursor)
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        tools.extend(page.tools)
        cursor = page.next_cursor
        if not cursor or not page.tools:
            break
    return tools


def cause_of(error: BaseException) -> str:
    """Return the first single error inside of groups, in a few words and without addresses or
    keys."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    name = type(error).__name__
    match error:
        case HttpRefused():
            return f"it answers with HTTP {error.status}"
        case AnswerRefused():
            return f"its answer was refused: {error}"
        case _ if name == "MCPError" and is_refused(error):
            return f"its answer was refused: {error}"
        case FileNotFoundError():
            return "the command was not found"
        case PermissionError():
            return "the command may not be executed"
        case TimeoutError():
            return f"no answer within {CONNECT_SECONDS:g} seconds"
        case _ if name in ("ConnectError", "ConnectTimeout", "ConnectionRefusedError"):
            return "its address does not answer"
        case _ if name == "MCPError" and is_closed(error):
            return "it ended, or is not an MCP server"
        case _ if name == "MCPError":
            return f"it reports: {clip(clean_result(str(error)), MAX_REPORT)}"
        case _ if name in ("ClosedResourceError", "BrokenResourceError", "EndOfStream"):
            return "the connection was lost"
        case _:
            return name


class Probed(Struct, frozen=True):
    """The tools as the model sees them, the number of unusable ones, and the seconds of connecting,
    initialising and listing; instead of these `problem` after a failure."""

    tools: tuple[str, ...] = ()
    left_out: int = 0
    seconds: float = 0.0
    problem: str = ""


async def probe(server: McpServer) -> Probed:
    """Start or call the server, ask for its tools, and end it again. Never raises."""
    try:
        server.check()
        connect = await asyncio.to_thread(load_library)
        began = time.monotonic()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_SECONDS):
                client = await connect(server, stack, Refusals(server.name))
                tools = await listed_tools(client, MAX_TOOLS)
            took = time.monotonic() - began
    except Exception as error:  # noqa: BLE001 - with any error the server cannot be used
        return Probed(problem=cause_of(error))
    kept = await asyncio.to_thread(kept_tools, server.name, tools)
    return Probed(tuple(kept.names), len(tools) - len(kept.names), took)
