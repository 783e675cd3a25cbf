"""Sends agent events to the webhooks of operators, each as a signed POST request.

Events of one webhook are sent in order. A failed one is repeated after `PAUSES`, then given up. No
webhook waits for another one, so that a slow receiver delays its own events only.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

import structlog
from msgspec import Struct

from gateway.immutable import replace
from gateway.ports import Clock
from memory.agents.model import AgentEvent
from memory.agents.stores.events import SqlAgentEvents, SqlWebhooks, WebhookState
from memory.agents.webhook_signature import body_of, signed_headers
from safety.http.client import GuardedClient, OutboundError

PAUSES: Final = (5, 30, 120, 600, 1_800, 3_600, 7_200)
"""Seconds after the first failure, the second one …; after one failure more the event is dead."""
AT_ONCE: Final = 20
"""Events of one webhook that one step sends."""
LEASE: Final = timedelta(minutes=5)
"""The time for which a step has a webhook for itself: more than `AT_ONCE` requests take."""
MAX_ANSWER: Final = 10_000

log = structlog.get_logger(__name__)


class EventReceiver(Struct, frozen=True):
    """A receiver of the events of a tenant. `kinds` is empty for all; `key` signs."""

    name: str
    url: str
    key: bytes
    tenant: str
    kinds: frozenset[str] = frozenset()

    def wants(self, event: AgentEvent) -> bool:
        """True if the event is sent to this webhook."""
        return not self.kinds or event.kind.value in self.kinds


class WebhookDelivery:
    """Delivers the events that are due. Several processes may run it."""

    def __init__(
        self,
        webhooks: Sequence[EventReceiver],
        clients: Mapping[str, GuardedClient],
        store: SqlWebhooks,
        events: SqlAgentEvents,
        clock: Clock,
    ) -> None:
        """`clients` by the name of a webhook; each may reach only its receiver."""
        self._webhooks = tuple(webhooks)
        self._clients = clients
        self._store = store
        self._events = events
        self._clock = clock

    async def step(self) -> int:
        """Send what is due, to all webhooks at once; return the number of delivered events. Raises
        `StoreUnavailable` after all of them ended."""
        sending = (self._send_due(webhook) for webhook in self._webhooks)
        results = await asyncio.gather(*sending, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return sum(result for result in results if isinstance(result, int))

    async def _send_due(self, webhook: EventReceiver) -> int:
        now = self._clock.now()
        state = await self._store.claim(webhook.name, now, now + LEASE)
        if state is None:
            return 0
        sent, due = 0, now
        for event in await self._events.of_tenant(webhook.tenant, state.number, AT_ONCE):
            problem = await self._post(webhook, event) if webhook.wants(event) else ""
            if not problem:
                sent += 1
                state = replace(state, number=event.number, attempts=0, error="")
                continue
            state = _after_failure(state, event, problem)
            if state.attempts:
                due = self._clock.now() + timedelta(seconds=PAUSES[state.attempts - 1])
            break
        await self._store.release(state, due)
        return sent

    async def _post(self, webhook: EventReceiver, event: AgentEvent) -> str:
        """Send one event; return the problem, empty for none."""
        body = body_of(event)
        message_id = f"{webhook.name}-{event.number}"
        headers = signed_headers(webhook.key, message_id, self._clock.now(), body)
        try:
            answer = await self._clients[webhook.name].request(
                "POST", webhook.url, headers=headers, body=body, max_bytes=MAX_ANSWER, cut=True
            )
        except OutboundError as error:
            return f"{type(error).__name__}: {error}"
        return "" if 200 <= answer.status < 300 else f"HTTP status {answer.status}"


def _after_failure(state: WebhookState, event: AgentEvent, problem: str) -> WebhookState:
    """Return the progress after a failure: another attempt later, or the event given up."""
    attempts = state.attempts + 1
    if attempts <= len(PAUSES):
        return replace(state, attempts=attempts, error=problem)
    log.warning(
        "webhook_event_dead", webhook=state.name, number=event.number, attempts=attempts,
        problem=problem,
    )  # fmt: skip
    return replace(state, number=event.number, attempts=0, dead=state.dead + 1, error=problem)
