"""Lists and searches of conversations read no whole table, on either database."""

import json
from collections.abc import Sequence
from copy import copy

from db import Params, Statement, Work, execute
from gateway.stores import conversation_views as views
from gateway.stores.turn_index import TurnWords, for_postgres, index_all
from tests.support.databases import Engine
from tests.support.messages import AT

ROWS = 20_000
STEP = 1_000
BEGIN = int(AT.timestamp()) * 1_000_000
WORDS = TurnWords()
TRACE = Statement("""
    INSERT INTO traces (id, message_id, platform, account, conversation, kind, at, decisions,
        outcome, milliseconds, audience)
    VALUES (:id, :message, 'test', 'main', :conversation, 'message', :at, '[]', 'answered', 1,
        'public_room')
""")
TURN = Statement("""
    INSERT INTO turns (conversation, channel, message_id, answers, role, text, at, person, speaker,
        audience, words)
    VALUES (:conversation, :channel, :message, :message, 'user', 'text', :at, :person, 'Ada',
        'public_room', :words)
""")
USAGE = Statement("""
    INSERT INTO usage (turn, tenant, person, workspace, model, input_tokens, output_tokens,
        cache_read_tokens, cache_write_tokens, micros, at)
    VALUES (:id, 't', :person, '', 'm', 1, 1, 1, 1, 1, :at)
""")
ARCHIVED = Statement("""
    INSERT INTO archived_conversations (tenant, owner, conversation, at)
    VALUES ('t', '', :conversation, :at + 1000000000000) ON CONFLICT DO NOTHING
""")
FINDS = {
    "sqlite": ((views.FIND, "rare"), (views.FIND, "common")),
    "postgres": ((views.FIND, "rare"), (views.FIND_NEWEST, "common")),
}
"""The steps of a search. PostgreSQL finds nearly every text faster without its index."""
PARTS = ("CO-ROUTINE", "MATERIALIZE")
PERSON = "test:main:p7"
FILTERS: Params = {
    "tenant": "t",
    "platform": "",
    "channel": "",
    "person": "",
    "outcome": "",
    "micros": 0,
    "since": 0,
    "until": views.MAX_AT,
}
PAGE: Params = {
    **FILTERS,
    "persons": [PERSON],
    "owner": "",
    "archived": 0,
    "at": views.MAX_AT,
    "id": "",
    "scanned": views.SCANNED[-1],
    "limit": 51,
}


IN_ROOM: Params = {
    "tenant": "t",
    "persons": [PERSON],
    "conversation": json.dumps(["t", "test", "main", "W1", "c7", ""]),
    "limit": 20,
}


SHOWN: dict[str, list[str]] = {
    "conversations": [
        json.dumps(["t", "test", "main", "W1", f"c{number}", ""]) for number in range(40)
    ]
}
"""The conversations of one page of a list."""


def question(engine: Engine, word: str) -> Params:
    query = WORDS.query("t", (PERSON,), word, shared=True)
    return {
        **FILTERS,
        "persons": [PERSON],
        "shared": True,
        "query": query if engine.engine == "sqlite" else for_postgres(query),
        "before": views.MAX_AT,
        "most": views.LOOKED_AT[-1],
        "ids": list(range(1, ROWS, STEP)),
        "scanned": views.NEWEST_SCANNED,
        "limit": 51,
    }


async def fill(engine: Engine, *, counted: bool = True) -> None:
    """Make a database with 20,000 messages in 2,000 conversations of 200 people; not `counted` is a
    PostgreSQL that has no statistics of its tables yet."""
    for begin in range(0, ROWS, STEP):
        rows = [row(number) for number in range(begin, begin + STEP)]

        def work(rows: Sequence[Params] = rows) -> Work[None]:
            for statement in (TRACE, TURN, USAGE, ARCHIVED):
                yield from execute(statement, *rows)

        await engine.run(work)
    await index_all(engine)
    if counted and engine.engine == "postgres":  # which does it by itself after so many rows
        await engine.run(lambda: execute(Statement("ANALYZE"), {}))


def row(number: int) -> Params:
    channel = f"c{number // 10}"
    person = f"test:main:p{number // 100}"
    words = f"{'rare' if number % 1_000 == 0 else 'common'} w{number % 50}"
    turn = " ".join(
        hashed.strip('()" ')
        for word in words.split()
        for hashed in WORDS.query("t", (person,), word, shared=True).split(" OR ")
    )
    return {
        "id": f"x{number}",
        "message": f"m{number}",
        "conversation": json.dumps(["t", "test", "main", "W1", channel, ""]),
        "channel": f"t/test:main:{channel}",
        "at": BEGIN + number * 1_000_000,
        "person": person,
        "words": turn,
    }


