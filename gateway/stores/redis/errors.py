"""The error for callers when Redis does not answer, or refuses a command."""

import re
from typing import Final

from db.errors import REDIS, StoreUnavailable

REASONS: Final = {
    "READONLY": (
        "it is a replica and takes no changes. storage.url has to reach the primary server; after a"
        " failover, wait until its name does"
    ),
    "MISCONF": (
        "it takes no changes because it cannot write to its disk. Its log says why: look for a full"
        " disk, or a folder that it may not write to"
    ),
    "OOM": (
        "it takes no changes because its memory is full. Raise maxmemory, or give it a server of"
        " its own"
    ),
    "LOADING": "it is loading its data after a start. Wait until it is ready",
    "MASTERDOWN": "it is a replica without its primary server. Start the primary server",
    "MOVED": (
        "it is a node of a cluster, and the data of Parley is on another one. Set storage.url to"
        " that node, or to a Redis without cluster mode"
    ),
    "CLUSTERDOWN": "its cluster is not complete. `redis-cli --cluster check` says what is missing",
    "NOAUTH": "it asks for a password. Write it into storage.url: redis://USER:PASSWORD@HOST:PORT",
    "WRONGPASS": "it refuses the user or the password in storage.url",
    "NOPERM": "its user may not run this command. Allow that user all commands",
}
"""The meaning of the codes of Redis' refusals, each with the next step."""
_CODE: Final = re.compile(rf"(?:^|[\s-])({'|'.join(REASONS)})\b")
"""A script's error has the code inside of its text."""
_OF_REPLICA: Final = frozenset({"READONLY", "MASTERDOWN"})
_ENDED_WAIT: Final = "UNBLOCKED"
"""The code for a blocking command when its server becomes a replica."""


def code_of(error: Exception) -> str:
    """Return the code with which Redis refused a command, "" without a known one."""
    given = getattr(error, "status_code", None)  # the library takes it out of the text
    if given in REASONS:
        return str(given)
    found = _CODE.search(str(error))
    return found[1] if found else ""


def unavailable(error: Exception) -> StoreUnavailable:
    """Return the error for callers, with the next step where Redis refuses the command."""
    text = str(error) or type(error).__name__
    code = code_of(error)
    return StoreUnavailable(f"Redis: {REASONS[code]} ({code})" if code else f"Redis: {text}", REDIS)


def is_of_replica(error: Exception) -> bool:
    """Return True if the server at the other end became a replica: the address may lead to another
    server by now."""
    return code_of(error) in _OF_REPLICA or str(error).startswith(_ENDED_WAIT)
