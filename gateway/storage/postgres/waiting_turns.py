"""Turns that memory has still to take up, in PostgreSQL: put there with the answer."""

from typing import Final

from gateway.remembering import WaitingTurn
from gateway.storage.postgres.rows import storable

PUT_WAITING: Final = """
    INSERT INTO waiting_turns (id, tenant, person, room, channel, message_ids, at, body)
    SELECT %(waiting_id)s, %(waiting_tenant)s, %(waiting_person)s, %(waiting_room)s,
        %(waiting_channel)s, %(waiting_messages)s::text[], %(waiting_at)s::timestamptz,
        %(waiting_body)s
    WHERE %(waiting_id)s::text <> ''
    ON CONFLICT (id) DO UPDATE SET body = excluded.body, message_ids = excluded.message_ids
"""
NOTHING: Final[dict[str, object]] = {
    "waiting_id": "",
    "waiting_tenant": "",
    "waiting_person": "",
    "waiting_room": "",
    "waiting_channel": "",
    "waiting_messages": [],
    "waiting_at": None,
    "waiting_body": "",
}


def waiting_parameters(turn: WaitingTurn | None) -> dict[str, object]:
    """What `PUT_WAITING` takes."""
    if turn is None:
        return NOTHING
    return {
        "waiting_id": turn.id,
        "waiting_tenant": storable(turn.tenant),
        "waiting_person": storable(turn.person),
        "waiting_room": storable(turn.room),
        "waiting_channel": storable(turn.channel),
        "waiting_messages": [storable(one) for one in turn.message_ids],
        "waiting_at": turn.at,
        "waiting_body": turn.body,
    }
