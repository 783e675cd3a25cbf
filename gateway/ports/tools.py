"""Tools that the model may call, and their providers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it. `schema` is the JSON Schema (an object) of its arguments.

    `side_effects` and `secrets` decide, with role and audience, who may use it. `open_world`: its
    results can come from anywhere, as those of a web search.
    """

    name: str
    description: str
    schema: Mapping[str, object] = field(hash=False)
    side_effects: bool = True
    secrets: bool = False
    open_world: bool = True


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
