"""Work means the same on both engines: results, order, transactions, locks, errors."""

import asyncio
from collections.abc import Callable

import pytest

from db import (
    FOR_UPDATE,
    SKIP_LOCKED,
    Database,
    Statement,
    StoreUnavailable,
    Work,
    among,
    change,
    execute,
    fetch,
    fetch_first,
    lock,
    together,
)
from db.errors import WorkMisused
from db.statements import in_byte_order, json_text, json_values
from db.transaction import Change, ChangeMany, Fetch

PUT = Statement("INSERT INTO things (id, size) VALUES (:id, :size)")
PUT_AGAIN = Statement("""
    INSERT INTO things (id, size) VALUES (:id, :size)
    ON CONFLICT (id) DO UPDATE SET size = excluded.size
""")
ALL = Statement(f"SELECT id, size FROM things ORDER BY {in_byte_order('id')}")
ONE = Statement(f"SELECT size FROM things WHERE id = :id {FOR_UPDATE}")
GROW = Statement("UPDATE things SET size = size + :by WHERE id = :id")
SOME = Statement(f"SELECT id FROM things WHERE {among('id', 'ids')} ORDER BY id")
SIZED = Statement(f"SELECT id FROM things WHERE {among('size', 'sizes')} ORDER BY id")
DELETE_SOME = Statement(f"""
    DELETE FROM things WHERE id IN (
        SELECT id FROM things WHERE size < :below ORDER BY size LIMIT :most {SKIP_LOCKED}
    ) RETURNING id
""")


def put(*names: str) -> Work[None]:
    for size, name in enumerate(names):
        yield from execute(PUT, {"id": name, "size": size})


async def names(database: Database) -> list[str]:
    return [str(row[0]) for row in await database.fetch(ALL)]


async def test_a_job_returns_its_result_and_is_committed(database: Database) -> None:
    def work() -> Work[int]:
        yield from put("a", "b")
        return (yield from change(GROW, {"id": "b", "by": 5}))

    assert await database.run(work) == 1
    assert await database.fetch(ALL) == [("a", 0), ("b", 6)]


async def test_a_failed_job_is_rolled_back(database: Database) -> None:
    await database.run(lambda: put("a"))

    def work() -> Work[None]:
        yield from put("b", "a")
        yield from fetch(ALL)

    with pytest.raises(StoreUnavailable):
        await database.run(work)
    assert await names(database) == ["a"]


async def test_an_error_of_the_store_is_rolled_back_and_raised(
    database: Database,
) -> None:
    def work() -> Work[None]:
        yield from put("a")
        raise LookupError("not there")

    with pytest.raises(LookupError, match="not there"):
        await database.run(work)
    assert await names(database) == []


async def test_a_job_without_statements_returns_its_result(database: Database) -> None:
    def work() -> Work[str]:
        yield from put()
        return "nothing to do"

    assert await database.run(work) == "nothing to do"


async def test_independent_statements_are_sent_together(database: Database) -> None:
    def work() -> Work[list[object]]:
        many = ChangeMany(PUT, [{"id": name, "size": 1} for name in "abc"])
        none = ChangeMany(PUT, [])
        return (yield from together(many, none, Fetch(ALL, {}), Change(GROW, {"id": "a", "by": 1})))

    assert await database.run(work) == [3, 0, [("a", 1), ("b", 1), ("c", 1)], 1]


@pytest.mark.parametrize("last", [False, True])
async def test_the_last_statements_are_committed_with_their_results(
    database: Database, last: bool
) -> None:
    def work() -> Work[list[object]]:
        yield from lock("things")
        yield from put("a", "b")
        return (yield from together(Change(GROW, {"id": "a", "by": 2}), last=last))

    assert await database.run(work) == [1]
    assert await database.fetch(ALL) == [("a", 2), ("b", 1)]


async def test_no_statement_can_follow_the_last_ones(database: Database) -> None:
    def work() -> Work[None]:
        yield from together(Fetch(ALL, {}), last=True)
        yield from put("a")

    with pytest.raises(WorkMisused):
        await database.run(work)
    assert await names(database) == []


async def test_the_last_statements_fail_together(database: Database) -> None:
    def work() -> Work[None]:
        yield from put("a")
        yield from together(Change(PUT, {"id": "a", "size": 1}), last=True)

    with pytest.raises(StoreUnavailable):
        await database.run(work)
    assert await names(database) == []


