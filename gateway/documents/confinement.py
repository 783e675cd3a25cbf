"""Takes from the reading process what it does not need, before it sees the document."""

import ctypes
import os
import resource
import sys
import sysconfig
from pathlib import Path
from typing import Final

from gateway.documents.model import DocumentLimits

_CLONE_NEWUSER: Final = 0x10000000
_CLONE_NEWNET: Final = 0x40000000
_NO_NEW_PRIVILEGES: Final = 38
_FORBIDDEN: Final = (
    *("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system"),
    *("os.startfile", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink"),
    *("os.chmod", "os.chown", "os.truncate", "os.putenv", "os.kill", "shutil.", "tempfile."),
    *("ftplib.", "http.client.", "urllib.Request", "smtplib.", "sqlite3.", "webbrowser."),
)
"""The beginnings of events of Python (PEP 578) that no reader of a document causes."""


class Forbidden(Exception):
    """A library tried what no reader of a document needs."""


def confine(limits: DocumentLimits) -> None:
    """Limit memory and processor time; allow no file to be written and no process to be started;
    on Linux leave the network, where the system lets an ordinary process do so."""
    seconds = max(1, round(limits.seconds))
    bounds = [
        (resource.RLIMIT_AS, limits.memory, limits.memory),
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, 32, 32),
    ]
    if sys.platform == "linux":
        _leave_network()
        bounds.append((resource.RLIMIT_NPROC, 0, 0))
    for kind, soft, hard in bounds:
        _lower(kind, soft, hard)


def _lower(kind: int, soft: int, hard: int) -> None:
    """Set a limit; one that is lower already stays."""
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    try:
        resource.setrlimit(kind, (soft, hard))
    except (OSError, ValueError):  # macOS does not limit the address space
        if sys.platform == "linux":
            raise


def _leave_network() -> None:
    """Move into a network namespace without any network; a system may refuse it. New privileges
    are refused in any case."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.unshare(_CLONE_NEWNET) != 0:
        libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def forbid() -> None:
    """From now on refuse to Python code the network, processes, changes of files, and files outside
    of the installed modules, which may still be imported."""
    root = Path(__file__).resolve().parents[2]
    places = [str(root / name) for name in ("gateway", "safety", "db")]
    places += [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    allowed = tuple(f"{os.path.abspath(place)}/" for place in places)

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event.startswith(_FORBIDDEN):
            raise Forbidden(event)
        if event == "open" and isinstance(arguments[0], str):
            mode = arguments[1]
            writes = isinstance(mode, str) and not set(mode).isdisjoint("wax+")
            if writes or not os.path.abspath(arguments[0]).startswith(allowed):
                raise Forbidden(event)

    sys.addaudithook(watch)
