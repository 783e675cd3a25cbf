"""Ends a process with those that it started."""

import contextlib
import os
import signal


def kill_group(leader: int) -> None:
    """Kill the leader of a session with every process of its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
