"""The text of the hooks: a block of POSIX shell that starts a background process and returns; and
that process: one ingest at a time, and at most one that waits for it.

The foreground uses nothing but what the shell has built in, so it costs one fork. `waiting` holds
the id of a background process that has not begun to read: it will see this commit as well, so no
other one is started. Commits of a rebase start nothing; `post-rewrite` at its end does. A checkout
counts if it leads to a branch: the commits that `git bisect` visits are read by nobody. If the
program is gone, the hook writes one line into its log.
"""

import fcntl
import os
import re
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

EVENTS: Final = (
    "post-commit",
    "post-merge",
    "post-rewrite",
    "post-checkout",
    "post-applypatch",
    "post-receive",
)
UNCOVERED: Final = "git reset, git fetch and git update-ref"
"""After these git runs no hook that tells only of them."""
STATE: Final = "parley"
"""The folder with the state of the hooks, in the folder of git that all work trees share."""
WAITING: Final = "waiting"
REWRITTEN: Final = "rewritten"
LOG: Final = "hooks.log"
GONE: Final = "program-gone"
GONE_LINE: Final = (
    "{program} is gone, so the hooks do nothing; run `parley knowledge hooks install` in the folder"
    " of the repository"
)
LOCK: Final = "lock"
BEFORE: Final = ".before-parley"
"""The end of the name under which an earlier hook is kept that is no shell script."""
BEGIN: Final = b"# >>> parley knowledge >>>\n"
END: Final = b"# <<< parley knowledge <<<\n"
_SHELL: Final = re.compile(
    rb"#![ \t]*(?:/[\w./-]{1,200}/)?(?:env[ \t]+)?(?:ba|da|k|a)?sh(?:[ \t]+-\w{1,8})?[ \t]*\n"
)
SHEBANG: Final = b"#!/bin/sh\n"
_OWN_HEAD: Final = SHEBANG + b"# A hook of `parley knowledge hooks install`.\n"
_OWN_TAIL: Final = """\
if [ -x "${{0%/*}}/{event}{before}" ]; then exec "${{0%/*}}/{event}{before}" "$@"; fi
exit 0
"""


class HookCommand(Struct, frozen=True):
    """The process that a hook starts: `program` with its arguments, in the folder `home`, for the
    repository with the shared folder `git_dir`. All paths are absolute."""

    program: Sequence[str]
    home: Path
    git_dir: Path

    @property
    def state(self) -> Path:
        """The folder with the state of the hooks."""
        return self.git_dir / STATE


def block(event: str, command: HookCommand) -> bytes:
    """Return the lines of a hook for an event, between their marks."""
    run = " ".join(shlex.quote(part) for part in command.program)
    program = shlex.quote(command.program[0])
    git_dir = shlex.quote(str(command.git_dir))
    when = _WHEN.get(event, "")
    noted = f': > "$parley_state/{REWRITTEN}"; ' if event == "post-rewrite" else ""
    text = _BLOCK.format(
        program=program,
        git_dir=git_dir,
        when=when,
        noted=noted,
        folder=STATE,
        home=shlex.quote(str(command.home)),
        run=run,
        waiting=WAITING,
        log=LOG,
        gone=GONE,
        problem=shlex.quote(GONE_LINE.format(program=command.program[0])),
    )
    return BEGIN + text.encode("utf-8", "surrogateescape") + END


_PROGRAM: Final = b"parley_program="
_NOT_IN_REBASE: Final = """ \\
    && ! [ -d "${GIT_DIR:-$parley_git}/rebase-merge" ] \\
    && ! [ -d "${GIT_DIR:-$parley_git}/rebase-apply" ]"""
_TO_BRANCH: Final = """ \
    && [ "${3-}" = 1 ] && read -r parley_head < "${GIT_DIR:-$parley_git}/HEAD" \
    && [ "${parley_head#ref:}" != "$parley_head" ]"""
_WHEN: Final = {"post-commit": _NOT_IN_REBASE, "post-checkout": _TO_BRANCH + _NOT_IN_REBASE}
_BLOCK: Final = """\
# Updates the index of this repository in the background. PARLEY_HOOKS=0 turns it off, and
# `parley knowledge hooks remove` removes it.
parley_git={git_dir}
parley_state=$parley_git/{folder} parley_pid=
if [ "${{PARLEY_HOOKS-}}" != 0 ] && [ -d "$parley_state" ]{when}; then {{
    {noted}parley_program={program}
    if ! [ -x "$parley_program" ]; then
        if ! [ -e "$parley_state/{gone}" ]; then
            printf '%s\n' {problem} >> "$parley_state/{log}"
            : > "$parley_state/{gone}"
        fi
        parley_pid=$$ # so nothing is started
    elif [ -r "$parley_state/{waiting}" ]; then
        read -r parley_pid < "$parley_state/{waiting}" || :
    fi
    case $parley_pid in '' | 0* | *[!0-9]*) parley_pid= ;; esac
    if [ -z "$parley_pid" ] || ! kill -0 "$parley_pid"; then
        (
            trap '' HUP
            unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_COMMON_DIR GIT_PREFIX GIT_NAMESPACE
            unset GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CONFIG_PARAMETERS
            PATH=${{PATH:-/usr/local/bin:/usr/bin:/bin}}
            cd {home} || exit 0
            exec {run}
        ) < /dev/null >> "$parley_state/{log}" 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
        echo "$!" > "$parley_state/{waiting}"
    fi
}} 2> /dev/null || :; fi
"""


