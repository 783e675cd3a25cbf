"""The context that a gateway gives an adapter, small enough to inspect."""

from datetime import timedelta

from db.errors import StoreUnavailable
from gateway.ports import WebhookHandler
from parley.testing.stage import EventRecorder, MemoryState

__all__ = ["EventRecorder", "MemoryState", "NoState", "NoWebhooks", "unavailable"]


def unavailable(times: int) -> list[Exception]:
    """So many failures of a store."""
    return [StoreUnavailable("the disk is full") for _ in range(times)]


class NoState:
    """Implements `AdapterState` for an adapter that remembers nothing."""

    async def get(self, key: str) -> str | None:
        raise AssertionError(key)

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        raise AssertionError(key)


class NoWebhooks:
    """Implements `WebhookRoutes` for an adapter without a webhook."""

    def add(self, path: str, handler: WebhookHandler, *, proof: str, max_body: int = 0) -> None:
        raise AssertionError(path)

    def remove(self, path: str) -> None:
        """Do nothing: no route was added."""
