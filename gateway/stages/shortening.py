"""A conversation that becomes long is summed up while its answer is written."""

import asyncio
from typing import Final, Self

from gateway.authorship import text_of
from gateway.exchange import Exchange
from gateway.ports.stores import StoredTurn
from gateway.services import Services
from gateway.stages.context import limits_of, said_of
from gateway.turn.context.history_window import leaving, merged_summary
from gateway.turn.context.model_summary import summarised
from gateway.turn.metering import Meter
from gateway.turn.tokens import estimate

ANSWER: Final = 300
"""Tokens that an answer is expected to add to the history."""
OFFLINE: Final = "offline"


class Shortening:
    """Sums up the older part of a conversation that this question and its answer fill, beside the
    answer: nobody waits for it, unless the model takes longer for it than for the answer.

    With a model the summary is in its words, otherwise in those that were said. It is used from
    the next question on.
    """

    def __init__(self, exchange: Exchange, services: Services, meter: Meter, model: str) -> None:
        self._exchange = exchange
        self._services = services
        self._meter = meter
        self._model = model
        self._turns = turns_to_leave(exchange, services)
        self._work: asyncio.Task[str | None] | None = None

    async def __aenter__(self) -> Self:
        if self._turns and self._services.provider.name != OFFLINE:
            before = self._exchange.opened.summary
            self._work = asyncio.create_task(
                summarised(
                    self._meter.aside(),
                    self._model,
                    before.text if before is not None else "",
                    said_of(self._turns, self._exchange.place.audience),
                )
            )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        result = self._exchange.result
        if kind is not None or result is None or result.failed:
            if self._work is not None:
                self._work.cancel()
            return
        if not self._turns:
            return
        self._meter.answer_is_over()
        text = await self._work if self._work is not None else None
        said = said_of(self._turns, self._exchange.place.audience)
        summary = merged_summary(self._exchange.opened.summary, self._turns, said, text)
        now = self._services.clock.now()
        await self._services.stores.notes.set_summary(self._exchange.key, summary, now)


def turns_to_leave(exchange: Exchange, services: Services) -> tuple[StoredTurn, ...]:
    """The older part of the conversation, where this question and its answer fill the window."""
    opened = exchange.opened
    gone = leaving(
        opened.turns,
        opened.sizes,
        limits_of(services),
        coming=len(exchange.messages) + 1,
        coming_tokens=estimate(exchange.content) + estimate(text_of(exchange.material)) + ANSWER,
    )
    return opened.turns[:gone]
