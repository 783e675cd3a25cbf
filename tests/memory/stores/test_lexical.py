"""SQLite's two ways to find a word: the index, or all memories of a person with few."""

import random

import pytest

from db.sqlite import SqliteDatabase
from memory.ports.memories import Filter
from memory.stores.memories import SqlMemories
from memory.stores.search import RecallStore, searches_on
from memory.stores.sqlite import word_search
from tests.memory.stores.records import BOB, access, record
from tests.support.clock import FakeClock

WORDS = (
    *("kayak", "running", "runs", "tea", "the", "and", "ERR-42", "err", "v1.31", "C++", "žofín"),
    *("静かな", "夜", "парусник", "a_b.c", "blue", "LEDGER_READ_AHEAD", "read", "7", "o'clock"),
)
TYPED = ("ru", "kay", "err-4", "v1.", "read-ah", "c+", "静", "tea bl", "the", "", "?")


def text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))


@pytest.fixture
async def recall(sqlite: SqliteDatabase, clock: FakeClock) -> RecallStore:
    searches = searches_on(sqlite)
    memories, chance = SqlMemories(sqlite, clock, searches), random.Random(1)
    mine = [record(text(chance, 6), role="user") for _ in range(120)]
    theirs = [record(text(chance, 6), role="user", person=BOB) for _ in range(120)]
    await memories.keep_turns(access(), mine)
    await memories.keep_turns(access(BOB), theirs)
    gone = [one.id for one in mine[::10]]
    await memories.delete(access(), gone)
    return RecallStore(sqlite, clock, searches)


async def test_both_search_methods_find_the_same_with_the_same_scores(
    recall: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(2)
    questions = [(text(chance, chance.randint(1, 5)), False) for _ in range(60)]
    questions += [(typed, True) for typed in TYPED]
    results: dict[int, list[object]] = {}
    for most in (0, 1_000):
        monkeypatch.setattr(word_search, "READ_WHOLE", most)
        results[most] = [
            await recall.lexical(access(), words, Filter(unfinished=unfinished), 200)
            for words, unfinished in questions
        ]
    assert results[0] == results[1_000]
    assert sum(map(bool, results[0])) > 60


async def test_all_memories_are_read_only_for_people_with_few(
    recall: RecallStore, sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []

    async def looked_up(most: int) -> list[str]:
        monkeypatch.setattr(word_search, "READ_WHOLE", most)
        statements.clear()
        await recall.lexical(access(), "kayak", Filter(), 10)
        return [sql for sql in statements if "MATCH" in sql]

    await sqlite.run_job(lambda db: db.set_trace_callback(statements.append))
    assert await looked_up(108) == []
    assert await looked_up(107) != []
