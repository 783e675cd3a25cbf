"""What is asked often is found by an index, and forgotten in steps."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import pytest

from db.postgres import PostgresDatabase
from gateway.conversation import key_of
from gateway.storage.postgres import conversations, traces, usage
from gateway.storage.postgres.conversations import PostgresConversations
from gateway.stores import StoredTurn
from tests.support.messages import AT, place

pytestmark = pytest.mark.xdist_group("postgres")

FILL = (
    (
        "INSERT INTO turns (conversation, channel, message_id, answers, role, text, at, person,"
        " speaker) SELECT 'c' || n / 10, 'c' || n / 50, 'm' || n, 'm' || n, 'user', 'text',"
        " now() + n * interval '1 s', 'ada', 'Ada' FROM generate_series(1, 20000) AS n"
    ),
    (
        "INSERT INTO conversation_notes (conversation, channel, at) SELECT 'c' || n, 'c' || n / 5,"
        " now() + n * interval '1 s' FROM generate_series(1, 20000) AS n"
    ),
    (
        "INSERT INTO traces SELECT 'x' || n, 'm' || n, 'p', 'a', 'c', 'message',"
        " now() + n * interval '1 s', '[]', 'answered', 1 FROM generate_series(1, 20000) AS n"
    ),
    (
        "INSERT INTO reserved SELECT 't' || n, 'k' || n / 5, 1, now() + n * interval '1 s'"
        " FROM generate_series(1, 20000) AS n"
    ),
    "INSERT INTO spent SELECT 'k' || n, 1 FROM generate_series(1, 20000) AS n",
    "ANALYZE",
)
ASKED: tuple[tuple[str, Sequence[object] | Mapping[str, object]], ...] = (
    (conversations.LATEST, ("c", 10)),
    (conversations.KNOWS, ("c", ["m"])),
    (conversations.OPENED, {"conversation": "c", "limit": 10}),
    (conversations.EDIT, {"text": "text", "channel": "c", "ids": ["m"]}),
    (conversations.DELETE, {"channel": "c", "ids": ["m"]}),
    (conversations.CLEAR, {"conversation": "c"}),
    (conversations.TAKES_PART, ("c",)),
    (conversations.PRUNE, {"before": AT, "limit": 10}),
    (traces.FIND, ("m", 10)),
    (traces.RECENT, (10,)),
    (traces.PRUNE, (AT, 10)),
    (traces.PRUNE_REFUSED, (AT,)),
    (traces.LEAVE_SLOT, {"slot": 7, "turn": "x1"}),
    (usage.SUMS, {"keys": ["a", "b"], "without": "", "dead": AT}),
    (usage.FORGET_DEAD, (AT,)),
    (usage.RELEASE, {"turn": "t", "accounts": ["a", "b"]}),
)


async def test_no_statement_reads_a_whole_table(pool: PostgresDatabase) -> None:
    for statement in FILL:
        await pool.change_raw(statement, ())
    for statement, parameters in ASKED:
        plan = "\n".join(row[0] for row in await pool.fetch_raw(f"EXPLAIN {statement}", parameters))
        assert "Seq Scan" not in plan, plan


async def test_old_turns_are_forgotten_in_steps(
    pool: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "PRUNED_AT_ONCE", 2)
    store, key = PostgresConversations(pool), key_of("t", place())
    turns = [StoredTurn(f"m{n}", "user", "hi", AT + timedelta(seconds=n)) for n in range(6)]
    await store.append(key, turns)
    before = AT + timedelta(seconds=5)
    assert [await store.prune(before) for _ in range(4)] == [2, 2, 1, 0]
    assert await store.latest(key, 10) == turns[5:]
