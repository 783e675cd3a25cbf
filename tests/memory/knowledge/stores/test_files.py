"""Files of branches share their contents, and nothing stays that no file has."""

from datetime import date, timedelta

import pytest

from db.errors import StoreUnavailable
from memory.knowledge.model import FileKind, SkippedFile, SkipReason
from memory.knowledge.ports import Batch
from tests.memory.knowledge.stores.conftest import Stores
from tests.memory.knowledge.values import AT, new_file, repository

ONE, TWO = "1" * 40, "2" * 40


async def prepare(stores: Stores, *branches: str) -> None:
    assert await stores.repositories.add(repository())
    for name in branches:
        await stores.files.begin("r1", name, followed=False, target=ONE, rules="r")


async def sweep_all(stores: Stores) -> None:
    while await stores.files.sweep("r1"):
        pass


async def test_a_content_is_stored_and_indexed_once_for_all_paths_and_branches(
    stores: Stores,
) -> None:
    await prepare(stores, "main", "next")
    first = new_file("a.py", "x", "y")
    await stores.files.write("r1", "main", ONE, Batch([first, new_file("b.py", "x", "y")]), AT)
    pair = ("a.py", first.blob)
    assert await stores.files.known("r1", "main", [pair]) == {pair: True}
    assert await stores.files.known("r1", "next", [pair]) == {pair: False}
    assert await stores.files.known("r1", "next", [("c.py", first.blob)]) == {}
    await stores.files.write("r1", "next", ONE, Batch(copied=[pair]), AT)
    assert await stores.files.known("r1", "next", [pair]) == {pair: True}
    totals = await stores.files.totals("r1")
    assert (totals.files, totals.contents, totals.chunks) == (3, 1, 2)
    assert sorted(stores.words.texts.values()) == ["x", "y"]


async def test_the_same_text_as_another_kind_or_language_is_another_content(
    stores: Stores,
) -> None:
    await prepare(stores, "main")
    decision = new_file(
        "docs/adr/1.md",
        "x",
        kind=FileKind.DECISION,
        language="markdown",
        date=date(2026, 1, 2),
        supersedes=("ADR-0",),
    )
    await stores.files.write("r1", "main", ONE, Batch([new_file("a.py", "x"), decision]), AT)
    assert (await stores.files.totals("r1")).contents == 2


async def test_a_removed_file_takes_its_content_along_when_no_other_file_has_it(
    stores: Stores,
) -> None:
    await prepare(stores, "main")
    await stores.files.write(
        "r1", "main", ONE, Batch([new_file("a", "x"), new_file("b", "x"), new_file("c", "y")]), AT
    )
    await stores.files.write("r1", "main", ONE, Batch(removed=["a", "c"]), AT)
    await sweep_all(stores)
    assert list(stores.words.texts.values()) == ["x"]
    await stores.files.write("r1", "main", ONE, Batch(removed=["b"]), AT)
    await sweep_all(stores)
    totals = await stores.files.totals("r1")
    assert (totals.files, totals.contents, totals.chunks) == (0, 0, 0)
    assert stores.words.texts == {}


async def test_a_skipped_file_replaces_a_stored_one_and_the_other_way_round(
    stores: Stores,
) -> None:
    await prepare(stores, "main")
    await stores.files.write("r1", "main", ONE, Batch([new_file("a", "x")]), AT)
    skipped = Batch(
        skipped=[SkippedFile("a", SkipReason.SECRET), SkippedFile("b", SkipReason.EMPTY)]
    )
    await stores.files.write("r1", "main", ONE, skipped, AT)
    await stores.files.write("r1", "main", ONE, skipped, AT)  # as after an interruption
    totals = await stores.files.totals("r1")
    assert totals.files == 0
    assert totals.skipped == {SkipReason.SECRET: 1, SkipReason.EMPTY: 1}
    assert await stores.files.paths("r1", "main", "", 10) == ["a", "b"]
    await stores.files.write("r1", "main", ONE, Batch([new_file("a", "x")], removed=["b"]), AT)
    totals = await stores.files.totals("r1")
    assert (totals.files, totals.skipped) == (1, {})


async def test_paths_come_in_the_order_of_their_bytes(stores: Stores) -> None:
    await prepare(stores, "main")
    names = ["Z", "a", "a/b", "a-b", "ä", "_", "\U0001f600", "zz"]
    await stores.files.write("r1", "main", ONE, Batch([new_file(one, one) for one in names]), AT)
    expected = sorted(names, key=str.encode)
    assert await stores.files.paths("r1", "main", "", 5) == expected[:5]
    assert await stores.files.paths("r1", "main", expected[4], 5) == expected[5:]


