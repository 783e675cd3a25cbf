"""Holds a call of a model to its time limits, the same for all providers."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from gateway.errors import AnswerStalled, NoFirstToken
from gateway.policy.time_limits import TimeLimits
from gateway.ports import ModelEvent


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
