"""Memory in a turn of somebody who switched it off: nothing is recalled, nothing is kept."""

from collections.abc import Sequence
from typing import Final

from gateway.authorship import Material
from gateway.ports import ToolProvider
from gateway.ports.memory import AnswerFooter, NoTools
from gateway.ports.prompt_blocks import KnowledgeItem, PromptParts

MEMORY_OFF: Final = """\
## Remembering
This person has switched memory off: you remember nothing of earlier messages and keep nothing of \
this one. Do not offer to remember. `/privacy memory on` switches it on."""


class MemoryOffTurn:
    """Implements `gateway.ports.memory.TurnMemory`."""

    tools: ToolProvider = NoTools()
    keeps: bool = False
    recalls: bool = False

    def reads(self, material: Sequence[Material]) -> None:
        """Stores nothing, so it needs to know nothing."""

    async def prompt_parts(self) -> PromptParts:
        """That nothing is remembered, so that the model offers nothing else."""
        return PromptParts(MEMORY_OFF)

    async def knowledge(self, question: str) -> Sequence[KnowledgeItem]:
        """Nothing."""
        return ()

    async def tell_later(self, sentence: str) -> None:
        """Keeps nothing."""

    async def finish(
        self, answer: str, tools_used: Sequence[str], without: Sequence[str] = ()
    ) -> AnswerFooter:
        """Keeps nothing."""
        return AnswerFooter()
