"""SQLite finds memories by what is known of them, and never goes through all of a tenant."""

import re

import pytest

from db import Statement
from db.sqlite import SqliteDatabase
from memory.ports import Filter
from memory.stores import filters as conditions
from memory.stores import find as finding
from memory.stores import insert as inserting
from memory.stores import memories as records
from memory.stores import message_changes as deriving
from memory.stores import recall, rows
from memory.stores.sqlite import word_search as lexical
from tests.memory.stores.records import access

WHOLE = re.compile(
    r"SCAN (m|b|memories)$|memories_person \(tenant=\?\)|memories_room \(tenant=\?\)"
)
EVERY = Filter(text="tea", tags=("a",), own_only=True, after_id="mem-1", limit=5)
STATEMENTS: dict[str, Statement] = {
    f"{module.__name__}.{name}": value
    for module in (records, inserting, deriving, finding, recall, rows)
    for name, value in vars(module).items()
    if isinstance(value, Statement)
} | {
    "newest": finding.newest(access(project="p", room="r"), EVERY, 0)[0],
    "tally": finding.tally(access(), EVERY, 0)[0],
    "picked": conditions.statement(lexical.PICK + conditions.conditions_of(EVERY)),
    "closely": conditions.statement(lexical.CLOSELY + conditions.conditions_of(EVERY)),
}
COUNTS_ALL = "memory.stores.memories.EMBEDDED"


@pytest.mark.parametrize("name", sorted(STATEMENTS.keys() - {COUNTS_ALL}))
async def test_no_statement_reads_a_whole_tenant(database: SqliteDatabase, name: str) -> None:
    sql = STATEMENTS[name].sqlite
    lists = set(re.findall(r"json_each\(:([a-z_]+)", sql))
    names = set(re.findall(r":([a-z_][a-z0-9_]*)", sql))
    params = {one: "[]" if one in lists else None for one in names}
    plan = await database.run_job(
        lambda db: [str(row[3]) for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", params)]
    )
    assert [step for step in plan if WHOLE.search(step)] == []