async def plan_of(engine: Engine, statement: Statement, params: Params) -> str:
    explained = copy(statement)
    explained.sqlite = f"EXPLAIN QUERY PLAN {statement.sqlite}"
    explained.postgres = f"EXPLAIN {statement.postgres}"
    return "\n".join(" ".join(map(str, row)) for row in await engine.fetch(explained, params))


def whole_tables(plan: str) -> list[str]:
    """The lines of a plan that read a table from its begin to its end: no part of the statement
    with a limit or an index of its own, which SQLite scans again by its name."""
    lines = plan.splitlines()
    parts = {line.rpartition(f"{kind} ")[2] for line in lines for kind in PARTS if kind in line}
    scanned = (line.rpartition("SCAN ")[2] for line in lines if "SCAN " in line)
    found = [name for name in scanned if name not in parts and "VIRTUAL TABLE" not in name]
    return [*found, *(line for line in lines if "Seq Scan" in line)]


async def test_no_list_and_no_search_reads_a_whole_table(engine: Engine) -> None:
    await fill(engine)
    await check_that_rows_are_found(engine)
    await check_that_a_whole_table_is_noticed(engine)
    asked = (
        (views.LIST, PAGE),
        (views.LIST, {**PAGE, "outcome": "failed", "platform": "other"}),
        (views.OF_PERSONS, PAGE),
        (views.LAST_SCANNED, {**PAGE, "scanned": 100}),
        (views.NEWEST, SHOWN),
        *((views.LATEST, {**IN_ROOM, "everything": everything}) for everything in (True, False)),
        (views.SEARCH, question(engine, "rare")),
        (views.SEARCH, {**question(engine, "w7"), "outcome": "failed", "micros": 5}),
        *((one, question(engine, word)) for one, word in FINDS[engine.engine]),
    )
    for statement, params in asked:
        plan = await plan_of(engine, statement, params)
        assert whole_tables(plan) == [], plan


async def test_a_list_looks_costs_up_by_their_turns_before_statistics_exist(engine: Engine) -> None:
    await fill(engine, counted=False)
    plan = await plan_of(engine, views.LIST, PAGE)
    assert [line for line in whole_tables(plan) if "usage" in line] == [], plan
    old = "COALESCE((SELECT sum(c.micros) FROM (SELECT id FROM traces) AS o JOIN usage c ON"
    whole = Statement(f"SELECT {old} c.turn = o.id), 0)")
    assert whole_tables(await plan_of(engine, whole, {})) != []


async def test_the_failing_ones_are_checked_by_index_before_statistics_exist(
    engine: Engine,
) -> None:
    await fill(engine, counted=False)
    plan = await plan_of(engine, views.NEWEST, SHOWN)
    assert whole_tables(plan.replace("Function Scan", "")) == [], plan
    assert plan.count("traces_conversation") == 1, plan
    found: dict[object, object] = dict(await engine.fetch(views.NEWEST, SHOWN))
    first, *_, last = SHOWN["conversations"]
    assert (found[first], found[last]) == ("x9", "x399")
    compared = Statement("""
        SELECT t.id FROM traces t WHERE NOT EXISTS (
            SELECT 1 FROM traces n WHERE n.conversation = t.conversation AND n.at > t.at)
    """)
    assert whole_tables(await plan_of(engine, compared, {})) != []


async def check_that_rows_are_found(filled: Engine) -> None:
    rows = await filled.fetch(views.LIST, {**PAGE, "archived": 1})
    assert len(rows) == 51
    asked = question(filled, "rare")
    ids = [row[0] for row in await filled.fetch(views.FIND, asked)]
    assert ids == sorted(ids, reverse=True)
    assert len(await filled.fetch(views.SEARCH, {**asked, "ids": ids})) == ROWS // STEP
    assert len(await filled.fetch(views.OF_PERSONS, {**PAGE, "owner": "x"})) == 10


async def check_that_a_whole_table_is_noticed(filled: Engine) -> None:
    for sql in ("SELECT sum(milliseconds) FROM traces t", "SELECT sum(length(text)) FROM turns t"):
        assert whole_tables(await plan_of(filled, Statement(sql), {})) != []
