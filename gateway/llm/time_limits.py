"""The time limits of one call of a model, the same for all providers."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from msgspec import Struct

from gateway.errors import AnswerStalled, NoFirstToken
from gateway.ports import ModelEvent

FIRST_TOKEN_SECONDS: Final = 300.0
"""A local model reads a prompt of some thousand tokens for a minute or more, and may have to be
loaded before."""
BETWEEN_TOKENS_SECONDS: Final = 120.0
"""Some local servers send the arguments of a tool call only when they are complete."""


class TimeLimits(Struct, frozen=True):
    """Seconds until anything of an answer arrives, and between two things that arrive."""

    first_token: float = FIRST_TOKEN_SECONDS
    between_tokens: float = BETWEEN_TOKENS_SECONDS


async def within(
    limits: TimeLimits, stream: AsyncGenerator[ModelEvent, None]
) -> AsyncGenerator[ModelEvent, None]:
    """Yield the events of a call. Any event counts as a sign of work; the time that the reader
    spends on one does not. Raises `NoFirstToken` and `AnswerStalled`."""
    seconds, began = limits.first_token, False
    async with aclosing(stream) as events:
        while True:
            try:
                async with asyncio.timeout(seconds) as bound:
                    event = await anext(events, None)
            except TimeoutError as error:
                if not bound.expired():
                    raise
                if began:
                    raise AnswerStalled(f"no further token within {seconds:g} s") from error
                raise NoFirstToken(f"no first token within {seconds:g} s") from error
            if event is None:
                return
            seconds, began = limits.between_tokens, True
            yield event
