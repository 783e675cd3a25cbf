"""What a signal from outside does."""

import asyncio
import os
import signal
import sys

ENDED_AT_ONCE = 130


def stop_on_signals(stopping: asyncio.Event) -> None:
    """Set `stopping` at the first SIGTERM or SIGINT; a second one ends the process there and then.

    That loses nothing: what was accepted is stored, and goes on at the next start.
    """

    def end() -> None:
        if stopping.is_set():
            sys.stderr.write("ended at once; what is not done goes on at the next start\n")
            sys.stderr.flush()
            os._exit(ENDED_AT_ONCE)
        stopping.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
