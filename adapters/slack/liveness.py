"""Whether Slack still answers our pings."""

import time
from collections.abc import Callable
from typing import Final

from slack_sdk.socket_mode.aiohttp import SocketModeClient

from gateway.ports import Liveness

MISSED: Final = 3
"""Pings without an answer after which the socket counts as deaf."""


class LivenessMonitor:
    """Reads the pings of a Socket Mode client. The library notes them by the wall clock."""

    def __init__(self, client: SocketModeClient, now: Callable[[], float] = time.time) -> None:
        self._client = client
        self._now = now
        self._proven = now()

    def check(self) -> Liveness:
        """When Slack last answered a ping, and whether that is too long ago."""
        client = self._client
        if client.last_ping_pong_time is not None:
            self._proven = client.last_ping_pong_time
        since = max(0.0, self._now() - self._proven)
        socket = client.current_session
        if socket is None or socket.closed or client.stale:
            return Liveness(False, "the socket is being opened again", since)
        if since > MISSED * client.ping_interval:
            return Liveness(False, f"no ping was answered for {since:.0f} s", since)
        return Liveness(True, "", since)
