"""Meters the calls of one turn: the cost of each is reserved before it and counted after it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Final, cast

import structlog

from gateway.errors import ModelError, ModelRefused
from gateway.llm.prices import Price, cost, price_of, reserve
from gateway.llm.tokens import estimate, estimate_messages, estimate_tools
from gateway.policy.budgets import BudgetAccount, BudgetAlert
from gateway.policy.decision import Decision
from gateway.ports import (
    WEB_USES,
    LLMProvider,
    ModelEvent,
    ModelFinished,
    ModelRequest,
    Usage,
)
from gateway.stores.usage import UsageLedger

log = structlog.get_logger(__name__)


WEB_TOKENS: Final = 10_000
"""Tokens of the prompt that one search or page of the service may add."""


class Meter:
    """A language model with metered calls. Implements `LLMProvider`.

    `micros` is the turn's cost so far in millionths of a dollar: counted calls, and the maximum
    cost of calls that broke off. Without a budget nothing is reserved.
    """

    def __init__(
        self,
        provider: LLMProvider,
        ledger: UsageLedger,
        prices: Mapping[str, Price],
        *,
        turn: str,
        accounts: Sequence[BudgetAccount],
        default_model: str,
        count: Callable[[str, str], None],
    ) -> None:
        self._provider = provider
        self._ledger = ledger
        self._prices = prices
        self._turn = turn
        self._default_model = default_model
        self._event = count
        self._alerts: set[BudgetAlert] = set()
        self._one_by_one = asyncio.Lock()
        self._answer_first = asyncio.Event()
        self.accounts = tuple(accounts)
        self.usage = Usage()
        self.micros = 0
        self.optional: dict[str, Usage] = {}
        """The tokens of optional calls by model; `usage` has those of the answer."""
        self.optional_micros: dict[str, int] = {}
        """The part of `micros` that optional calls cost, by model."""
        self.services: dict[str, int] = {}
        """The part of `micros` that services beside the model cost, by their names."""
        self.model = default_model
        self.refusal: Decision | None = None
        """The reason why a call was not made."""

    @property
    def name(self) -> str:
        return self._provider.name

    async def reserve_amount(self, most: int) -> Decision:
        """Reserve `most` more than the turn owes, if the accounts allow it."""
        outcome = await self._ledger.reserve(self._turn, self.accounts, self.micros + most)
        for alert in outcome.alerts:
            if alert not in self._alerts:
                passed = f"{alert.account} at {alert.share:.0%}"
                log.warning("budget_alert", passed=passed, turn=self._turn)
                self._event("budget_alert", alert.account)
        self._alerts.update(outcome.alerts)
        return outcome.decision

    def charge(self, service: str, micros: int) -> None:
        """Add what a service beside the model cost."""
        self.services[service] = self.services.get(service, 0) + micros
        self.micros += micros

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        return self.metered(request)

    async def metered(
        self, request: ModelRequest, *, aside: bool = False
    ) -> AsyncIterator[ModelEvent]:
        """Yield the provider's events; a call `aside` is counted, but does not affect the turn's
        outcome."""
        most = await self._held(request, aside=aside) if self.accounts else 0
        stream = cast("AsyncGenerator[ModelEvent, None]", self._provider.stream(request))
        answered = False
        try:
            async with aclosing(stream) as events:
                async for event in events:
                    answered = True
                    if isinstance(event, ModelFinished):
                        self._count(event, most, aside=aside)
                        self.model = self.model if aside else event.model
                    yield event
        except ModelError:
            if not answered:
                self.micros -= most
            raise

    def aside(self) -> LLMProvider:
        """Return a model for optional calls: a refused one is no reason to refuse the answer, whose
        first call gets its reservation before them."""
        return _Aside(self)

    def answer_is_over(self) -> None:
        """Let optional calls no longer wait for the answer's first call, which may not happen at
        all."""
        self._answer_first.set()

    async def close(self) -> None:
        """Leave the provider open: it outlives the turn."""

    async def _held(self, request: ModelRequest, *, aside: bool) -> int:
        """Reserve the maximum cost of a call and add it to the turn's cost. Raises
        `ModelRefused`."""
        if aside:
            await self._answer_first.wait()
        try:
            most = self._most(request)
            async with self._one_by_one:  # each adds to what the one before came to
                decision = await self.reserve_amount(most)
                self.micros += most if decision.allowed else 0
        finally:
            self._answer_first.set()
        if not decision.allowed:
            self.refusal = self.refusal if aside else decision
            raise ModelRefused("the budget is used up")
        return most

    def _count(self, finished: ModelFinished, most: int, *, aside: bool) -> None:
        price, model = price_of(finished.model, self._prices), finished.model
        counted = price is not None and finished.usage != Usage()  # some servers report no usage
        micros = cost(finished.usage, price) if counted and price is not None else most
        self.micros += micros - most
        if aside:
            self.optional[model] = self.optional.get(model, Usage()) + finished.usage
            self.optional_micros[model] = self.optional_micros.get(model, 0) + micros
        else:
            self.usage += finished.usage

    def _most(self, request: ModelRequest) -> int:
        price = price_of(request.model or self._default_model, self._prices)
        if price is None:
            raise ModelRefused("the model has no price")
        tokens = (
            estimate(request.whole_system)
            + estimate_messages(request.messages)
            + estimate_tools(request.tools)
        )
        hour = bool(request.gaps) and price.cache_write is not None
        searches = WEB_USES if request.web else 0
        tokens += 2 * searches * WEB_TOKENS
        return reserve(tokens, request.max_tokens, price, hour=hour, searches=searches)


class _Aside:
    """A meter for optional calls, whose refusals and model are not the turn's."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    @property
    def name(self) -> str:
        return self._meter.name

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        return self._meter.metered(request, aside=True)

    async def close(self) -> None:
        """Leave the provider open: it outlives the turn."""
