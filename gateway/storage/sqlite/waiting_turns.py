"""Turns that memory has still to take up, in SQLite: put there with the answer."""

import json
import sqlite3
from typing import Final

from gateway.remembering import WaitingTurn

PUT: Final = """
    INSERT OR REPLACE INTO waiting_turns
        (id, tenant, person, room, channel, message_ids, at, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


def insert_waiting_turn(db: sqlite3.Connection, turn: WaitingTurn) -> None:
    """Let a turn wait, inside the caller's transaction; the same turn again is replaced."""
    row = (
        turn.id,
        turn.tenant,
        turn.person,
        turn.room,
        turn.channel,
        json.dumps(turn.message_ids),
        turn.at.timestamp(),
        turn.body,
    )
    db.execute(PUT, row)
