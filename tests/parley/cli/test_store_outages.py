"""Commands that need only the database work while Redis is down; the others name it."""

from pathlib import Path

import pytest
import yaml

from tests.parley.cli.kit import parley
from tests.support.databases import migrated_database
from tests.support.ports import free_port
from tests.support.servers import PostgresServer

pytestmark = pytest.mark.xdist_group("databases")


@pytest.fixture
def config(tmp_path: Path, postgres: PostgresServer) -> str:
    """The configuration of an installation whose Redis does not run."""
    path = tmp_path / "parley.yaml"
    document = {
        "model": {"provider": "offline"},
        "platforms": {"web": {"enabled": True}},
        "storage": {"url": f"redis://127.0.0.1:{free_port()}/0"},
        "database": {"url": migrated_database(postgres)},
        "server": {"port": free_port(), "token_key": "k" * 40},
    }
    path.write_text(yaml.safe_dump(document))
    return str(path)


@pytest.mark.parametrize(
    "command",
    [("console", "link", "--operator"), ("usage",), ("audit", "show"), ("config", "list")],
)
async def test_a_command_of_the_database_works_without_redis(
    command: tuple[str, ...], config: str, tmp_path: Path
) -> None:
    ended = await parley(*command, "--config", config, cwd=tmp_path)
    assert ended.status == 0, ended.err


async def test_a_command_that_needs_redis_names_it_and_the_next_step(
    config: str, tmp_path: Path
) -> None:
    ended = await parley("outbox", "list", "--config", config, cwd=tmp_path)
    assert ended.status == 1
    assert ended.err.startswith("Redis: ")
    assert "parley doctor" in ended.err
    status = await parley("status", "--config", config, cwd=tmp_path)
    assert status.status == 1
    assert "The stores cannot be read: Redis: " in status.out
