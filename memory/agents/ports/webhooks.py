"""Storage of the deliveries to event webhooks."""

from datetime import datetime
from typing import Protocol

from msgspec import Struct


class WebhookState(Struct, frozen=True):
    """The progress of a webhook. `number` is the last event that was delivered or given up,
    `attempts` the failures of the next one, `dead` the events that were given up, `error` the last
    failure."""

    name: str
    number: int
    attempts: int = 0
    dead: int = 0
    error: str = ""


class WebhookStore(Protocol):
    """Every method raises `StoreUnavailable`."""

    async def claim(self, name: str, now: datetime, until: datetime) -> WebhookState | None:
        """Take a webhook that is due, for this process until then; None if it is not due. A new
        webhook begins with the events after the newest."""
        ...

    async def release(self, state: WebhookState, due: datetime) -> None:
        """Store the progress of a claimed webhook; it is due again at that time."""
        ...

    async def states(self) -> list[WebhookState]:
        """Return the progress of all webhooks."""
        ...
