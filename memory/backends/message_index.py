"""The messages from which statements of backends derive, in Parley's own state.

An edit or a deletion of another message is discarded when it arrives, without a question to a
backend, which may not answer.
"""

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from gateway.ports.adapter import AdapterState

KEPT: Final = timedelta(days=3_650)
THERE: Final = "1"


class MessageIndex:
    """Stores a hash of each message. Every method raises `StoreUnavailable`."""

    def __init__(self, state: AdapterState) -> None:
        self._state = state

    async def add(self, tenant: str, channel: str, message_ids: Sequence[str]) -> None:
        """Add messages, before a statement is stored."""
        for message_id in message_ids:
            await self._state.put(_key(tenant, channel, message_id), THERE, KEPT)

    async def has(self, tenant: str, channel: str, message_ids: Sequence[str]) -> bool:
        """Return True if a statement was stored of one of these messages."""
        for message_id in message_ids:
            if await self._state.get(_key(tenant, channel, message_id)) is not None:
                return True
        return False


def _key(tenant: str, channel: str, message_id: str) -> str:
    text = "\x1f".join((tenant, channel, message_id))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
