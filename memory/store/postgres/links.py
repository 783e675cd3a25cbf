"""Links, for the store that erases what is a person's in PostgreSQL."""

from db.postgres import TAKE_LOCKS, Connection, lock_keys
from memory.store.links import GROUP, LEAVE


async def leave(connection: Connection, tenant: str, person: str) -> None:
    """Take an identity out of its links, inside the caller's transaction."""
    await connection.execute(TAKE_LOCKS, (lock_keys((f"links {tenant}",)),))
    asked = {"tenant": tenant, "person": person}
    rows = await (await connection.execute(GROUP.postgres.encode(), asked)).fetchall()
    gone = [person] if len(rows) > 1 else [person, *(row[0] for row in rows)]
    await connection.execute(LEAVE.postgres.encode(), {"tenant": tenant, "gone": gone})
