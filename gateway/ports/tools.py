"""Tools: what the model may ask for, and where they come from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it. `schema` is the JSON Schema (an object) of its arguments.

    `side_effects` and `secrets` decide, with the role and the audience, who may use it.
    `open_world`: its results can come from anywhere, as those of a web search do.
    """

    name: str
    description: str
    schema: Mapping[str, object] = field(hash=False)
    side_effects: bool = True
    secrets: bool = False
    open_world: bool = True


class ToolProvider(Protocol):
    """Where tools come from: an MCP server, or the program itself."""

    async def tools(self) -> tuple[ToolSpec, ...]:
        """What is offered. Raises `ToolError` when the provider is not reachable."""
        ...

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool. Raises `ToolError`."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ServerState:
    """How a server of tools is. `problem` is empty while it is connected, and before the first try
    ended; `failures` counts tries and connections that ended, from the program's start on."""

    name: str
    connected: bool
    problem: str
    failures: int
