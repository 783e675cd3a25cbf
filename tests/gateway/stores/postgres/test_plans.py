"""Frequent queries use an index, and old rows are deleted in steps."""

from copy import copy
from datetime import timedelta

import pytest

from db import Params, Statement
from db.postgres import Connection, PostgresDatabase
from gateway.conversation import key_of
from gateway.ports.conversations import StoredTurn
from gateway.stores import conversation_views as views
from gateway.stores import conversations, people_names, traces, usage
from gateway.stores.conversations import Conversations
from tests.support.messages import AT, place

pytestmark = pytest.mark.xdist_group("postgres")

NOW = 1_000_000_000
FILL = (
    (
        "INSERT INTO turns (conversation, channel, message_id, answers, role, text, at, person,"
        " speaker) SELECT 'c' || n / 10, 'c' || n / 50, 'm' || n, 'm' || n, 'user', 'text',"
        " n * 1000000::bigint, 'ada', 'Ada' FROM generate_series(1, 20000) AS n"
    ),
    (
        "INSERT INTO conversation_notes (conversation, channel, at) SELECT 'c' || n, 'c' || n / 5,"
        " n * 1000000::bigint FROM generate_series(1, 20000) AS n"
    ),
    (
        "INSERT INTO traces SELECT 'x' || n, 'm' || n, 'p', 'a', 'c' || n / 10, 'message',"
        " n * 1000000::bigint, '[]', 'answered', 1 FROM generate_series(1, 20000) AS n"
    ),
    (
        "INSERT INTO reserved SELECT 't' || n, 'k' || n / 5, 1, n * 1000000::bigint"
        " FROM generate_series(1, 20000) AS n"
    ),
    (
        "INSERT INTO archived_conversations SELECT 't', '', 'c' || n, n * 1000000::bigint"
        " FROM generate_series(1, 20000) AS n"
    ),
    (
        "INSERT INTO usage (turn, tenant, person, workspace, model, input_tokens, output_tokens,"
        " cache_read_tokens, cache_write_tokens, micros, at) SELECT 'x' || n, 't', 'p' || n / 100,"
        " '', 'm', 1, 1, 1, 1, 1, n * 1000000::bigint FROM generate_series(1, 20000) AS n"
    ),
    (
        "INSERT INTO people_names SELECT 't', 'p' || n, 'Ada', n * 1000000::bigint"
        " FROM generate_series(1, 20000) AS n"
    ),
    (
        "INSERT INTO admissions SELECT 't', 'p' || n, 'member', 'Ada', '', '', n"
        " FROM generate_series(1, 20000) AS n"
    ),
    (
        "INSERT INTO pairing_requests SELECT 't', 'p' || n, 'r' || n, '', '', 'Ada', '', 'waiting',"
        " n, n, 0, 0 FROM generate_series(1, 20000) AS n"
    ),
    "INSERT INTO spent SELECT 'k' || n, 1, 1 FROM generate_series(1, 20000) AS n",
    "ANALYZE",
)
MESSAGES = {"channel": "c", "message_ids": ["m"]}
READS = {"tenant": "t", "persons": ["ada"], "shared": False}
PAGE = {"at": NOW, "id": ""}
ASKED: tuple[tuple[Statement, Params], ...] = (
    (conversations.LATEST, {"conversation": "c", "limit": 10}),
    (conversations.LATEST_SINCE_SUMMARY, {"conversation": "c", "channel": "c", "limit": 10}),
    (conversations.KNOWS, MESSAGES),
    (conversations.EDIT, {"text": "text", "words": "w1", **MESSAGES}),
    (conversations.FIRST, MESSAGES),
    (conversations.DELETE, MESSAGES),
    (conversations.CLEAR, {"conversation": "c"}),
    (conversations.TAKES_PART, {"conversation": "c"}),
    (conversations.PRUNE, {"before": NOW, "most": 10}),
    (conversations.PRUNE_NOTES, {"before": NOW, "most": 10}),
    (conversations.READ_NOTES, {"conversation": "c"}),
    (conversations.FORGET_SUMMARIES_OF, MESSAGES),
    (conversations.FORGET_TASKS_OF, MESSAGES),
    (conversations.CLEAR_NOTES, {"conversation": "c"}),
    (views.ONE, {"id": "x1", "tenant": "t"}),
    (views.MESSAGES, {**READS, **PAGE, "conversation": "c7", "everything": True, "limit": 50}),
    (views.TEXTS, {**READS, "channels": ["c"], "message_ids": ["m"]}),
    (views.SUMS, {**READS, "conversation": "c7", "everything": True}),
    (people_names.NAMES, {"tenant": "t", "persons": ["p7"]}),
    (people_names.PRUNE, {"before": NOW, "most": 10}),
    (views.NEWEST, {"conversations": ["c7"]}),
    (views.LAST_SCANNED, {**PAGE, "scanned": 100}),
    (views.FIND, {"query": "'w1'", "before": NOW, "most": 100}),
    (views.FIND_NEWEST, {"query": "'w1'", "before": NOW, "scanned": 100, "most": 100}),
    (views.PRUNE, {"before": NOW, "most": 10}),
    (traces.FIND, {"message_id": "m", "limit": 10}),
    (traces.RECENT, {"limit": 10}),
    (traces.PRUNE, {"before": NOW, "most": 10}),
    (traces.PRUNE_REFUSED, {"before": NOW, "most": 10}),
    (traces.FREE_SLOT, {"slot": 7, "id": "x1"}),
    (usage.SUM, {"key": "a", "turn": "", "dead": NOW}),
    (usage.FORGET_DEAD, {"dead": NOW, "most": 100}),
    (usage.RELEASE, {"turn": "t", "keys": ["a", "b"]}),
)


async def fill(connection: Connection) -> None:
    for filling in FILL:
        await connection.execute(filling)


async def test_no_statement_reads_a_whole_table(pool: PostgresDatabase) -> None:
    await pool.with_connection(fill)
    for statement, params in ASKED:
        explained = copy(statement)
        explained.postgres = f"EXPLAIN {statement.postgres}"
        plan = "\n".join(row[0] for row in await pool.fetch(explained, params))
        assert "Seq Scan" not in plan, plan


async def test_old_turns_are_deleted_in_steps(
    pool: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.database.AT_ONCE", {"postgres": 2})
    store, key = Conversations(pool), key_of("t", place())
    turns = [StoredTurn(f"m{n}", "user", "hi", AT + timedelta(seconds=n)) for n in range(6)]
    await store.append(key, turns)
    before = AT + timedelta(seconds=5)
    assert [await store.prune(before) for _ in range(4)] == [2, 2, 1, 0]
    assert await store.latest(key, 10) == turns[5:]
