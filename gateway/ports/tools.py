"""Tools that the model may call, and their providers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from gateway.tool_spec import ToolSpec


class ToolProvider(Protocol):
    """Provides tools: an MCP server, or the program itself."""

    async def tools(self) -> tuple[ToolSpec, ...]:
        """Return the available tools. Raises `ToolError` if the provider is not reachable."""

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool. Raises `ToolError`."""

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ServerState:
    """The state of a tool server. `problem` is empty while it is connected, and before the first
    attempt ended; `failures` counts failed attempts and lost connections since the start."""

    name: str
    connected: bool
    problem: str
    failures: int


@runtime_checkable
class CanStart(Protocol):
    """A tool provider that connects by itself once it is started."""

    def start(self) -> None:
        """Begin to connect; returns at once."""


@runtime_checkable
class CanReportState(Protocol):
    """A tool provider that can lose its connection."""

    def state(self) -> ServerState:
        """How it is now."""
