"""Bare, shallow and SHA-256 repositories, linked work trees and packed branches are read alike."""

from pathlib import Path

from memory.git.location import locate
from memory.git.refs import branches
from memory.git.repository import opened_repository
from memory.knowledge.model import Mode
from tests.memory.knowledge.ingest.conftest import Knowledge
from tests.support.git import TestRepository, new_repository


async def test_a_bare_repository_is_read(knowledge: Knowledge, tmp_path: Path) -> None:
    knowledge.git.commit({"a.md": "a"})
    knowledge.git.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    await knowledge.register(tmp_path / "bare.git")
    await knowledge.ingest()
    assert await knowledge.files() == {"a.md": "a"}


async def test_a_shallow_clone_is_read_and_followed(knowledge: Knowledge, tmp_path: Path) -> None:
    origin = knowledge.git
    for number in range(5):
        origin.commit({"a.md": f"a {number}", "b.md": "b"})
    url, clone = f"file://{origin.folder}", TestRepository(tmp_path / "clone")
    origin.git("clone", "--quiet", "--depth=1", url, str(clone.folder))
    await knowledge.register(clone.folder)
    assert (await knowledge.ingest_one()).mode is Mode.WHOLE
    clone.commit({"a.md": "mine"})
    assert (await knowledge.ingest_one()).mode is Mode.CHANGES
    assert await knowledge.files() == {"a.md": "mine", "b.md": "b"}


async def test_a_sha256_repository_is_read_and_followed(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    git = new_repository(tmp_path / "long", "--object-format=sha256")
    git.commit({"a.md": "a", "b.md": "b"})
    await knowledge.register(git.folder)
    await knowledge.ingest()
    commit = git.commit({"a.md": "changed"})
    assert len(commit) == 64
    outcome = await knowledge.ingest_one()
    assert (outcome.mode, outcome.read) == (Mode.CHANGES, 1)
    assert await knowledge.files() == {"a.md": "changed", "b.md": "b"}


async def test_packed_objects_and_branches_are_read(knowledge: Knowledge) -> None:
    git = knowledge.git
    git.commit({"a.md": "a\n" * 500})
    git.commit({"a.md": "a\n" * 501})
    git.git("branch", "other")
    git.git("gc", "--quiet")
    assert not (git.folder / ".git" / "refs" / "heads" / "main").exists()
    await knowledge.ingest()
    assert (await knowledge.files())["a.md"].count("a") == 501
    assert set(dict(branches(locate(git.folder)))) == {"main", "other"}
    newer = git.commit({"a.md": "b"})
    assert dict(branches(locate(git.folder)))["main"] == newer


async def test_a_linked_work_tree_shares_the_repository_and_has_its_own_head(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    knowledge.git.commit({"a.md": "a"})
    linked = TestRepository(tmp_path / "linked")
    knowledge.git.git("worktree", "add", "--quiet", str(linked.folder), "-b", "topic")
    linked.commit({"b.md": "b"})
    assert locate(linked.folder).common_dir == locate(knowledge.git.folder).common_dir
    async with opened_repository(linked.folder) as opened:
        assert (await opened.head()).branch == "topic"
    await knowledge.register(linked.folder)
    await knowledge.ingest()
    assert await knowledge.files() == {"a.md": "a", "b.md": "b"}


async def test_the_remote_is_shown_without_credentials(knowledge: Knowledge) -> None:
    git = knowledge.git
    for given, shown in (
        (
            "https://ada:hunter2@git.example.com:8443/shop.git?x=1",
            "https://git.example.com:8443/shop.git",
        ),
        ("git@git.example.com:team/shop.git", "ssh://git.example.com/team/shop.git"),
        ("ssh://git@git.example.com/team/shop.git", "ssh://git.example.com/team/shop.git"),
        ("/home/ada/shop", ""),
        ("ext::sh -c evil", ""),
    ):
        git.git("config", "remote.origin.url", given)
        async with opened_repository(git.folder) as opened:
            assert await opened.remote() == shown
