"""`parley config`, and the overrides in `parley check-config` and `parley doctor`."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from gateway.ports.clock import SystemClock
from gateway.stores.config_versions import ConfigVersion
from parley.cli.config import NONE
from parley.config import from_mapping
from parley.config.overrides import Override, written
from parley.wiring.live_configuration import stored_configuration
from parley.wiring.storage import Storage
from tests.parley.cli.kit import parley

BLOCKED = Override(("access", "blocked_users"), ["web:eve"])
LIMIT = Override(("limits", "user_per_minute"), 9)
GONE = Override(("tools", "gone__tool"), {"role": "owner"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a configuration whose database is beside it."""
    made = {
        "database": {"url": f"sqlite:///{tmp_path}/parley.db"},
        "access": {"owners": ["web:oona"]},
        "platforms": {"web": {"enabled": True}},
        "server": {"port": 0, "token": "${SECRET}"},
        "webhooks": {"port": 0},
    }
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump(made))
    return tmp_path


async def store(folder: Path, *versions: Sequence[Override]) -> None:
    """Store versions as a program does."""
    url = {"database": {"url": f"sqlite:///{folder}/parley.db"}}
    storage = Storage(from_mapping(url), SystemClock())
    await storage.start(exclusive=False)
    try:
        for number, overrides in enumerate(versions, 1):
            keys = tuple(one.key for one in overrides)
            made = ConfigVersion(
                number, number, "web:main:oona", SystemClock().now(), keys, written(overrides)
            )
            assert await storage.config_versions.add(made)
    finally:
        await storage.stop()


async def run(folder: Path, *words: str) -> tuple[int, str]:
    """The status and the output of a command."""
    env = {"SECRET": "a-hidden-token-0123456789"}
    ended = await parley(*words, "--config", "parley.yaml", cwd=folder, env=env)
    assert "hidden" not in ended.out
    return ended.status, ended.out + ended.err


async def test_overrides_are_listed_undone_and_removed(folder: Path) -> None:
    await store(folder, [BLOCKED], [BLOCKED, LIMIT, GONE])
    status, out = await run(folder, "config", "list")
    assert status == 1
    assert "access.blocked_users = ['web:eve']" in out
    assert "limits.user_per_minute = 9" in out
    assert "ignored: tools.gone__tool = " in out
    assert "names no server of mcp.servers" in out
    assert "Version 2" in out
    status, out = await run(folder, "check-config")
    assert status == 0
    assert "overrides  access.blocked_users, limits.user_per_minute" in out
    assert "ignored    tools.gone__tool" in out
    _, out = await run(folder, "doctor")
    assert "ok      overrides: access.blocked_users, limits.user_per_minute" in out
    assert "note    override: tools.gone__tool" in out
    status, out = await run(folder, "config", "undo")
    assert status == 0
    assert "Version 3 undoes: limits.user_per_minute, tools.gone__tool." in out
    status, out = await run(folder, "config", "export")
    assert status == 0
    values = yaml.safe_load(out)
    assert values["access"] == {"owners": ["web:oona"], "blocked_users": ["web:eve"]}
    assert values["server"]["token"] == "${SECRET}"
    status, out = await run(folder, "config", "reset")
    assert out == "All overrides are removed: access.blocked_users.\n"
    assert await run(folder, "config", "reset") == (0, NONE)
    assert await run(folder, "config", "list") == (0, NONE)
    _, out = await run(folder, "check-config")
    assert "  overrides  " not in out
    _, out = await run(folder, "audit", "show")
    assert out.count("configuration_changed") == 2


async def test_without_a_database_the_commands_say_so(folder: Path) -> None:
    for command in ("list", "undo", "reset", "export"):
        status, out = await run(folder, "config", command)
        assert status == 1
        assert "There is no database" in out
    assert (await run(folder, "check-config"))[0] == 0


async def test_an_unreadable_version_is_ignored(folder: Path) -> None:
    await store(folder)
    settings = from_mapping({"database": {"url": f"sqlite:///{folder}/parley.db"}})
    storage = Storage(settings, SystemClock())
    await storage.start(exclusive=False)
    try:
        broken = ConfigVersion(1, 1, "", SystemClock().now(), (), "{not json")
        assert await storage.config_versions.add(broken)
        live = await stored_configuration(settings, storage)
        assert live.settings == settings
        assert "1 override is ignored" in live.problem
    finally:
        await storage.stop()
    status, out = await run(folder, "config", "reset")
    assert status == 0
    assert out.startswith("All overrides are removed: all.\n")
