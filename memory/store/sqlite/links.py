"""Links, for the store that erases what is a person's in SQLite."""

import sqlite3

from db.sqlite import drive
from memory.store import links
from memory.store.ports import Linked


def leave(db: sqlite3.Connection, tenant: str, person: str) -> list[Linked]:
    """Take an identity out of its links, inside the caller's transaction."""
    return drive(db, links.leave(tenant, person))
