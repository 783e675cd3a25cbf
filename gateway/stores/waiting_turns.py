"""Turns that wait for memory: stored in the transaction that queues their answer."""

from typing import Final

from db import Statement, Work, execute
from db.times import micros
from db.values import json_list, storable
from gateway.remembering import WaitingTurn

PUT: Final = Statement("""
    INSERT INTO waiting_turns (id, tenant, person, room, channel, message_ids, at, body)
    VALUES (:id, :tenant, :person, :room, :channel, :message_ids, :at, :body)
    ON CONFLICT (id) DO UPDATE SET body = excluded.body, message_ids = excluded.message_ids
""")


def put_waiting_turn(turn: WaitingTurn) -> Work[None]:
    """Store a turn for memory; the same turn replaces itself."""
    params = {
        "id": turn.id,
        "tenant": storable(turn.tenant),
        "person": storable(turn.person),
        "room": storable(turn.room),
        "channel": storable(turn.channel),
        "message_ids": json_list(turn.message_ids),
        "at": micros(turn.at),
        "body": turn.body,
    }
    yield from execute(PUT, params)
