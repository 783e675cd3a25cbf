"""Recall: opens memory for the person who asks, and reads memories that may answer the question."""

import asyncio
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.policy.decision import Decision
from gateway.turn.remember import caller_of, redact_aside
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

RECALL_SECONDS: Final = 3.0

log = structlog.get_logger(__name__)


async def open_memory(turn: TurnContext, services: Services) -> Decision:
    """Bind memory to the person who asks and the other readers."""
    await redact_aside(turn, services)
    turn.memory = await services.memory.turn(caller_of(turn, services))
    if turn.unkept:
        services.recent_secrets.forget_person(str(turn.key), turn.person)
        return Decision("memory", True, "off")
    return Decision("memory", True, "opened")


async def recall(turn: TurnContext, services: Services) -> Decision:
    """Read the prompt parts of memory, and memories that may answer this question. A failing or
    slow recall does not prevent the answer: the model can still search. Raises
    `StoreUnavailable`."""
    memory = turn.memory
    if memory is None:
        return Decision("recall", True, "no_memory")
    turn.prompt_parts = await memory.prompt_parts()
    if not memory.recalls:
        return Decision("recall", True, "nothing_to_recall")
    try:
        async with asyncio.timeout(RECALL_SECONDS):
            turn.knowledge = await memory.knowledge(turn.question)
    except StoreUnavailable:
        raise
    except TimeoutError:
        services.count("unrecalled", "too_slow")
        return Decision("recall", True, "recall_too_slow", f"{RECALL_SECONDS:.0f} s")
    except Exception:
        log.exception("recall_failed")
        services.count("unrecalled", "failed")
        return Decision("recall", True, "recall_failed", "see the log")
    return Decision("recall", True, "recalled", f"{len(turn.knowledge)} found")
