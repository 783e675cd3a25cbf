"""Runs commands as processes of their own that need not import the program first: they are forks of
one that has, which saves each of them a second of the processor."""

import asyncio
import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from fcntl import ioctl
from pathlib import Path
from typing import IO, Final, NoReturn

import pytest

from tests.parley.cli.forked import shown
from tests.support.patience import LAUNCH
from tests.support.start_caches import make_results_of_starts, reuse_results_of_starts

COMMANDS: Final = "parley.cli.main"
"""The module whose `main` is the program."""
READY: Final = b"ready"
LONGEST: Final = 100_000
"""Bytes of a request: arguments, folder and environment."""
TYPED: Final = 65_536
"""Bytes that a pipe takes before anybody reads."""
DESCRIPTORS: Final = 4
"""Standard input, output and error of the command, and what tells its pid and status."""


class Warm:
    """The process that has imported the program. It ends with the one that asks it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._asks, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from {__name__} import serve; serve()"],
                stdin=theirs.fileno(),
                env=environment,
            )
        self._asks.settimeout(LAUNCH)
        atexit.register(self._close)
        if not self._asks.recv(len(READY)):
            raise RuntimeError("the program cannot be imported: see above")

    def _close(self) -> None:
        """End the process: it ends with the last client."""
        self._asks.close()
        self._process.wait(LAUNCH)

    async def run(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        typed: bytes,
        seconds: float,
    ) -> tuple[int, bytes, bytes]:
        """The exit status of a command (of one ended by a signal, the signal's number below zero)
        and what it wrote. Raises `TimeoutError` for one that takes longer, which is then killed."""
        request = _request(arguments, cwd, env)
        assert len(typed) <= TYPED
        response, answer = socket.socketpair()
        typing, keyboard = os.pipe()
        with (
            response,
            answer,
            open(typing, "rb") as read,
            open(keyboard, "wb") as keys,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            standard = [read.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(self._asks, [request], [*standard, answer.fileno()])
            read.close()
            answer.close()
            keys.write(typed)
            keys.close()
            status = await _status(response, seconds)
            out.seek(0)
            err.seek(0)
            return status, out.read(), err.read()

    async def run_on(
        self, terminal: int, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str]
    ) -> int:
        """The exit status of a command whose input and output is this terminal, which is closed
        here."""
        response, answer = socket.socketpair()
        with response, answer:
            descriptors = [terminal, terminal, terminal, answer.fileno()]
            socket.send_fds(self._asks, [_request(arguments, cwd, env)], descriptors)
            os.close(terminal)
            answer.close()
            return await _status(response, LAUNCH)

    def at_terminal(
        self, terminal: int, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str]
    ) -> tuple[int, socket.socket]:
        """Start a command that this terminal, closed here, controls; its pid, and the socket that
        its exit status comes over. Raises `TimeoutError` where it does not start."""
        response, answer = socket.socketpair()
        descriptors = [terminal, terminal, terminal, answer.fileno()]
        socket.send_fds(self._asks, [_request(arguments, cwd, env)], descriptors)
        os.close(terminal)
        answer.close()
        response.settimeout(LAUNCH)
        pid = b""
        while not pid.endswith(b"\n"):
            pid += response.recv(1)
        return int(pid), response

    @asynccontextmanager
    async def running(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        module: str = COMMANDS,
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """A command that runs; killed at the end if it still does. It is the function `main` of
        `module`, which the process need not have imported before."""
        request = _request(arguments, cwd, env, module)
        response, answer = socket.socketpair()
        pipes = [os.pipe() for _ in range(3)]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1], answer.fileno()]
        socket.send_fds(self._asks, [request], theirs)
        answer.close()
        for descriptor in theirs[:-1]:
            os.close(descriptor)
        ours = [pipes[0][1], pipes[1][0], pipes[2][0]]
        process, waiting = await shown(response, *map(_opened, ours, ("wb", "rb", "rb")))
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            assert process.stdin is not None
            process.stdin.close()
            await process.communicate()
            await waiting


_STARTING: Final = threading.Lock()


def warm(path: str, root: str) -> Warm:
    """The one of this process, started when it is first needed, and ready. Threads that need it at
    once wait for the same one: a cache alone would let each of them start its own."""
    with _STARTING:
        return _started(path, root)


@functools.cache
def _started(path: str, root: str) -> Warm:
    return Warm({"PATH": path, "PYTHONPATH": root})


def serve() -> None:
    """Fork for every request, until the last client closes its end."""
    question = socket.socket(fileno=os.dup(0))
    for package in ("parley.cli", "parley.http", "adapters", "memory"):
        _import_all(package)
    importlib.import_module("parley.app")
    importlib.import_module("parley.demo.run")
    importlib.import_module("anthropic")  # slow, and imported by the program when it needs it
    reuse_results_of_starts(pytest.MonkeyPatch())
    make_results_of_starts()
    assert threading.active_count() == 1, "a thread would be lost in a fork"
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()
    question.send(READY)
    while True:
        request, descriptors, *_ = socket.recv_fds(question, LONGEST, DESCRIPTORS)
        if not request:
            return
        if os.fork() == 0:
            question.close()
            _watch(json.loads(request), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _watch(request: Mapping[str, object], descriptors: Sequence[int]) -> NoReturn:
    """Tell the pid of the command and then its status; never returns."""
    *standard, tell = descriptors
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.close(tell)
        _become(request, standard)
    for descriptor in standard:
        os.close(descriptor)
    with os.fdopen(tell, "w") as telling:
        telling.write(f"{pid}\n")
        telling.flush()
        telling.write(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")
    os._exit(0)


def _become(request: Mapping[str, object], standard: Sequence[int]) -> NoReturn:
    """Be the command, as if it had been started here and now, to the end of the process."""
    arguments, cwd, env = request["arguments"], request["cwd"], request["env"]
    assert isinstance(arguments, list)
    assert isinstance(cwd, str)
    assert isinstance(env, dict)
    os.setsid()
    for number, descriptor in enumerate(standard):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if os.isatty(0):
        ioctl(0, termios.TIOCSCTTY, 0)  # Ctrl-C there is a signal here
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    sys.path += [one for one in env.get("PYTHONPATH", "").split(os.pathsep) if one not in sys.path]
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, errors="backslashreplace", buffering=1)  # noqa: SIM115
    sys.argv = ["-c", *arguments]
    module = request["module"]
    assert isinstance(module, str)
    try:
        sys.exit(importlib.import_module(module).main())
    except SystemExit as end:
        if isinstance(end.code, int):
            _leave(end.code)
        raise


def _leave(status: int) -> NoReturn:
    """End as an interpreter does, except that the objects of the imported program, whose memory is
    shared until somebody writes to it, are not deleted one by one."""
    threading._shutdown()  # type: ignore[attr-defined]  # what the interpreter calls
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _opened(descriptor: int, mode: str) -> IO[bytes]:
    return os.fdopen(descriptor, mode, 0)


def _request(
    arguments: Sequence[str], cwd: Path, env: Mapping[str, str], module: str = COMMANDS
) -> bytes:
    values = {"arguments": arguments, "cwd": str(cwd), "env": dict(env), "module": module}
    request = json.dumps(values).encode()
    assert len(request) < LONGEST
    return request


def _import_all(package: str) -> None:
    result = importlib.import_module(package)
    for module in pkgutil.walk_packages(result.__path__, f"{package}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


async def _status(told: socket.socket, seconds: float) -> int:
    """The end of the command that reports here first its pid and then its status."""
    told.setblocking(False)
    loop, reply = asyncio.get_running_loop(), b""
    try:
        async with asyncio.timeout(seconds):
            while some := await loop.sock_recv(told, 100):
                reply += some
    except (TimeoutError, asyncio.CancelledError):
        os.killpg(int(reply.split()[0]), signal.SIGKILL)
        raise
    _, status = reply.split()
    return int(status)
