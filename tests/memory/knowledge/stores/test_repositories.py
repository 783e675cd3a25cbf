"""Repositories are registered once for a tenant, and forgotten completely."""

from db import Statement
from gateway.immutable import replace
from memory.knowledge.model import FileKind, SkippedFile, SkipReason
from memory.knowledge.ports import Batch
from memory.knowledge.schema import partition_of
from tests.memory.knowledge.stores.conftest import Stores
from tests.memory.knowledge.values import AT, new_file, repository

ONE = "1" * 40


async def test_a_repository_is_read_back_as_it_was_stored(stores: Stores) -> None:
    first = repository(branches=("main", "next"))
    assert await stores.repositories.add(first)
    assert await stores.repositories.get("r1") == first
    assert await stores.repositories.in_folder("/code/shop/.git") == [first]
    assert await stores.repositories.in_folder("/code") == []
    assert await stores.repositories.get("r2") is None


async def test_a_name_and_a_folder_are_taken_once_in_a_tenant(stores: Stores) -> None:
    assert await stores.repositories.add(repository())
    assert not await stores.repositories.add(repository(id="r2", git_dir="/other"))
    assert not await stores.repositories.add(repository(id="r2", name="other"))
    assert not await stores.repositories.add(repository())
    assert await stores.repositories.add(repository(id="r2", tenant="b"))
    assert [one.id for one in await stores.repositories.all()] == ["r2", "r1"]
    assert len(await stores.repositories.in_folder("/code/shop/.git")) == 2


async def test_settings_change_and_the_folder_with_the_objects_does_not(stores: Stores) -> None:
    await stores.repositories.add(repository())
    await stores.repositories.add(repository(id="r2", name="other", git_dir="/other"))
    changed = replace(repository(), private=False, rooms=(), project="", name="store")
    assert await stores.repositories.change(changed)
    assert await stores.repositories.get("r1") == changed
    assert not await stores.repositories.change(replace(changed, name="other"))
    assert not await stores.repositories.change(replace(changed, git_dir="/elsewhere"))
    assert not await stores.repositories.change(replace(changed, tenant="b"))
    assert await stores.repositories.get("r1") == changed


async def test_forgetting_leaves_no_row_of_the_repository(stores: Stores) -> None:
    await stores.repositories.add(repository())
    other = repository(id="r2", name="other", git_dir="/other")
    await stores.repositories.add(other)
    for one in ("r1", "r2"):
        await stores.files.begin(one, "main", followed=True, target=ONE, rules="")
        skipped = [SkippedFile("s", SkipReason.SECRET)]
        files = [new_file(f"{number}", f"{one} {number}") for number in range(120)]
        await stores.files.write(one, "main", ONE, Batch(files, skipped=skipped), AT)
        await stores.files.finish(one, "main", ONE, AT)
    assert await stores.repositories.forget("r1")
    assert not await stores.repositories.forget("r1")
    assert await stores.repositories.all() == [other]
    assert (await stores.files.totals("r2")).files == 120
    assert stores.words.partitions() == {partition_of("r2", FileKind.CODE)}
    for table in ("branches", "contents", "files", "chunks"):
        rows = await stores.database.fetch(
            Statement(f"SELECT DISTINCT repository FROM knowledge_{table}")
        )
        assert rows == [("r2",)], table
    skipped_rows = await stores.database.fetch(Statement("SELECT path FROM knowledge_skipped"))
    assert skipped_rows == [("s",)]
    assert await stores.repositories.add(repository())


async def test_nothing_is_written_for_a_repository_that_was_forgotten(stores: Stores) -> None:
    await stores.repositories.add(repository())
    await stores.files.begin("r1", "main", followed=True, target=ONE, rules="")
    await stores.repositories.forget("r1")
    await stores.files.write("r1", "main", ONE, Batch([new_file("a", "x")]), AT)
    assert (await stores.files.totals("r1")).files == 0
    assert stores.words.texts == {}


async def test_one_process_at_a_time_writes_a_repository(stores: Stores) -> None:
    async with stores.locks.hold("r1") as first:
        assert first
        async with stores.other_locks.hold("r1") as second, stores.other_locks.hold("r2") as other:
            assert (second, other) == (False, True)
    async with stores.other_locks.hold("r1") as free:
        assert free
