"""Whether Discord still answers our heartbeats."""

import time
from collections.abc import Callable
from typing import Final

import aiohttp
import discord

from gateway.ports import Liveness

ACK_SECONDS: Final = 15.0
"""How long Discord may take to acknowledge a heartbeat. Its interval (about 41 s) is added, because
that is how often one is sent."""
DEAF_CODE: Final = 4000
"""Any code but 1000 and 1001 keeps the session, so that it can be resumed."""


class LivenessMonitor:
    """Reads the heartbeats of the client's present connection."""

    def __init__(
        self, client: discord.Client, now: Callable[[], float] = time.perf_counter
    ) -> None:
        self._client = client
        self._now = now
        self._proven = now()

    def check(self) -> Liveness:
        """When the last heartbeat was acknowledged, and whether the next one is overdue."""
        socket: discord.gateway.DiscordWebSocket | None = self._client.ws
        # The library shows the latency of the last answer, not that there has been none since.
        beats = socket._keep_alive if socket is not None and socket.open else None  # noqa: SLF001 - no public way
        if beats is not None:
            self._proven = beats._last_ack  # noqa: SLF001 - likewise
        since = max(0.0, self._now() - self._proven)
        if beats is None:
            return Liveness(False, "the connection is being made again", since)
        if since > (beats.interval or 0.0) + ACK_SECONDS:
            return Liveness(False, f"no heartbeat was answered for {since:.0f} s", since)
        return Liveness(True, "", since)

    async def cut(self) -> None:
        """Close the socket; the library resumes the session, and gets what it missed."""
        socket: discord.gateway.DiscordWebSocket | None = self._client.ws
        if socket is not None and socket.open:
            try:
                await socket.close(DEAF_CODE)
            except (aiohttp.ClientError, OSError):
                return
