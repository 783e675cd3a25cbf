"""SQLite finds memories by indexed columns, and never scans a whole tenant."""

import re

from db import Statement
from db.sqlite import SqliteDatabase
from memory.agents.stores import agents, pools
from memory.ports.memories import Filter
from memory.stores import filters, insert, memories, message_changes, rows, search
from memory.stores.sqlite import similar_search, word_search
from tests.memory.stores.records import access
from tests.support.for_each import for_each

WHOLE = re.compile(
    r"SCAN (m|b|memories)$|memories_person \(tenant=\?\)|memories_room \(tenant=\?\)"
)
EVERY = Filter(text="tea", tags=("a",), own_only=True, after_id="mem-1", limit=5)
STATEMENTS: dict[str, Statement] = {
    f"{module.__name__}.{name}": value
    for module in (memories, insert, message_changes, rows, search, agents, pools)
    for name, value in vars(module).items()
    if isinstance(value, Statement)
} | {
    "newest": memories._newest_statement(access(project="p", room="r"), EVERY, 0)[0],
    "tally": memories._tally_statement(access(), EVERY, 0)[0],
    "picked": filters.statement(word_search.PICK + filters.conditions_of(access(), EVERY)),
    "closely": filters.statement(similar_search.CLOSELY + filters.conditions_of(access(), EVERY)),
}
AGENT = access(project="p", room="r", agent="a")
STATEMENTS |= {
    f"{module.__name__}.{name} for {reader}": statement
    for module in (memories, search)
    for name, value in vars(module).items()
    if isinstance(value, filters.ByReader)
    for reader, statement in (("people", value.for_person), ("agents", value.for_agent))
} | {"newest for agents": memories._newest_statement(AGENT, Filter(), 0)[0]}
COUNTS_ALL = "memory.stores.memories.EMBEDDED"


@for_each("name", sorted(STATEMENTS.keys() - {COUNTS_ALL}))
async def test_no_statement_reads_a_whole_tenant(sqlite: SqliteDatabase, name: str) -> None:
    sql = STATEMENTS[name].sqlite
    lists = set(re.findall(r"json_each\(\?(\d+)", sql))
    last = max(map(int, re.findall(r"\?(\d+)", sql)), default=0)
    params = ["[]" if str(number) in lists else None for number in range(1, last + 1)]
    plan = await sqlite.run_job(
        lambda db: [str(row[3]) for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", params)]
    )
    assert [step for step in plan if WHOLE.search(step)] == []
