"""The index follows a branch: changes, renames, deletions, rebases, force pushes."""

import pytest

from db.errors import StoreUnavailable
from db.sqlite import SqliteDatabase
from memory.knowledge.ingest import branch
from memory.knowledge.ingest.ingester import Splitter
from memory.knowledge.model import IngestProgress, Mode
from tests.memory.knowledge.ingest.conftest import Knowledge
from tests.memory.knowledge.line_splitter import split_lines


async def test_the_first_ingest_reads_the_whole_commit(knowledge: Knowledge) -> None:
    commit = knowledge.git.commit(
        {"README.md": "# Shop\nSells.\n", "src/pay.py": "def pay():\n    pass\n", "logo.png": "x"}
    )
    outcome = await knowledge.ingest()
    (branch,) = outcome.branches
    assert (branch.name, branch.commit, branch.previous) == ("main", commit, "")
    assert (branch.mode, branch.read, branch.kept, branch.removed) == (Mode.WHOLE, 2, 0, 0)
    assert await knowledge.files() == {
        "README.md": "# Shop|Sells.",
        "src/pay.py": "def pay():|    pass",
    }
    assert (outcome.totals.files, outcome.totals.chunks, outcome.busy) == (2, 4, False)
    assert knowledge.progress[-1] == IngestProgress("main", 2, 2)


async def test_nothing_is_done_where_nothing_changed(knowledge: Knowledge) -> None:
    knowledge.git.commit({"a.md": "a"})
    await knowledge.ingest()
    outcome = await knowledge.ingest_one()
    assert (outcome.mode, outcome.read, outcome.kept) == (Mode.UNCHANGED, 0, 0)


async def test_a_commit_more_reads_only_what_it_changed(knowledge: Knowledge) -> None:
    first = knowledge.git.commit({"a.md": "a", "b.md": "b", "c.md": "c"})
    await knowledge.ingest()
    (knowledge.git.folder / "c.md").unlink()
    second = knowledge.git.commit({"b.md": "changed", "d.md": "d"})
    outcome = await knowledge.ingest_one()
    assert (outcome.mode, outcome.read, outcome.kept, outcome.removed) == (Mode.CHANGES, 2, 0, 1)
    assert await knowledge.files() == {"a.md": "a", "b.md": "changed", "d.md": "d"}
    assert await knowledge.commits() == {"a.md": first, "b.md": second, "d.md": second}
    assert sorted(knowledge.stores.words.texts.values()) == ["a", "chang", "d"]  # the stem


async def test_a_renamed_file_keeps_its_content_and_loses_its_old_path(
    knowledge: Knowledge,
) -> None:
    knowledge.git.commit({"src/pay.py": "pay", "src/keep.py": "keep"})
    await knowledge.ingest()
    numbers = dict(knowledge.stores.words.texts)
    knowledge.git.git("mv", "src", "lib")
    knowledge.git.commit()
    await knowledge.ingest()
    assert await knowledge.files() == {"lib/pay.py": "pay", "lib/keep.py": "keep"}
    assert knowledge.stores.words.texts == numbers


async def test_a_file_that_becomes_a_link_leaves_the_index(knowledge: Knowledge) -> None:
    knowledge.git.commit({"a.md": "a", "b.md": "b"})
    await knowledge.ingest()
    (knowledge.git.folder / "b.md").unlink()
    (knowledge.git.folder / "b.md").symlink_to("a.md")
    knowledge.git.commit()
    await knowledge.ingest()
    assert await knowledge.files() == {"a.md": "a"}
    assert await knowledge.skipped() == {"b.md": "symbolic link"}


async def test_after_a_rebase_of_100_commits_nothing_is_read_twice(knowledge: Knowledge) -> None:
    git = knowledge.git
    git.commit({"base.md": "base"})
    git.git("checkout", "--quiet", "-b", "topic")
    for number in range(100):
        git.commit({f"topic/{number}.py": f"number {number}"})
    await knowledge.ingest()
    git.git("checkout", "--quiet", "main")
    git.commit({"other.md": "other"})
    git.git("checkout", "--quiet", "topic")
    git.git("rebase", "--quiet", "main")
    tip = git.git("rev-parse", "HEAD")
    outcome = await knowledge.ingest_one()
    assert (outcome.mode, outcome.read, outcome.kept) == (Mode.WHOLE, 1, 101)
    files = await knowledge.files()
    assert len(files) == 102
    assert files["other.md"] == "other"
    assert set((await knowledge.commits()).values()) == {tip}


