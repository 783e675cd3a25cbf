"""The demo as a program: its exit status, its port, its end."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from parley.demo.run import free_port
from tests.parley.cli.kit import ROOT, parley
from tests.parley.cli.warm import warm
from tests.support.patience import PATIENCE


@asynccontextmanager
async def forked(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """The demo in a process that has imported it already, without any key."""
    imported = await asyncio.to_thread(warm, os.environ["PATH"], str(ROOT))
    kept = {name: value for name, value in os.environ.items() if "API_KEY" not in name}
    env = {**kept, "COLUMNS": "100"}
    async with imported.running(("demo", *arguments), cwd=ROOT, env=env) as process:
        yield process


@asynccontextmanager
async def started(*arguments: str, ignoring: bool) -> AsyncIterator[asyncio.subprocess.Process]:
    """As `forked`, or as `start` where it begins with SIGINT ignored."""
    if not ignoring:
        async with forked(*arguments) as process:
            yield process
    else:
        yield await start(*arguments, ignoring=True)


async def start(*arguments: str, ignoring: bool = False) -> asyncio.subprocess.Process:
    """The demo in an interpreter of its own, without any key.

    `ignoring` starts it as a script starts what it puts into the background: SIGINT is ignored.
    """
    kept = {name: value for name, value in os.environ.items() if "API_KEY" not in name}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "parley.demo",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**kept, "COLUMNS": "100"},
        preexec_fn=_ignore_interrupts if ignoring else None,
    )


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


async def test_once_plays_the_story_on_all_platforms_and_exits_with_0() -> None:
    process = await start("--once")
    output, errors = await process.communicate()
    text = output.decode()
    assert process.returncode == 0, text + errors.decode()
    assert errors == b""
    for platform in ("Discord", "Slack", "Telegram", "WhatsApp"):
        assert f"│ {platform}" in text
    assert "refused:limits" in text
    assert "An agent hands you a task." in text
    assert "You have accepted the task." in text
    assert "docs/adr/0001-order-queue.md:" in text
    assert "I do not find it in the repositories." in text
    assert "is not." not in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_page_is_served_until_a_signal(number: signal.Signals) -> None:
    async with forked("--port", "0") as process, asyncio.timeout(2 * PATIENCE):
        assert process.stdout is not None
        assert process.stderr is not None
        while b"Write messages yourself:" not in (line := await process.stdout.readline()):
            assert line, "the demo ended before it served its page"
        process.send_signal(number)
        assert await process.wait() == 0
        assert b"http://127.0.0.1:" in line
        assert await process.stderr.read() == b""


@pytest.mark.parametrize(
    ("number", "ignoring"),
    [
        pytest.param(signal.SIGINT, True, id="SIGINT in the background"),
        pytest.param(signal.SIGTERM, False, id="SIGTERM"),
        pytest.param(signal.SIGINT, False, id="SIGINT", marks=pytest.mark.nightly),
        pytest.param(
            signal.SIGTERM, True, id="SIGTERM in the background", marks=pytest.mark.nightly
        ),
    ],
)
async def test_a_signal_during_the_story_ends_it_and_leaves_nothing(
    number: signal.Signals, ignoring: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    async with (
        started("--once", ignoring=ignoring) as process,
        asyncio.timeout(2 * PATIENCE),
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        while b"Telegram" not in await process.stdout.readline():
            pass
        assert list(tmp_path.iterdir()) != [], "it works somewhere else"
        process.send_signal(number)
        assert await process.wait() == 130
        assert b"Traceback" not in await process.stderr.read()
    assert list(tmp_path.iterdir()) == []


async def test_a_used_port_is_reported() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with forked("--port", str(port)) as process:
            output, _ = await process.communicate()
    assert process.returncode == 2
    assert b"The demo cannot start" in output
    assert str(port).encode() in output
    assert b"--port" in output
    assert b"server.port" not in output


def test_the_next_free_port_is_used() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert free_port(port, 1) == 0
        assert free_port(port, 20) != port


@pytest.mark.parametrize("port", ["-1", "65536", "http", "8 0"])
async def test_a_port_must_be_a_number(port: str, tmp_path: Path) -> None:
    ended = await parley("demo", f"--port={port}", cwd=tmp_path)
    assert (ended.status, ended.out) == (2, "")
    assert "Invalid value for '--port'" in ended.err


async def test_the_module_is_the_same_program_as_the_command(tmp_path: Path) -> None:
    command = await parley("demo", "--help", cwd=tmp_path)
    module = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "parley.demo", "--help", stdout=asyncio.subprocess.PIPE
    )
    output, _ = await module.communicate()
    assert (module.returncode, output.decode()) == (0, command.out)
    assert "--once" in command.out
    assert "--port" in command.out
