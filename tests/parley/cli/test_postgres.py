"""A program whose long-lived state is in PostgreSQL."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest
import yaml

from safety.http.shown_address import shown_address
from simulators.telegram import TelegramSimulator
from tests.parley.cli.kit import parley, read_until, started
from tests.support.patience import PATIENCE
from tests.support.servers import postgres_server


async def test_a_message_is_answered_and_explained_from_postgres(tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    await telegram.start()
    (tmp_path / "config").mkdir()
    with postgres_server() as server:
        (tmp_path / "config" / "parley.yaml").write_text(
            yaml.safe_dump(
                {
                    "platforms": {"telegram": telegram.settings()},
                    "server": {"port": 0},
                    "webhooks": {"port": 0},
                    "database": {"url": server.url},
                    "storage": {"url": "sqlite:///data/hot.db"},
                }
            )
        )
        room = telegram.direct(ada := telegram.person("Ada"))
        try:
            async with started("run", cwd=tmp_path) as process:
                await read_until(process.stdout, "ready gateway")
                await telegram.say(ada, room, "hello")
                await telegram.wait_for(room, lambda shown: any(m.by_bot for m in shown))
                process.send_signal(signal.SIGTERM)
                async with asyncio.timeout(PATIENCE):
                    await process.communicate()
        finally:
            await telegram.stop()
        question = next(m.id for m in telegram.shown(room) if not m.by_bot)
        why = await parley("why", str(question), cwd=tmp_path)
        backup = await parley("backup", "copy.db", cwd=tmp_path)
    assert (why.status, "-> answered" in why.out) == (0, True), why
    assert (backup.status, "pg_dump" in backup.err) == (1, True)


async def test_the_library_is_not_loaded_for_sqlite(tmp_path: Path) -> None:
    code = (
        "import sys, parley.app, parley.wiring.storage; from parley.config import from_mapping;"
        "from gateway.ports.clock import SystemClock;"
        "parley.wiring.storage.Storage(from_mapping({}), SystemClock());"
        "sys.exit('psycopg' in sys.modules)"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    assert await process.wait() == 0


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///data/parley.db", "sqlite:///data/parley.db"),
        (
            "postgresql://ada:pa55word@db.example:5433/parley",
            "postgresql://…@db.example:5433/parley",
        ),
        ("postgresql://db.example/parley?password=pa55word", "postgresql://db.example/parley?…"),
    ],
)
def test_a_password_in_the_address_is_never_printed(url: str, shown: str) -> None:
    assert shown_address(url) == shown
