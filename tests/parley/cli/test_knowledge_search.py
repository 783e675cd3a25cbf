"""`parley knowledge search` finds parts of files, with citations and links."""

import json
from pathlib import Path

import pytest

from tests.parley.cli.kit import Ended, parley
from tests.support.git import TestRepository, new_repository

OLD, NEW = "docs/adr/0001-table.md", "docs/adr/0002-broker.md"
FILES = {
    "app/queue.py": "def send_later(message):\n    broker.put(message)\n",
    OLD: "# Queue in a table\n\n## Status\n\nSuperseded by [2](0002-broker.md)\n\nA queue.\n",
    NEW: "# Queue in a broker\n\n## Status\n\nAccepted\n\nA queue.\n",
    "docs/evil.md": "# Evil\n\nclear \x1b[2J the screen\n",
}


class Shop:
    """A registered repository in a folder with a configuration."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._config = folder / "parley.yaml"
        self._config.write_text(f"database: {{url: sqlite:///{folder}/data/parley.db}}\n")
        self.git: TestRepository = new_repository(folder / "shop")
        self.commit = self.git.commit(FILES)

    async def knowledge(self, *arguments: str) -> Ended:
        return await parley("knowledge", *arguments, "-c", str(self._config), cwd=self._folder)


@pytest.fixture
async def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path)
    made.git.git("remote", "add", "origin", "git@github.com:acme/shop.git")
    ended = await made.knowledge("init", "shop", "--project", "slack:main:T1")
    assert ended.status == 0, ended.err
    return made


async def test_a_result_has_a_citation_and_a_link(shop: Shop) -> None:
    ended = await shop.knowledge("search", "where are messages sent later")
    assert ended.status == 0, ended.err
    first, symbol, link = ended.out.splitlines()[:3]
    assert first == f"shop  app/queue.py:1-2@{shop.commit[:12]}"
    assert symbol == "  send_later"
    assert link == f"  https://github.com/acme/shop/blob/{shop.commit}/app/queue.py#L1-L2"


async def test_a_superseded_decision_says_by_what(shop: Shop) -> None:
    ended = await shop.knowledge("search", "queue in a table", "--kind", "decision", "--json")
    found = [json.loads(line) for line in ended.out.splitlines()]
    assert [(one["path"], one["superseded_by"]) for one in found] == [(NEW, ""), (OLD, NEW)]
    ended = await shop.knowledge("search", "queue in a table", "--kind", "decision")
    assert f"superseded by {NEW}" in ended.out


async def test_nothing_found_is_said(shop: Shop) -> None:
    ended = await shop.knowledge("search", "zebra", "--topic", "security")
    assert (ended.status, ended.out) == (0, "Nothing found.\n")


async def test_a_file_does_not_control_the_terminal(shop: Shop) -> None:
    ended = await shop.knowledge("search", "evil screen")
    assert "docs/evil.md" in ended.out
    assert "\x1b" not in ended.out


async def test_an_unknown_tenant_is_an_error(shop: Shop) -> None:
    ended = await shop.knowledge("search", "queue", "--tenant", "other")
    assert ended.status == 1
    assert "parley knowledge init" in ended.err
