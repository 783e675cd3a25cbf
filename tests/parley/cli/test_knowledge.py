"""`parley knowledge`: repositories are registered, read, shown and forgotten."""

import json
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from parley.cli.knowledge.ingest import ingest_all
from parley.config import load
from parley.wiring.knowledge import open_knowledge
from tests.parley.cli.kit import Ended, parley
from tests.support.databases import migrated_database
from tests.support.git import TestRepository, new_repository
from tests.support.servers import PostgresServer


class Shop:
    """A folder with a configuration and a repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git: TestRepository = new_repository(folder / "shop")
        self.config = folder / "parley.yaml"
        self.config.write_text(f"database: {{url: sqlite:///{folder}/data/parley.db}}\n")

    async def knowledge(self, *arguments: str, cwd: Path | None = None) -> Ended:
        return await parley("knowledge", *arguments, "-c", str(self.config), cwd=cwd or self.folder)

    async def as_json(self, *arguments: str) -> dict[str, Any]:
        ended = await self.knowledge(*arguments, "--json")
        assert ended.status == 0, ended.err
        values: dict[str, Any] = json.loads(ended.out)
        return values


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


async def test_init_registers_and_reads_a_repository(shop: Shop) -> None:
    commit = shop.git.commit({"README.md": "# Shop", "app.py": "x = 1", "deploy.pem.md": "key"})
    ended = await shop.knowledge("init", "shop", "--project", "slack:main:T1")
    assert ended.status == 0, ended.err
    assert "read by project slack:main:T1, private" in ended.out
    assert "2 files read" in ended.out
    assert "skipped, name of a secret file: 1" in ended.out
    index = shop.folder / "data" / "knowledge.db"
    assert stat.S_IMODE(index.stat().st_mode) == 0o600
    status = await shop.as_json("status")
    assert (status["repository"], status["files"], status["private"]) == ("shop", 2, True)
    assert status["branches"][0]["state"] == "fresh"
    assert status["branches"][0]["commit"] == commit


async def test_what_an_ingest_leaves_in_the_work_tree_is_not_in_the_way(shop: Shop) -> None:
    commit = shop.git.commit({"a.md": "a"})
    await shop.knowledge("init", "shop")
    assert (shop.git.folder / ".agent/state/last_ingest_sha").read_text() == f"{commit}\n"
    assert commit[:12] in (shop.git.folder / ".agent/logs/ingestion.log").read_text()
    assert shop.git.git("status", "--porcelain") == ""
    await shop.knowledge("forget", "shop", "--yes")
    assert not (shop.git.folder / ".agent/state/last_ingest_sha").exists()


async def test_status_tells_a_stale_branch_and_a_folder_that_is_gone(shop: Shop) -> None:
    shop.git.commit({"a.md": "a"})
    await shop.knowledge("init", "shop")
    shop.git.commit({"a.md": "b"})
    assert (await shop.as_json("status"))["branches"][0]["state"] == "stale"
    shop.git.folder.rename(shop.folder / "elsewhere")
    status = await shop.as_json("status", "shop")
    assert status["branches"][0]["state"] == "gone"
    assert "cannot be read" in status["problem"]


async def test_the_repository_of_the_current_folder_is_meant_without_an_argument(
    shop: Shop,
) -> None:
    shop.git.commit({"docs/a.md": "a"})
    other = new_repository(shop.folder / "other")
    other.commit({"b.md": "b"})
    for name in ("shop", "other"):
        await shop.knowledge("init", name, "--later")
    ended = await shop.knowledge("ingest", cwd=shop.git.folder / "docs")
    assert [line for line in ended.out.splitlines() if "files read" in line] != []
    assert "other" not in ended.out
    everything = await shop.knowledge("ingest")
    assert "shop: main" in everything.out
    assert "other: main" in everything.out


@pytest.mark.parametrize("bare", [False, True])
async def test_a_linked_work_tree_registers_its_repository(shop: Shop, bare: bool) -> None:
    shop.git.commit({"a.md": "a"})
    tree, main = shop.folder / "tree", shop.git.folder
    if bare:
        main = shop.folder / "shop.git"
        shop.git.git("clone", "-q", "--bare", str(shop.git.folder), str(main))
        shop.git.git("--git-dir", str(main), "worktree", "add", "-q", "-b", "feature", str(tree))
    else:
        shop.git.git("worktree", "add", "-q", "-b", "feature", str(tree))
    ended = await shop.knowledge("init", "tree")
    assert ended.status == 0, ended.err
    assert f"its repository is {main}" in ended.out
    shutil.rmtree(tree)
    status = await shop.as_json("status", "shop")
    assert [(one["branch"], one["state"]) for one in status["branches"]] == [("main", "fresh")]


async def test_init_again_changes_only_what_is_given(shop: Shop) -> None:
    shop.git.commit({"a.md": "a"})
    await shop.knowledge("init", "shop", "--project", "slack:main:T1", "--room", "slack:main:T1:C1")
    await shop.knowledge("init", "shop", "--name", "store", "--later")
    status = await shop.as_json("status", "store")
    assert (status["project"], status["rooms"]) == ("slack:main:T1", ["slack:main:T1:C1"])
    await shop.knowledge("init", "shop", "--public", "--later")
    assert (await shop.as_json("status"))["private"] is False


async def test_a_taken_name_and_an_unknown_repository_are_refused_with_advice(shop: Shop) -> None:
    shop.git.commit({"a.md": "a"})
    new_repository(shop.folder / "nested" / "shop").commit({"b.md": "b"})
    await shop.knowledge("init", "shop")
    taken = await shop.knowledge("init", "nested/shop")
    assert (taken.status, "--name" in taken.err) == (1, True)
    unknown = await shop.knowledge("ingest", "nowhere")
    assert (unknown.status, "parley knowledge init nowhere" in unknown.err) == (1, True)
    folder = await shop.knowledge("init", str(shop.folder))
    assert (folder.status, "not a git repository" in folder.err) == (1, True)
    branch = await shop.knowledge("init", "shop", "--branch", "../x")
    assert (branch.status, "no name of a branch" in branch.err) == (1, True)


async def test_a_wrong_configuration_of_the_repository_names_file_line_and_key(
    shop: Shop,
) -> None:
    shop.git.commit({"a.md": "a"})
    await shop.knowledge("init", "shop")
    shop.git.commit({".agent/config.yaml": "ingestion:\n  includes: ['*.md']\n"})
    ended = await shop.knowledge("ingest", "shop")
    assert ended.status == 3
    assert "ingestion.includes (.agent/config.yaml line 2)" in ended.err
    assert (await shop.as_json("status"))["files"] == 1


@pytest.mark.parametrize(
    ("option", "value", "advice"),
    [
        ("--project", "shop", "written as `slack:main:T0123`"),
        ("--project", "slack:main:T 1", "written as `slack:main:T0123`"),
        ("--room", "general", "written as `slack:main:T0123:C0456`"),
        ("--room", "slack:main:T1", "written as `slack:main:T0123:C0456`"),
    ],
)
async def test_a_project_or_a_room_that_cannot_exist_is_refused(
    shop: Shop, option: str, value: str, advice: str
) -> None:
    ended = await shop.knowledge("init", "shop", "--later", option, value)
    assert (ended.status, advice in ended.err) == (1, True)


async def test_an_empty_project_and_an_empty_room_take_the_limits_back(shop: Shop) -> None:
    given = ("--project", "slack:main:T1", "--room", "slack:main:T1:C1")
    await shop.knowledge("init", "shop", "--later", *given)
    ended = await shop.knowledge("init", "shop", "--later", "--project", "", "--room", "")
    assert "read by the whole tenant, private; the branch" in ended.out


async def test_a_repository_that_cannot_be_read_does_not_keep_others_from_it(shop: Shop) -> None:
    broken, gone = new_repository(shop.folder / "broken"), new_repository(shop.folder / "gone")
    for git in (broken, gone, shop.git):
        git.commit({"a.md": "a"})
        await shop.knowledge("init", str(git.folder))
    broken.commit({".agent/config.yaml": "ingest: {}\n"})
    shutil.rmtree(gone.folder)
    commit = shop.git.commit({"a.md": "b"})
    ended = await shop.knowledge("ingest", "--json")
    assert ended.status == 1
    assert "broken: The configuration has a problem" in ended.err
    assert f"gone: {gone.folder}: cannot be read" in ended.err
    (read,) = map(json.loads, ended.out.splitlines())
    assert (read["repository"], read["branches"][0]["commit"]) == ("shop", commit)


async def test_an_ingest_says_that_the_repository_was_forgotten_meanwhile(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.git.commit({"a.md": "a"})
    await shop.knowledge("init", "shop", "--later")
    settings = load(shop.config, {})
    index = open_knowledge(settings)
    await index.start()
    try:
        (repository,) = await index.stores.repositories.all()
        await index.stores.repositories.forget(repository.id)
        assert await ingest_all(settings, index, [repository]) == 1
    finally:
        await index.stop()
    assert "shop was forgotten meanwhile" in capsys.readouterr().err
    assert not (shop.git.folder / ".agent").exists()


async def test_forget_leaves_nothing_of_the_repository_in_the_file(shop: Shop) -> None:
    shop.git.commit({"a.md": "a word such as quokka"})
    await shop.knowledge("init", "shop")
    question = await shop.knowledge("forget", "shop")
    assert (question.status, (await shop.as_json("status"))["files"]) == (1, 1)
    assert (await shop.knowledge("forget", "shop", "--yes")).status == 0
    assert (await shop.knowledge("status")).status == 1
    index = shop.folder / "data" / "knowledge.db"
    assert b"quokka" not in index.read_bytes()
    with closing(sqlite3.connect(index)) as database:
        tables = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'knowledge_%'"
            " AND name NOT LIKE 'knowledge_text%'"
        )
        for (table,) in tables.fetchall():
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table


async def test_hooks_that_another_tool_replaced_are_named_with_the_next_step(shop: Shop) -> None:
    shop.git.commit({"a.md": "a"})
    await shop.knowledge("init", "shop")
    assert (await shop.as_json("status"))["lost_hooks"] == []
    await shop.knowledge("hooks", "install", "shop")
    assert "do not run" not in (await shop.knowledge("status")).out
    (shop.git.folder / ".git" / "hooks" / "post-commit").write_text("#!/bin/sh\nlefthook run\n")
    for command in ("status", "ingest"):
        told = (await shop.knowledge(command)).out
        assert "do not run any more: post-commit; " in told
        assert f"`parley knowledge hooks install {shop.git.folder}`" in told
    assert (await shop.as_json("ingest"))["lost_hooks"] == ["post-commit"]
    shop.git.git("config", "core.hooksPath", ".husky/_")
    assert len((await shop.as_json("status"))["lost_hooks"]) == 6
    shop.git.git("config", "core.hooksPath", "/elsewhere")
    assert len((await shop.as_json("status"))["lost_hooks"]) == 6
    await shop.knowledge("hooks", "install", "shop")
    shop.git.git("config", "--unset", "core.hooksPath")
    await shop.knowledge("hooks", "install", "shop")
    assert "do not run" not in (await shop.knowledge("status")).out
    await shop.knowledge("hooks", "remove", "shop")
    assert (await shop.as_json("status"))["lost_hooks"] == []


@pytest.mark.xdist_group("postgres")
async def test_with_postgresql_the_index_is_in_the_database(
    shop: Shop, postgres: PostgresServer
) -> None:
    shop.config.write_text(f"database: {{url: '{migrated_database(postgres)}'}}\n")
    shop.git.commit({"a.md": "a"})
    assert (await shop.knowledge("init", "shop")).status == 0
    assert (await shop.as_json("status"))["files"] == 1
    assert not (shop.folder / "data" / "knowledge.db").exists()
    assert (await shop.knowledge("forget", "shop", "--yes")).status == 0


async def test_a_name_does_not_control_the_terminal(shop: Shop) -> None:
    evil = new_repository(shop.folder / "evil \x1b[2J \u202e name")
    evil.commit({"a.md": "a"})
    outputs = [
        await shop.knowledge(*arguments)
        for arguments in (
            ("init", str(evil.folder), "--name", "evil"),
            ("hooks", "install", str(evil.folder)),
            ("status",),
            ("ingest",),
            ("search", "a"),
            ("forget", "evil"),
            ("status", "no \x1b[2J repository"),
        )
    ]
    assert [ended.status for ended in outputs] == [0, 0, 0, 0, 0, 1, 1]
    for ended in outputs:
        assert not {"\x1b", "\u202e"} & set(ended.out + ended.err)
    assert "evil \\x1b[2J \\u202e name" in outputs[2].out
    assert "no \\x1b[2J repository" in outputs[-1].err