async def test_a_force_push_takes_away_what_it_took_back(knowledge: Knowledge) -> None:
    git = knowledge.git
    first = git.commit({"a.md": "a"})
    git.commit({"a.md": "changed", "mistake.md": "oops"})
    await knowledge.ingest()
    git.git("reset", "--hard", "--quiet", first)
    git.git("reflog", "expire", "--expire=now", "--all")
    git.git("gc", "--quiet", "--prune=now")
    outcome = await knowledge.ingest_one()
    assert (outcome.mode, outcome.commit) == (Mode.WHOLE, first)
    assert await knowledge.files() == {"a.md": "a"}
    assert list(knowledge.stores.words.texts.values()) == ["a"]


async def test_the_checked_out_branch_is_followed(knowledge: Knowledge) -> None:
    git = knowledge.git
    git.commit({"a.md": "a", "b.md": "b"})
    await knowledge.ingest()
    git.git("checkout", "--quiet", "-b", "topic")
    outcome = await knowledge.ingest_one()
    assert (outcome.name, outcome.read) == ("topic", 0)
    git.commit({"b.md": "topic"})
    await knowledge.ingest()
    git.git("checkout", "--quiet", "main")
    outcome = await knowledge.ingest_one()
    assert (outcome.name, outcome.read) == ("main", 1)
    assert await knowledge.files("main") == await knowledge.files() == {"a.md": "a", "b.md": "b"}
    git.git("checkout", "--quiet", "--detach")
    assert (await knowledge.ingest_one()).name == "HEAD"
    assert await knowledge.files("HEAD") == {"a.md": "a", "b.md": "b"}


async def test_several_branches_share_what_they_have_in_common(knowledge: Knowledge) -> None:
    git = knowledge.git
    git.commit({"a.md": "a", "b.md": "b"})
    git.git("checkout", "--quiet", "-b", "next")
    git.commit({"b.md": "next"})
    git.git("branch", "unwanted")
    await knowledge.register(git.folder, branches=("main", "next", "gone"))
    outcome = await knowledge.ingest()
    assert [(one.name, one.read, one.kept) for one in outcome.branches] == [
        ("main", 2, 0),
        ("next", 1, 1),
    ]
    assert outcome.missing == ("gone",)
    assert await knowledge.files("next") == {"a.md": "a", "b.md": "next"}
    assert outcome.totals.contents == 3
    await knowledge.register(git.folder, branches=("next",))
    await knowledge.ingest()
    assert await knowledge.files("main") == {}
    assert sorted(knowledge.stores.words.texts.values()) == ["a", "next"]


async def test_force_and_another_version_of_splitting_read_everything_again(
    knowledge: Knowledge,
) -> None:
    knowledge.git.commit({"a.md": "a", "b.md": "b"})
    await knowledge.ingest()
    assert (await knowledge.ingest_one(force=True)).read == 2
    assert (await knowledge.ingest_one()).mode is Mode.UNCHANGED
    newer = knowledge.ingester(Splitter(split_lines, 2))
    outcome = await newer.ingest(knowledge.registered, knowledge.progress.append)
    assert outcome.branches[0].read == 2
    assert sorted(knowledge.stores.words.texts.values()) == ["a", "b"]


async def test_other_rules_in_the_repository_apply_to_files_that_did_not_change(
    knowledge: Knowledge,
) -> None:
    knowledge.git.commit({"a.md": "a", "src/a.py": "code", "notes/a.log": "log"})
    await knowledge.ingest()
    knowledge.git.commit(
        {".agent/config.yaml": 'ingestion:\n  include: ["notes/**", "*.md"]\n  code: []\n'}
    )
    outcome = await knowledge.ingest_one()
    assert (outcome.mode, outcome.read, outcome.kept, outcome.removed) == (Mode.WHOLE, 1, 1, 1)
    assert await knowledge.files() == {"a.md": "a", "notes/a.log": "log"}


async def test_an_empty_repository_has_nothing_to_ingest(knowledge: Knowledge) -> None:
    outcome = await knowledge.ingest()
    assert (outcome.branches, outcome.busy, outcome.totals.files) == ((), False, 0)


