"""A transport that closes so that the client can read the answer first.

A socket that is closed while data waits in it is reset, and a reset makes the client lose an answer
that it has not read. So where a request was answered before all of it was read, the sending side is
closed first, and what still arrives is dropped for a moment (RFC 9112 section 9.6).
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

LINGER_SECONDS: Final = 2.0


class LingeringTransport(asyncio.Transport):
    """Passes on what uvicorn's protocol uses of `inner`."""

    def __init__(self, inner: asyncio.Transport, is_unread: Callable[[], bool]) -> None:
        super().__init__()
        self.inner = inner
        self._is_unread = is_unread
        self._closing = False
        self._timer: asyncio.TimerHandle | None = None

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return a fact about the connection."""
        return self.inner.get_extra_info(name, default)

    def is_closing(self) -> bool:
        """Return True after the end of the answer."""
        return self._closing or self.inner.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send, unless the answer has ended."""
        if not self.is_closing():
            self.inner.write(data)

    def pause_reading(self) -> None:
        """Let the client wait."""
        if not self.is_closing():
            self.inner.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        if not self.inner.is_closing():
            self.inner.resume_reading()

    def close(self) -> None:
        """End the answer, and close the connection: at once, or when the client has had time."""
        if self.is_closing():
            return
        self._closing = True
        if not self._is_unread() or not self.inner.can_write_eof():
            self.inner.close()
            return
        with suppress(OSError):  # the client is gone
            self.inner.write_eof()
        self.inner.resume_reading()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(LINGER_SECONDS, self.inner.close)

    def lost(self) -> None:
        """Forget the connection."""
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
