"""Shuts the program down on SIGTERM and SIGINT."""

import asyncio
import os
import signal
import sys
from typing import Final

STATUS_ENDED_AT_ONCE: Final = 130


def stop_on_signals(stopping: asyncio.Event) -> None:
    """Set `stopping` at the first SIGTERM or SIGINT; a second one ends the process at once.

    No accepted message is lost: it is stored, and continues at the next start.
    """

    def end() -> None:
        if stopping.is_set():
            sys.stderr.write("stopped at once; remaining work continues at the next start\n")
            sys.stderr.flush()
            os._exit(STATUS_ENDED_AT_ONCE)
        stopping.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