async def test_a_change_that_removes_too_many_paths_is_read_as_the_whole_commit(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branch, "MAX_REMOVED", 3)
    git = knowledge.git
    git.commit({f"{number}.md": f"text {number}" for number in range(8)})
    await knowledge.ingest()
    git.git("rm", "--quiet", *(f"{number}.md" for number in range(4)))
    git.commit({"9.md": "text 9"})
    outcome = await knowledge.ingest_one()
    assert (outcome.mode, outcome.read, outcome.kept, outcome.removed) == (Mode.WHOLE, 1, 4, 4)
    git.git("rm", "--quiet", *(f"{number}.md" for number in range(4, 7)))
    git.commit()
    assert (await knowledge.ingest_one()).mode is Mode.CHANGES
    assert sorted(await knowledge.files()) == ["7.md", "9.md"]


async def test_an_interrupted_ingest_continues_where_it_stopped(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge.git.commit({f"{number:03}.md": f"text {number}" for number in range(250)})
    writes = 0
    write = type(knowledge.stores.files).write

    async def interrupted(*arguments: object) -> None:
        nonlocal writes
        writes += 1
        if writes == 3:
            raise KeyboardInterrupt
        await write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(type(knowledge.stores.files), "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        await knowledge.ingest()
    monkeypatch.undo()
    outcome = await knowledge.ingest_one()
    assert (outcome.mode, outcome.read, outcome.kept) == (Mode.WHOLE, 50, 200)
    assert len(await knowledge.files()) == 250


async def test_an_interrupted_ingest_with_new_rules_applies_them_to_every_file(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge.git.commit({"a.md": "a", "notes/a.log": "log"})
    await knowledge.ingest()
    include = 'ingestion:\n  include: ["notes/**"]\n  code: []\n'
    knowledge.git.commit({".agent/config.yaml": include})

    async def never(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(knowledge.stores.files), "write", never)
    with pytest.raises(KeyboardInterrupt):
        await knowledge.ingest()
    monkeypatch.undo()
    assert (await knowledge.ingest_one()).mode is Mode.WHOLE
    assert await knowledge.files() == {"notes/a.log": "log"}


async def test_a_full_disk_interrupts_an_ingest_and_the_next_one_continues(
    knowledge: Knowledge,
) -> None:
    database = knowledge.stores.database
    if not isinstance(database, SqliteDatabase):
        pytest.skip("a server has disks of its own")
    texts = {f"{number:03}.md": f"text {number} " * 400 for number in range(250)}
    commit = knowledge.git.commit(texts)
    await database.run_job(lambda db: db.execute("PRAGMA max_page_count = 150").fetchall())
    with pytest.raises(StoreUnavailable, match="full"):
        await knowledge.ingest()
    (state,) = await knowledge.stores.files.branches("r1")
    assert (state.commit, state.target) == ("", commit)
    stored = await knowledge.files()
    assert 0 < len(stored) < 250
    assert stored == {path: texts[path] for path in stored}
    await database.run_job(lambda db: db.execute("PRAGMA max_page_count = 100000").fetchall())
    outcome = await knowledge.ingest_one()
    assert (outcome.read, outcome.kept) == (250 - len(stored), len(stored))
    assert await knowledge.files() == texts


async def test_an_interrupted_change_is_undone_when_the_branch_went_back(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = knowledge.git.commit({"a.md": "a"})
    await knowledge.ingest()
    knowledge.git.commit({"a.md": "changed"})

    async def never(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(knowledge.stores.files), "finish", never)
    with pytest.raises(KeyboardInterrupt):
        await knowledge.ingest()
    monkeypatch.undo()
    knowledge.git.git("reset", "--hard", "--quiet", first)
    await knowledge.ingest()
    assert await knowledge.files() == {"a.md": "a"}


async def test_a_second_ingest_leaves_and_the_first_one_takes_its_commit_along(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge.git.commit({"a.md": "a"})
    finish = type(knowledge.stores.files).finish
    seconds: list[bool] = []

    async def meanwhile(*arguments: object) -> None:
        await finish(*arguments)  # type: ignore[arg-type]
        if not seconds:
            knowledge.git.commit({"b.md": "b"})
            other = knowledge.ingester()
            outcome = await other.ingest(knowledge.registered, knowledge.progress.append)
            seconds.append(outcome.busy)

    monkeypatch.setattr(type(knowledge.stores.files), "finish", meanwhile)
    outcome = await knowledge.ingest()
    assert seconds == [True]
    assert not outcome.busy
    assert await knowledge.files() == {"a.md": "a", "b.md": "b"}
