"""The example plugin, installed beside Parley, is found, connects, receives and sends for real."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from db.errors import StoreUnavailable
from gateway.errors import Permanent, StartError, Transient
from gateway.message import InboundEvent, MessageReceived, Outbound, OutboundFile, Part, Place
from gateway.people import Audience
from gateway.platforms import adapter_class, discover
from gateway.ports import AdapterContext, CanDiagnose, EventSink, PlatformAdapter
from gateway.ports.clock import SystemClock
from gateway.render import render
from parley.config import from_mapping
from tests.examples.installing import install
from tests.parley.cli.kit import ROOT, parley_alone, started_alone
from tests.support.adapter_context import NoState, NoWebhooks
from tests.support.patience import PATIENCE
from tests.support.ports import free_port

EXAMPLE = ROOT / "examples" / "parley-adapter-lines"
PASSWORD = "correct-horse"
MARKDOWN = "# The plan\n**soon**\n\n- one"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example in this process."""
    for folder in install(EXAMPLE, tmp_path):
        monkeypatch.syspath_prepend(str(folder))


def build(port: int = 0) -> PlatformAdapter:
    """The adapter as the program makes it: discovered, configured, loaded by name."""
    discovered = discover()
    settings = from_mapping(
        {"platforms": {"lines": {"port": port, "password": PASSWORD}}}, platforms=discovered
    )
    (account,) = settings.accounts()
    context = AdapterContext(
        account=account.name,
        assistant_name="Parley",
        clock=SystemClock(),
        state=NoState(),
        webhooks=NoWebhooks(),
        count=lambda what, detail="": None,
    )
    return adapter_class(discovered.manifests["lines"])(account.settings, context)


@asynccontextmanager
async def connected(sink: EventSink) -> AsyncIterator[tuple[PlatformAdapter, int]]:
    adapter = build()
    await adapter.connect(sink)
    try:
        yield adapter, adapter.port  # type: ignore[attr-defined]
    finally:
        await adapter.disconnect()
        await adapter.wait_closed()


@asynccontextmanager
async def a_person(
    port: int, first_line: str
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(first_line.encode() + b"\n")
    try:
        yield reader, writer
    finally:
        writer.close()
        await writer.wait_closed()


def text_to(adapter: PlatformAdapter, name: str) -> Outbound:
    """A text for a person of the adapter's."""
    place = Place(adapter.platform, adapter.account, name, Audience.DIRECT)
    return Outbound(key="k", place=place, part=Part("hi", "hi"))


async def nothing(event: InboundEvent) -> None:
    """Takes events and does nothing."""


@pytest.mark.usefixtures("installed")
def test_it_is_found_beside_the_built_in_platforms() -> None:
    discovered = discover()
    assert discovered.manifests["lines"].title == "Lines over TCP"
    assert "telegram" in discovered.manifests
    assert discovered.problems == ()


@pytest.mark.usefixtures("installed")
async def test_a_line_becomes_a_message_and_an_answer_becomes_lines() -> None:
    async def echo(event: InboundEvent) -> None:
        assert isinstance(event, MessageReceived)
        message = event.message
        assert message.place.audience is Audience.DIRECT
        assert message.author.id == "ada"
        part = Part(f"You said {message.content}.", f"You said {message.content}.")
        await adapter.send(Outbound(key="k1", place=message.place, part=part))

    async with connected(echo) as (adapter, port), a_person(port, f"ada {PASSWORD}") as (r, w):
        assert await r.readline() == b"Hello ada, this is Parley.\n"
        w.write("hübsch\n\nand more\n".encode())
        assert (await r.readline()).decode() == "You said hübsch.\n"
        assert (await r.readline()).decode() == "You said and more.\n"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("first", ["ada wrong", "ada", f"A!B {PASSWORD}", f"{PASSWORD}"])
async def test_a_connection_requires_the_password(first: str) -> None:
    async with connected(nothing) as (_, port), a_person(port, first) as (reader, _):
        assert await reader.read() == b"Write your name and the password.\n"


@pytest.mark.usefixtures("installed")
async def test_the_person_is_told_about_a_message_that_was_not_stored() -> None:
    async def broken(event: InboundEvent) -> None:
        raise StoreUnavailable("disk full")

    async with connected(broken) as (_, port), a_person(port, f"ada {PASSWORD}") as (r, w):
        await r.readline()
        w.write(b"hello\n")
        assert await r.readline() == b"That could not be stored; write it again.\n"


@pytest.mark.usefixtures("installed")
async def test_a_line_without_end_closes_the_connection() -> None:
    async with connected(nothing) as (_, port), a_person(port, f"ada {PASSWORD}") as (r, w):
        await r.readline()
        w.write(b"x" * 10_000)
        assert await r.read() == b""


@pytest.mark.usefixtures("installed")
async def test_impossible_sends_raise_the_typed_errors() -> None:
    async with connected(nothing) as (adapter, port):
        async with a_person(port, f"ada {PASSWORD}") as (reader, _):
            await reader.readline()
            place = text_to(adapter, "ada").place
            file = OutboundFile("a.txt", "text/plain", b"a")
            with pytest.raises(Permanent):
                await adapter.send(Outbound(key="k", place=place, file=file))
        with pytest.raises(Transient) as raised:
            await adapter.send(text_to(adapter, "bob"))
        assert raised.value.retry_after == 5.0


@pytest.mark.usefixtures("installed")
async def test_a_used_port_is_a_start_error_and_a_failed_check() -> None:
    async with connected(nothing) as (adapter, port):
        assert isinstance(adapter, CanDiagnose)
        assert [check.ok for check in await adapter.diagnose()] == [True]
        second = build(port)
        assert isinstance(second, CanDiagnose)
        (check,) = await second.diagnose()
        assert (check.ok, check.advice) == (False, "Choose another platforms.lines.port.")
        with pytest.raises(StartError, match="Cannot listen on"):
            await second.connect(nothing)


@pytest.mark.usefixtures("installed")
def test_its_own_renderer_is_used() -> None:
    (part,) = render(MARKDOWN, "lines")
    assert part == Part("The plan\n========\n*soon*\n\n* one", "The plan\nsoon\n\n• one")
    assert len(render("word " * 2_000, "lines")) == 3


async def test_the_command_line_renders_for_it(tmp_path: Path) -> None:
    path = os.pathsep.join(map(str, (ROOT, *install(EXAMPLE, tmp_path))))
    (tmp_path / "plan.md").write_text(MARKDOWN)
    ended = await parley_alone(
        "render", "--platform", "lines", "plan.md", cwd=tmp_path, env={"PYTHONPATH": path}
    )
    assert ended.out == "The plan\n========\n*soon*\n\n* one\n"


async def test_the_unmodified_program_answers_over_it(tmp_path: Path) -> None:
    path = os.pathsep.join(map(str, (ROOT, *install(EXAMPLE, tmp_path))))
    port = free_port()
    config = tmp_path / "parley.yaml"
    config.write_text(
        f"platforms: {{lines: {{port: {port}, password: {PASSWORD}}}}}\n"
        "server: {port: 0}\nwebhooks: {port: 0}\n"
    )
    async with started_alone(
        "run", "-c", str(config), cwd=tmp_path, env={"PYTHONPATH": path}
    ) as program:
        assert program.stdout is not None
        async with asyncio.timeout(PATIENCE):
            assert await program.stdout.readline() == b"ready lines\n"
            async with a_person(port, f"ada {PASSWORD}") as (reader, writer):
                await reader.readline()
                writer.write(b"hello\n")
                assert b"model" in await reader.readline()
