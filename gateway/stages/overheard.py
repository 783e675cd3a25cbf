"""Tools of others, whose results memory is told of: what they say is not the person's own text."""

from collections.abc import Mapping

from gateway.authorship import Authorship, Material
from gateway.errors import ToolError
from gateway.ports import ToolProvider, ToolSpec
from gateway.remembering import TurnMemory


class OverheardTools:
    """Implements `ToolProvider` over the tools of one turn."""

    def __init__(self, tools: ToolProvider, memory: TurnMemory) -> None:
        self._tools = tools
        self._memory = memory
        self._closed_world: frozenset[str] = frozenset()

    async def tools(self) -> tuple[ToolSpec, ...]:
        """What is offered. Raises `ToolError`."""
        specs = await self._tools.tools()
        self._closed_world = frozenset(spec.name for spec in specs if not spec.open_world)
        return specs

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Run a tool, and note what it says, also of its failure. Raises `ToolError`."""
        kind: Authorship = "tool" if name in self._closed_world else "web"
        try:
            result = await self._tools.call(name, arguments)
        except ToolError as error:
            self._memory.reads((Material(kind, str(error), name),))
            raise
        self._memory.reads((Material(kind, result, name),))
        return result

    async def close(self) -> None:
        """Nothing to close: the tools outlive the turn."""
