"""An answer that grows while it is written, on platforms that can show it.

In a public room only what the response filter has passed is shown.
"""

from types import TracebackType
from typing import Self

from gateway.exchange import Exchange
from gateway.policy.response_filter import StreamFilter


class LiveAnswer:
    """Feeds an adapter with the text so far; does nothing where the adapter cannot show it."""

    def __init__(self, exchange: Exchange) -> None:
        self._adapter = exchange.connected.live
        self._place = exchange.place
        self._message_id = exchange.last.id
        self._filter = StreamFilter(exchange.place.audience)
        self._shown = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._adapter is not None and self._shown:
            await self._adapter.show_live(self._place, self._message_id, "")

    async def on_text(self, piece: str) -> None:
        """Take the next piece of the answer."""
        if self._adapter is None:
            return
        passed = self._filter.feed(piece)
        if passed:
            self._shown += passed
            await self._adapter.show_live(self._place, self._message_id, self._shown)
