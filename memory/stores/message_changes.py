"""Deletes and changes what is derived from chat messages."""

from collections.abc import Sequence
from typing import Final

from db import FOR_UPDATE, Params, Statement, Work, among, either, execute, together
from db.statements import json_text
from db.transaction import Fetch
from db.values import storable, texts_of
from memory.model.record import CONFIDENCE, Trust
from memory.model.scope import TENANT
from memory.ports.memories import ChangedMemory
from memory.stores.rows import LEXEMES, origin, words_of

DERIVED: Final = f"""
    {TENANT} AND m.seq IN (
        SELECT memory FROM memory_origins WHERE {among("origin", "origins")})
"""
SAID: Final = either(
    sqlite="json_each(r.record, '$.derived_from') AS said",
    postgres="json_array_elements_text(CAST(r.record AS json) -> 'derived_from') AS said (value)",
)
PROPOSED: Final = f"""
    r.tenant = :for_tenant AND r.state = 'pending' AND r.target = ''
    AND {json_text("r.record", "provenance", "channel")} = :channel
    AND EXISTS (SELECT 1 FROM {SAID} WHERE {among("said.value", "messages")})
"""
"""Open reviews that are derived from one of these messages."""
KNOWS: Final = Statement(f"""
    SELECT EXISTS (SELECT 1 FROM memories m WHERE {DERIVED})
        OR EXISTS (SELECT 1 FROM memory_reviews r WHERE {PROPOSED})
""")
UNASKED: Final = Statement(f"DELETE FROM memory_reviews AS r WHERE {PROPOSED} RETURNING person, id")
FORGET: Final = Statement(
    f"DELETE FROM memories AS m WHERE {DERIVED} AND NOT m.confirmed RETURNING person, id"
)
FORGET_OTHERS: Final = Statement(f"""
    DELETE FROM memories AS m WHERE {DERIVED} AND NOT m.confirmed AND m.role <> 'user'
    RETURNING person, id
""")
TURNS: Final = Statement(f"""
    SELECT m.seq, m.person, m.id, m.tags, m.partitions FROM memories m
    WHERE {DERIVED} AND m.role = 'user' AND NOT m.confirmed {FOR_UPDATE}
""")
REWORD: Final = Statement(f"""
    UPDATE memories SET content = :content, claim = :content, words = :words, length = :length,
        trust = CASE WHEN :suspicious THEN '{Trust.LOW.value}' ELSE trust END,
        confidence = CASE WHEN :suspicious THEN {CONFIDENCE[Trust.LOW]} ELSE confidence END
        {either(sqlite="", postgres=f", lexemes = {LEXEMES}")}
    WHERE seq = :seq
""")


def forget(params: Params) -> Work[list[ChangedMemory]]:
    """Do `MemoryStore.forget_message`."""
    some = yield from together(Fetch(UNASKED, params), Fetch(FORGET, params), last=True)
    return [ChangedMemory(*row) for rows in some for row in rows]


def revise(params: Params, content: str, *, suspicious: bool) -> Work[list[ChangedMemory]]:
    """Do `MemoryStore.revise_message`."""
    steps = (Fetch(UNASKED, params), Fetch(FORGET_OTHERS, params), Fetch(TURNS, params))
    unasked, gone, turns = yield from together(*steps)
    reworded = [
        {
            "seq": seq,
            "content": content,
            "suspicious": suspicious,
            **words_of(content, texts_of(tags), partitions),
        }
        for seq, _, _, tags, partitions in turns
    ]
    if reworded:
        yield from execute(REWORD, *reworded)
    touched = [ChangedMemory(*row) for row in (*unasked, *gone)]
    return touched + [ChangedMemory(person, id_) for _, person, id_, _, _ in turns]


def messages(
    tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
) -> dict[str, object]:
    """Return the parameters of the statements."""
    where = ":".join(channel)
    return {
        "for_tenant": storable(tenant),
        "origins": [origin(where, message_id) for message_id in message_ids],
        "channel": storable(where),
        "messages": [storable(message_id) for message_id in message_ids],
    }