def own_hook(event: str, command: HookCommand, *, kept: bool) -> bytes:
    """Return a whole hook; `kept`: an earlier hook beside it runs after the block, in its place."""
    return _OWN_HEAD + block(event, command) + (_tail(event) if kept else b"")


def _tail(event: str) -> bytes:
    return _OWN_TAIL.format(event=event, before=BEFORE).encode()


def added_lines(text: bytes, event: str) -> bytes:
    """Return what somebody wrote into a hook that `own_hook` made; empty for nothing."""
    rest = without_block(text).removeprefix(_OWN_HEAD)
    return rest.removeprefix(_tail(event))


def is_own(text: bytes) -> bool:
    """True for a whole hook that `own_hook` made."""
    return text.startswith(_OWN_HEAD + BEGIN)


def program_of(text: bytes) -> Path | None:
    """Return the program that a hook with our lines starts; None if the lines do not name one."""
    begin = text.find(_PROGRAM, text.index(BEGIN)) + len(_PROGRAM)
    end = text.find(b"\n", begin)
    if begin < len(_PROGRAM) or end < 0:
        return None
    try:
        (name,) = shlex.split(os.fsdecode(text[begin:end]))
    except ValueError:  # somebody edited it
        return None
    return Path(name)


def has_block(text: bytes) -> bool:
    """True if a hook contains our lines."""
    begin = text.find(BEGIN)
    return begin >= 0 and text.find(END, begin) > begin


def is_shell_script(text: bytes) -> bool:
    """True for a script of a shell that understands the block."""
    return _SHELL.match(text) is not None and b"\0" not in text and b"\r" not in text


def with_block(text: bytes, event: str, command: HookCommand) -> bytes:
    """Return a shell script with the block after its first line; it then goes on as before."""
    head = text.index(b"\n") + 1
    return text[:head] + block(event, command) + text[head:]


def without_block(text: bytes) -> bytes:
    """Return a shell script without the block, as it was before."""
    begin = text.index(BEGIN)
    return text[:begin] + text[text.index(END, begin) + len(END) :]


LOCK_SECONDS: Final = 900.0
"""Seconds for which a process waits for the one that ingests."""
POLL_SECONDS: Final = 0.05
MAX_LOG: Final = 1_000_000
"""Bytes of the log of the hooks, which then begins again."""
MAX_PID: Final = 30


def run_once(
    state: Path,
    ingest: Callable[[bool], int],
    *,
    wait: float = LOCK_SECONDS,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Run `ingest` alone, and return its status; 1 if another process did not end in time.

    The argument of `ingest` is true after a rebase or an amended commit. From the moment at which
    it begins, a further commit starts a further process.
    """
    _bound_log(state / LOG)
    _taken(state / GONE)
    with _alone(state / LOCK, wait, sleep) as alone:
        if not alone:
            return 1
        _begin(state / WAITING)
        rewritten = _taken(state / REWRITTEN)
        done = False
        try:
            status = ingest(rewritten)
            done = status == 0
        finally:
            if rewritten and not done:
                (state / REWRITTEN).touch()
        return status


@contextmanager
def _alone(lock: Path, wait: float, sleep: Callable[[float], None]) -> Iterator[bool]:
    """Hold the lock; false if another process keeps it. The system releases it when the process
    ends, however it ends."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield _locked(handle, wait, sleep)
    finally:
        os.close(handle)


def _locked(handle: int, wait: float, sleep: Callable[[float], None]) -> bool:
    for _ in range(max(1, int(wait / POLL_SECONDS))):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sleep(POLL_SECONDS)
        else:
            return True
    return False


def _taken(mark: Path) -> bool:
    """Remove a mark; true if it was there."""
    try:
        mark.unlink()
    except FileNotFoundError:
        return False
    return True


def _begin(waiting: Path) -> None:
    """Remove the mark of this process: commits from now on are not certain to be seen by it."""
    with suppress(FileNotFoundError):
        if waiting.read_bytes()[:MAX_PID].strip() == str(os.getpid()).encode():
            waiting.unlink()


def _bound_log(log: Path) -> None:
    with suppress(FileNotFoundError):
        if log.stat().st_size > MAX_LOG:
            os.truncate(log, 0)
