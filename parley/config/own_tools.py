"""The names of the tools that come with Parley, which rules may name as those of MCP servers."""

from typing import Final

from gateway.turn.context.task import SET_TASK
from memory.turns.turn import OWN_TOOLS as MEMORY_TOOLS

OWN_TOOLS: Final = frozenset({SET_TASK.name, *MEMORY_TOOLS})