async def test_a_lock_is_exclusive(database: Database) -> None:
    await database.run(lambda: put("a"))

    def work() -> Work[None]:
        yield from lock("second", "first")
        row = yield from fetch_first(ONE, {"id": "a"})
        assert row is not None
        yield from execute(PUT_AGAIN, {"id": "a", "size": row[0] + 1})

    await asyncio.gather(*(database.run(work) for _ in range(20)))
    assert await database.fetch(ALL) == [("a", 20)]


async def test_lists_are_usable_in_selects_and_may_be_empty(database: Database) -> None:
    await database.run(lambda: put("a", "b", "c'd", "é"))
    assert await database.fetch(SOME, {"ids": ["c'd", "a", "z"]}) == [("a",), ("c'd",)]
    assert await database.fetch(SOME, {"ids": []}) == []
    assert await database.fetch(SIZED, {"sizes": [0, 3, 2**40]}) == [("a",), ("é",)]
    assert await database.fetch(SIZED, {"sizes": []}) == []


async def test_texts_sort_by_bytes_and_the_place_of_missing_values_is_stated(
    database: Database,
) -> None:
    await database.run(lambda: put("b", "A", "é", "a", "_"))
    assert await names(database) == ["A", "_", "a", "b", "é"]
    await database.change(Statement("UPDATE things SET size = NULL WHERE id = 'a'"))
    sorted_last = Statement("SELECT id FROM things ORDER BY size DESC NULLS LAST LIMIT 9")
    assert (await database.fetch(sorted_last))[-1] == ("a",)


async def test_values_are_returned_unchanged(database: Database) -> None:
    write = Statement("""
        INSERT INTO things (id, size, weight, data, kept) VALUES (:id, :size, :weight, :data, :kept)
    """)
    read = Statement("SELECT id, size, weight, data, kept FROM things WHERE kept = :kept")
    params = {"id": "ü%s:x?", "size": 2**62, "weight": 0.1, "data": b"\0\xff", "kept": True}
    await database.change(write, params)
    [row] = await database.fetch(read, {"kept": True})
    assert row == tuple(params.values())


async def test_a_parameter_without_context_is_cast(database: Database) -> None:
    await database.run(lambda: put("a", "b"))
    alone = Statement("""
        SELECT id FROM things WHERE CAST(:size AS bigint) IS NULL OR size = :size ORDER BY id
    """)
    assert await database.fetch(alone, {"size": None}) == [("a",), ("b",)]
    assert await database.fetch(alone, {"size": 1}) == [("b",)]


async def test_json_documents_are_read_by_their_keys(database: Database) -> None:
    await database.run(lambda: put("a"))
    await database.change(
        Statement("UPDATE things SET document = :document"),
        {"document": '{"who": {"name": "Zoé"}, "tags": ["x", "y"]}'},
    )
    named = Statement(f"SELECT {json_text('document', 'who', 'name')} FROM things")
    assert await database.fetch(named) == [("Zoé",)]
    listed = Statement(f"SELECT one.value FROM {json_values(':tags', 'one')} ORDER BY one.value")
    assert await database.fetch(listed, {"tags": '["y", "x"]'}) == [("x",), ("y",)]


async def test_rows_are_deleted_in_steps(database: Database) -> None:
    await database.run(lambda: put(*"abcdef"))
    gone = await database.fetch(DELETE_SOME, {"below": 5, "most": 2})
    assert sorted(gone) == [("a",), ("b",)]
    assert len(await database.fetch(DELETE_SOME, {"below": 5, "most": 9})) == 3
    assert await names(database) == ["f"]


async def test_a_reader_sees_committed_data_and_cannot_write(database: Database) -> None:
    await database.run(lambda: put("a"))
    async with database.reader() as reader:
        assert await reader.fetch(ALL) == [("a", 0)]
        with pytest.raises(StoreUnavailable):
            await reader.fetch(Statement("DELETE FROM things RETURNING id"))
    assert await names(database) == ["a"]


async def test_a_job_is_created_anew_for_each_attempt(database: Database) -> None:
    made: list[str] = []

    def failing() -> Work[None]:
        made.append("failing")
        yield from put("a", "a")
        yield from fetch(ALL)

    def other() -> Work[None]:
        made.append("other")
        yield from put("b")

    runs: list[Callable[[], Work[None]]] = [other, failing]
    results = await asyncio.gather(*map(database.run, runs), return_exceptions=True)
    assert results[0] is None
    assert isinstance(results[1], StoreUnavailable)
    assert await names(database) == ["b"]
    assert set(made) == {"failing", "other"}
