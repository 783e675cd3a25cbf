"""What a model reads of memory, as the gateway puts it together."""

from dataclasses import replace

from gateway.context.assembler import assemble
from gateway.context.budgets import LARGE, budget_for
from gateway.context.steps import Opened
from gateway.people import Audience
from gateway.ports.memory import TurnMemory
from gateway.turn.assemble import parts_of
from gateway.turn.tokens import estimate


async def prompt_of(turn: TurnMemory, question: str = "") -> str:
    """The whole prompt of a turn, with what is recalled for the question."""
    parts = parts_of("You are Parley.", await turn.told(), Opened(), Audience.DIRECT)
    parts = replace(parts, knowledge=tuple(await turn.knowledge(question)))
    return assemble(parts, budget_for(LARGE * 4), estimate).text
