"""`parley outbox`: dead letters are listed, sent again by a running gateway, or dropped."""

import asyncio
import signal
from pathlib import Path

import pytest
import yaml

from gateway.message import Outbound, Part, Place
from gateway.people import Audience
from gateway.ports.clock import SystemClock
from parley.config import from_mapping
from parley.wiring.storage import Storage
from simulators.telegram import TelegramSimulator
from tests.parley.cli.kit import parley, read_until, started
from tests.support.patience import PATIENCE


async def given_up(folder: Path, place: Place, *keys: str) -> None:
    """Leave dead letters in the database of this folder."""
    url = f"sqlite:///{folder}/data/parley.db"
    storage = Storage(from_mapping({"database": {"url": url}}), SystemClock())
    await storage.start()
    sends = [Outbound(key, place, Part(f"words of {key}", f"words of {key}")) for key in keys]
    await storage.stores.outbox.add(sends)
    await storage.stores.outbox.dead(keys, "Permanent: 403 bot was \x1b[31mblocked")
    await storage.stop()


def somewhere(channel: str = "42") -> Place:
    return Place("telegram", "main", channel, Audience.DIRECT)


async def test_dead_letters_are_listed_without_their_text(tmp_path: Path) -> None:
    await given_up(tmp_path, somewhere(), "a:0", "a:1")
    ended = await parley("outbox", "list", cwd=tmp_path)
    assert ended.status == 0, ended.err
    assert "a:0" in ended.out
    assert "a:1" in ended.out
    assert "telegram 42" in ended.out
    assert "Permanent: 403" in ended.out
    assert "words of" not in ended.out
    assert "\x1b" not in ended.out


async def test_the_named_dead_letters_are_dropped(tmp_path: Path) -> None:
    await given_up(tmp_path, somewhere(), "a:0", "b:0", "c:0")
    one = await parley("outbox", "drop", "a:0", "unknown", cwd=tmp_path)
    assert (one.status, one.out) == (1, "1 deleted.\n")
    assert one.err == ("1 key is not a dead letter. `parley outbox list` shows the dead letters.\n")
    rest = await parley("outbox", "drop", "--all", cwd=tmp_path)
    assert (rest.status, rest.out) == (0, "2 deleted.\n")
    assert (await parley("outbox", "list", cwd=tmp_path)).out == "Every answer was delivered.\n"


@pytest.mark.parametrize("arguments", [("resend",), ("drop",), ("resend", "a:0", "--all")])
async def test_keys_or_all_are_required(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ended = await parley("outbox", *arguments, cwd=tmp_path)
    assert ended.status == 2
    assert "--all" in ended.err


async def test_a_missing_database_is_reported(tmp_path: Path) -> None:
    ended = await parley("outbox", "list", cwd=tmp_path)
    assert ended.status == 1
    assert "no database" in ended.err
    assert not (tmp_path / "data").exists()


async def test_the_running_gateway_sends_resent_dead_letters(tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    await telegram.start()
    ada = telegram.person("Ada")
    room = telegram.direct(ada)
    await telegram.say(ada, room, "/start")
    (tmp_path / "config").mkdir()
    sections = {
        "platforms": {"telegram": telegram.settings()},
        "server": {"port": 0},
        "webhooks": {"port": 0},
    }
    (tmp_path / "config" / "parley.yaml").write_text(yaml.safe_dump(sections))
    keys = ("a:0", "a:1", "b:0")
    await given_up(tmp_path, somewhere(room.id), *keys)
    async with started("run", cwd=tmp_path) as process:
        await read_until(process.stdout, "ready gateway")
        one = await parley("outbox", "resend", "a:0", cwd=tmp_path)
        assert (one.status, one.out) == (0, "1 queued again.\n"), one.err
        rest = await parley("outbox", "resend", "--all", cwd=tmp_path)
        assert (rest.status, rest.out) == (0, "2 queued again.\n"), rest.err
        await telegram.wait_for(
            room, lambda shown: all(any(key in m.text for m in shown) for key in keys), 30
        )
        assert (await parley("outbox", "list", cwd=tmp_path)).out == "Every answer was delivered.\n"
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            _, err = await process.communicate()
    texts = [message.text for message in telegram.shown(room)]
    await telegram.stop()
    assert process.returncode == 0, err.decode()
    assert sorted(text for text in texts if "words of" in text) == [f"words of {k}" for k in keys]
