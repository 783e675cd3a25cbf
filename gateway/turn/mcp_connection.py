"""Tools of an MCP server, which is a program that we start or a URL.

One task per server connects, keeps the connection and reconnects; it alone opens and closes the
connection, as the library requires. Without the server a turn only lacks its tools.
"""

import asyncio
import difflib
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, Final

import structlog

from gateway.background_tasks import stop_task
from gateway.errors import ToolError
from gateway.ports import Clock, ServerState, ToolAnswer, ToolSpec
from gateway.turn.external_mcp_server import (
    CONNECT_SECONDS,
    McpServer,
    cause_of,
    is_closed,
    is_refused,
    listed_tools,
    load_library,
)
from gateway.turn.mcp_bounds import Refusals
from gateway.turn.mcp_format import MAX_TOOLS, clean_result, kept_tools, result_of
from gateway.turn.prompt import clip

log = structlog.get_logger(__name__)

if TYPE_CHECKING:
    from mcp import Client

CALL_SECONDS: Final = 60.0
WAIT_SECONDS: Final = 10.0
"""The time for which a turn waits for the first connection of a server, just after the start, when
a busy machine is slow to start a program. Ours."""

CHECK_SECONDS: Final = 15.0
"""The period of requests for the tools of an idle server, which detect its end or new tools."""

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
STABLE_SECONDS: Final = 60.0
"""A connection that lasted this long ends the series of failures before it."""
MAX_ERROR: Final = 1_000
"""Characters of a server's own error message."""


class McpTools:
    """The tools of one server, named `server__tool`. `ruled` are those that rules name."""

    def __init__(self, server: McpServer, clock: Clock, ruled: Collection[str] = ()) -> None:
        server.check()
        self._ruled = frozenset(ruled)
        self._failures = 0
        self._logged_problem = ""
        self._server = server
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._tried = asyncio.Event()
        self._lost = asyncio.Event()
        self._client: Client | None = None
        self._names: Mapping[str, str] = {}
        self._specs: tuple[ToolSpec, ...] = ()
        self._listed: list[Any] = []
        self._left_out: tuple[tuple[str, str], ...] = ()
        self._refusals = Refusals(server.name, clock.monotonic)
        self.problem = ""
        """The reason why the server is not connected, "" if it is."""

    @property
    def connected(self) -> bool:
        """True while the server answers."""
        return self._client is not None

    def state(self) -> ServerState:
        """Return the state of the server."""
        return ServerState(
            self._server.name,
            self.connected,
            self.problem,
            self._failures,
            self._refusals.count,
            self._refusals.latest,
        )

    async def start(self) -> None:
        """Begin to connect in the background; a request for the tools does so as well."""
        if self._task is None:
            self._task = asyncio.create_task(
                self._stay_connected(), name=f"mcp {self._server.name}"
            )

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools of the server. Raises `ToolError` while it is not connected."""
        await self.start()
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT_SECONDS):
                await self._tried.wait()
        if self._client is None:
            raise ToolError(self._not_connected())
        return self._specs

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
        """Run a tool once; after a lost connection it is unknown if the call took effect.

        Raises `ToolError`, also for an error that the tool reports.
        """
        from mcp import MCPError  # noqa: PLC0415 - loaded by then, and too slow for start-up

        client, theirs = self._client, self._names.get(name)
        if client is None:
            raise ToolError(self._not_connected())
        if theirs is None:
            raise ToolError(f"there is no tool {name!r}")
        refused = self._refusals.count
        try:
            result = await client.call_tool(
                theirs, dict(arguments), read_timeout_seconds=CALL_SECONDS
            )
        except MCPError as error:
            if is_refused(error):
                raise ToolError(
                    f"the answer of the tool server {self._server.name} was refused: "
                    f"{error.message}; the call may have taken effect. Ask for less at once"
                ) from error
            if is_closed(error):
                self._lost.set()
                reason = f" ({self._refusals.latest})" if self._refusals.count > refused else ""
                raise ToolError(
                    f"the connection to the tool server {self._server.name} was lost before it "
                    f"answered{reason}; the call may have taken effect"
                ) from error
            text = clip(clean_result(error.message), MAX_ERROR)
            raise ToolError(f"the tool server says: {text}") from error
        except (ValueError, RuntimeError) as error:
            raise ToolError(
                f"the answer of the tool server {self._server.name} is not valid"
            ) from error
        except Exception as error:
            self._lost.set()
            raise ToolError(
                f"the tool server {self._server.name} failed: {type(error).__name__}"
            ) from error
        answer = await asyncio.to_thread(result_of, theirs, result.content)
        if result.is_error:
            raise ToolError(answer.text or "the tool failed and did not say why")
        return answer if answer.files else answer.text

    async def close(self) -> None:
        """End the connection and the server's program."""
        task, self._task = self._task, None
        await stop_task(task)

    # --- the connection's own task --------------------------------------------------------------

    async def _stay_connected(self) -> None:
        pause = 0.0
        while True:
            began = self._clock.monotonic()
            try:
                await self._connection()
            except Exception as error:  # noqa: BLE001 - the answer is the same for every error
                self.problem = cause_of(error)
            finally:
                self._client, self._specs, self._names, self._listed = None, (), {}, []
            lasted = self._clock.monotonic() - began
            again = lasted < STABLE_SECONDS and pause > 0
            pause = min(LONGEST_PAUSE, pause * 2) if again else FIRST_PAUSE
            self._failed(pause)
            self._tried.set()
            await self._clock.sleep(pause)

    def _failed(self, pause: float) -> None:
        """Count a failure; the log has the first of a series, and each with a new reason."""
        self._failures += 1
        if self.problem != self._logged_problem:
            self._logged_problem = self.problem
            log.warning(
                "mcp_server_unavailable",
                server=self._server.name,
                problem=self.problem,
                again_in=pause,
                failures=self._failures,
            )

    async def _connection(self) -> None:
        """Connect, and return when the connection is lost."""
        transport_of = await asyncio.to_thread(load_library)
        self._lost.clear()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_SECONDS):
                client = await transport_of(self._server, stack, self._refusals)
                await self._take_list(client)
            self._connected(client)
            while not self._lost.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(CHECK_SECONDS):
                        await self._lost.wait()
                        break
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._take_list(client)
            self.problem = "the connection was lost"
            self._client = None

    def _connected(self, client: "Client") -> None:
        self._client, self.problem, self._logged_problem = client, "", ""
        self._tried.set()
        log.info("mcp_server_connected", server=self._server.name, tools=len(self._specs))
        for name in sorted(self._ruled - set(self._names)):
            near = difflib.get_close_matches(name, self._names, n=1)
            log.warning("tool_rule_without_tool", rule=name, nearest=near[0] if near else "")

    async def _take_list(self, client: "Client") -> None:
        tools = await listed_tools(client, MAX_TOOLS)
        if tools and tools == self._listed:
            return
        kept = await asyncio.to_thread(kept_tools, self._server.name, tools)
        self._specs, self._names, self._listed = kept.specs, kept.names, tools
        if kept.problems != self._left_out:
            for name, problem in kept.problems:
                log.warning(
                    "mcp_tool_reduced", server=self._server.name, tool=name, problem=problem
                )
            self._left_out = kept.problems

    def _not_connected(self) -> str:
        reason = f": {self.problem}" if self.problem else ""
        return f"the tool server {self._server.name} is not connected{reason}"
