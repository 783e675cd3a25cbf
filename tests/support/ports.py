"""Free ports, for servers that need their port before they listen, and for unreachable
addresses."""

import itertools
import os
import socket
from typing import Final

FIRST: Final = 10_240
EACH: Final = 640
SLICES: Final = 9
"""Below what Linux gives out by itself (from 32768; gVisor from 16000): a port asked for with 0, or
the near end of somebody's connection, would take ours between now and its use. Every process of
the tests has `EACH` of them for itself."""

_NUMBERS = itertools.count(os.getpid())


def free_port() -> int:
    """A port of loopback that nobody listens on, and nobody will until we do."""
    process = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    begin = FIRST + int(process) % SLICES * EACH
    for _ in range(EACH):
        port = begin + next(_NUMBERS) % EACH
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"none of the ports from {begin} to {begin + EACH} is free")
