"""An adapter in memory, for tests of the gateway."""

import asyncio
from collections import deque
from datetime import timedelta

from gateway.errors import DeliveryError, Permanent
from gateway.message import Outbound, Receipt
from gateway.ports import AccountSettings, AdapterManifest, Capabilities, EventSink


class RecordingAdapter:
    """Remembers what it sends; `failures` are raised by the next sends, first in, first out."""

    platform = "test"

    def __init__(self, capabilities: Capabilities | None = None, account: str = "main") -> None:
        self.account = account
        self.capabilities = capabilities or Capabilities(joins_threads=True)
        self.sent: list[Outbound] = []
        self.failures: deque[DeliveryError | None] = deque()
        self.sink: EventSink | None = None
        self._closed = asyncio.Event()

    async def connect(self, sink: EventSink) -> None:
        self.sink = sink
        self._closed.clear()

    async def wait_closed(self) -> None:
        await self._closed.wait()

    async def disconnect(self) -> None:
        self._closed.set()

    async def send(self, outbound: Outbound) -> Receipt:
        failure = self.failures.popleft() if self.failures else None
        if failure is not None:
            raise failure
        if outbound.part is None and outbound.file is None:
            raise Permanent("nothing to send")
        self.sent.append(outbound)
        return Receipt(f"sent-{len(self.sent)}")

    @property
    def texts(self) -> list[str]:
        """Return the texts of the answers, in order."""
        return [item.part.text for item in self.sent if item.part is not None]


MANIFEST = AdapterManifest(
    platform="test",
    title="Test",
    settings=AccountSettings,
    capabilities=Capabilities(joins_threads=True),
    load="tests.support.adapter:RecordingAdapter",
    dedupe_for=timedelta(hours=24),
)