async def test_a_branch_is_at_its_commit_only_when_the_ingest_ended(stores: Stores) -> None:
    await prepare(stores, "main")
    (state,) = await stores.files.branches("r1")
    assert (state.commit, state.target, state.rules, state.ingested_at) == ("", ONE, "r", None)
    await stores.files.finish("r1", "main", ONE, AT)
    await stores.files.begin("r1", "main", followed=False, target=TWO, rules="s")
    (state,) = await stores.files.branches("r1")
    assert (state.commit, state.target, state.rules, state.ingested_at) == (ONE, TWO, "s", AT)


async def test_an_ingest_of_the_whole_commit_is_at_no_commit_until_it_ended(
    stores: Stores,
) -> None:
    await prepare(stores, "main")
    await stores.files.finish("r1", "main", ONE, AT)
    await stores.files.begin("r1", "main", followed=False, target=TWO, rules="s", whole=True)
    (state,) = await stores.files.branches("r1")
    assert (state.commit, state.target) == ("", TWO)


async def test_a_process_whose_branch_another_one_began_writes_nothing_more(
    stores: Stores,
) -> None:
    await prepare(stores, "main")
    await stores.files.begin("r1", "main", followed=False, target=TWO, rules="r")
    with pytest.raises(StoreUnavailable, match="another process"):
        await stores.files.write("r1", "main", ONE, Batch([new_file("a", "x")]), AT)
    await stores.files.finish("r1", "main", ONE, AT)
    (state,) = await stores.files.branches("r1")
    assert (state.commit, state.target) == ("", TWO)
    assert (await stores.files.totals("r1")).files == 0


async def test_the_followed_branch_keeps_its_files_under_another_name(stores: Stores) -> None:
    await prepare(stores)
    await stores.files.begin("r1", "main", followed=True, target=ONE, rules="r")
    file = new_file("a", "x")
    await stores.files.write("r1", "main", ONE, Batch([file]), AT)
    await stores.files.finish("r1", "main", ONE, AT)
    await stores.files.begin("r1", "topic", followed=True, target=TWO, rules="r")
    (state,) = await stores.files.branches("r1")
    assert (state.name, state.followed, state.commit) == ("topic", True, ONE)
    assert await stores.files.known("r1", "topic", [("a", file.blob)]) == {("a", file.blob): True}


async def test_renewing_forgets_what_is_known_and_keeps_it_until_it_is_replaced(
    stores: Stores,
) -> None:
    await prepare(stores, "main")
    assert await stores.files.renew("r1", 1)
    assert not await stores.files.renew("r1", 1)
    file = new_file("a", "x")
    await stores.files.write("r1", "main", ONE, Batch([file]), AT)
    await stores.files.finish("r1", "main", ONE, AT)
    assert await stores.files.renew("r1", 1, always=True)
    assert (await stores.files.branches("r1"))[0].commit == ""
    assert await stores.files.known("r1", "main", [("a", file.blob)]) == {}
    assert list(stores.words.texts.values()) == ["x"]
    await stores.files.begin("r1", "main", followed=False, target=ONE, rules="r")
    await stores.files.write("r1", "main", ONE, Batch([file]), AT)
    await sweep_all(stores)
    assert len(stores.words.texts) == 1
    assert await stores.files.known("r1", "main", [("a", file.blob)]) == {("a", file.blob): True}


async def test_dropping_a_branch_leaves_the_others(stores: Stores) -> None:
    await prepare(stores, "main", "old")
    await stores.files.write("r1", "main", ONE, Batch([new_file("a", "x")]), AT)
    skipped = [SkippedFile("b", SkipReason.BINARY)]
    await stores.files.write("r1", "old", ONE, Batch([new_file("c", "y")], skipped=skipped), AT)
    await stores.files.drop("r1", "old")
    await sweep_all(stores)
    assert [state.name for state in await stores.files.branches("r1")] == ["main"]
    assert list(stores.words.texts.values()) == ["x"]
    assert (await stores.files.totals("r1")).skipped == {}


async def test_any_text_is_stored(stores: Stores) -> None:
    await prepare(stores, "main")
    file = new_file("a", "x\0y\ud800", title="\0")
    await stores.files.write("r1", "main", ONE, Batch([file]), AT + timedelta(days=1))
    assert (await stores.files.totals("r1")).chunks == 1
