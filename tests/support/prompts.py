"""The memory part of a prompt, as the gateway assembles it."""

from gateway.immutable import replace
from gateway.llm.tokens import estimate
from gateway.people import Audience
from gateway.ports.memory import TurnMemory
from gateway.turn.assemble import parts_of
from gateway.turn.context.assembler import assemble
from gateway.turn.context.history import LoadedHistory
from gateway.turn.context.token_budgets import LARGE, budget_for


async def prompt_of(turn: TurnMemory, question: str = "") -> str:
    """The whole prompt of a turn, with what is recalled for the question."""
    parts = parts_of("You are Parley.", await turn.prompt_parts(), LoadedHistory(), Audience.DIRECT)
    parts = replace(parts, knowledge=tuple(await turn.knowledge(question)))
    return assemble(parts, budget_for(LARGE * 4), estimate).text
