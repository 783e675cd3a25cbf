"""Stores invitations of agents into pools. An answer is one conditional change: of two at once one
succeeds. The store of pools writes memberships (`memory/agents/stores/pools.py`)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from db import (
    FOR_UPDATE,
    Database,
    Row,
    Statement,
    Work,
    among,
    change,
    execute,
    fetch,
    fetch_first,
)
from db.database import delete_some, deleting_some
from db.values import micros, storable, time_of
from memory.agents.model import (
    AgentEvent,
    AgentLimits,
    Joining,
    Permission,
    PoolInvitation,
    PoolMember,
    SharedScope,
)
from memory.agents.stores.events import EventSignal, EventWriter, add_events
from memory.agents.stores.pools import LOCK, admit, joining_locks, writing
from memory.stores.links import of_same_person

INVITING: Final = "pool invitations"
"""The lock of all who invite, so that the limits hold."""
HOUR: Final = timedelta(hours=1)
COLUMNS: Final = """i.id, i.tenant, i.pool, p.name, p.scope, i.agent, a.name, i.person, i.inviter,
    i.permission, i.made_at, i.until"""
WAITS: Final = "i.state = 'waiting' AND i.until > :now"
SELECT: Final = f"""
    SELECT {COLUMNS} FROM pool_invitations i JOIN pools p ON p.id = i.pool
        JOIN agents a ON a.id = i.agent
    WHERE i.tenant = :tenant AND {WAITS}
"""
TO_PERSON: Final = f"{among('i.person', 'persons')} AND (:agent = '' OR i.agent = :agent)"
LISTED: Final = Statement(f"{SELECT} AND {TO_PERSON} ORDER BY i.made_at, i.id LIMIT :limit")
FIND: Final = Statement(f"{SELECT} AND {TO_PERSON} AND i.id = :id")
OF_POOL: Final = Statement(f"{SELECT} AND i.pool = :pool ORDER BY i.made_at, i.id LIMIT :limit")
UNNOTIFIED: Final = Statement(
    f"""
    SELECT {COLUMNS} FROM pool_invitations i JOIN pools p ON p.id = i.pool
        JOIN agents a ON a.id = i.agent
    WHERE i.state = 'waiting' AND NOT i.notified AND i.until > :now
    ORDER BY i.made_at LIMIT :limit
"""
)
NOTIFIED: Final = Statement("UPDATE pool_invitations SET notified = true WHERE id = :id")
PRESENT: Final = Statement("""
    SELECT i.id, i.permission, i.state = 'waiting' AND i.until > :now, i.until, i.rests_until
    FROM pool_invitations i WHERE i.pool = :pool AND i.agent = :agent
""")
FORGET: Final = Statement("DELETE FROM pool_invitations WHERE pool = :pool AND agent = :agent")
FOR_PERSON: Final = of_same_person("i.person")
BY_INVITER: Final = of_same_person("i.inviter", "inviter")
COUNTED: Final = Statement(f"""
    SELECT (SELECT count(*) FROM pool_invitations),
        (SELECT count(*) FROM pool_invitations i WHERE i.pool = :pool AND {WAITS}),
        (SELECT count(*) FROM pool_invitations i
            WHERE i.tenant = :tenant AND {BY_INVITER} AND {WAITS}),
        (SELECT count(*) FROM pool_invitations i
            WHERE i.tenant = :tenant AND {FOR_PERSON} AND {WAITS}),
        (SELECT count(*) FROM pool_invitations i WHERE i.tenant = :tenant
            AND {BY_INVITER} AND {FOR_PERSON} AND i.rests_until > :now),
        (SELECT count(*) FROM pool_invitations i
            WHERE i.tenant = :tenant AND {FOR_PERSON} AND i.made_at > :since)
""")
ADD: Final = Statement("""
    INSERT INTO pool_invitations (id, tenant, pool, agent, person, inviter, permission, state,
        made_at, until, rests_until, notified)
    SELECT :id, a.tenant, :pool, a.id, a.person, :inviter, :permission, 'waiting',
        :now, :until, :rests_until, false
    FROM agents a WHERE a.id = :agent AND a.tenant = :tenant
""")
ANSWERED: Final = f"i.id = :id AND i.tenant = :tenant AND {TO_PERSON} AND {WAITS}"
STILL_WAITS: Final = Statement(f"SELECT 1 FROM pool_invitations i WHERE {ANSWERED} {FOR_UPDATE}")
DECLINE: Final = Statement(f"""
    UPDATE pool_invitations AS i SET state = 'declined', rests_until = :rests_until
    WHERE {ANSWERED}
""")
WITHDRAW: Final = Statement("""
    UPDATE pool_invitations SET state = 'withdrawn', rests_until = :rests_until
    WHERE pool = :pool AND agent = :agent AND state = 'waiting' AND until > :now
""")
PRUNE: Final = deleting_some("pool_invitations", "id", "rests_until < :before", "rests_until")

Limit = Literal["full", "pool_full", "inviter_full", "person_full", "pair_full", "too_often"]
"""The limit that is reached: of all stored invitations, of those that wait of the pool, of its
owner, or for the person, of those from this owner to this person, of those in an hour."""


class Rests(Struct, frozen=True):
    """The pool may invite this agent again from `until` on."""

    until: datetime


class Invited(Struct, frozen=True):
    """The invitation that waits: a `new` one, or the same one from before."""

    id: str
    until: datetime
    new: bool


Inviting = Invited | Rests | Limit | Literal["otherwise", "missing"]
"""The outcome of inviting. `otherwise`: an invitation with the other permission waits; `missing`:
the pool or the agent no longer exists."""


class SqlInvitations:
    """Every method raises `StoreUnavailable`; the limits hold for concurrent writers. An event is
    stored with the change that it tells of."""

    def __init__(self, database: Database, signal: EventSignal | None = None) -> None:
        self._database = database
        self._writer = EventWriter(database, signal)

    async def add(
        self, invitation: PoolInvitation, rests_until: datetime, limits: AgentLimits,
        event: AgentEvent,
    ) -> Inviting:  # fmt: skip
        """Store an invitation. After `rests_until` the pool may invite the agent again, if nobody
        answered."""
        params = {
            "id": invitation.id,
            "tenant": storable(invitation.tenant),
            "pool": storable(invitation.pool),
            "agent": storable(invitation.agent),
            "person": storable(invitation.person),
            "inviter": storable(invitation.inviter),
            "permission": invitation.permission.value,
            "now": micros(invitation.made_at),
            "until": micros(invitation.until),
            "since": micros(invitation.made_at - HOUR),
            "rests_until": micros(rests_until),
        }

        def work() -> Work[Inviting]:
            if (yield from fetch_first(LOCK, params)) is None:
                return "missing"
            present = yield from fetch_first(PRESENT, params)
            if present is not None:
                id_, permission, waits, until, rests = present
                if waits:
                    same = permission == invitation.permission.value
                    return Invited(id_, time_of(until), new=False) if same else "otherwise"
                if rests > micros(invitation.made_at):
                    return Rests(time_of(rests))
            (counts,) = yield from fetch(COUNTED, params)
            reached = _reached(counts, limits)
            if reached is not None:
                return reached
            yield from execute(FORGET, params)
            if not (yield from change(ADD, params)):
                return "missing"
            yield from add_events([event])
            return Invited(invitation.id, invitation.until, new=True)

        return await self._writer.run(work, writing(invitation.pool), INVITING)

    async def listed(
        self, tenant: str, persons: Sequence[str], now: datetime, limit: int, agent: str = ""
    ) -> list[PoolInvitation]:
        """Return the invitations that wait for these persons, for one agent if it is named, oldest
        first."""
        params = _answering(tenant, persons, agent, now) | {"limit": limit}
        return [_invitation(row) for row in await self._database.fetch(LISTED, params)]

    async def find(
        self, tenant: str, persons: Sequence[str], id_: str, now: datetime, agent: str = ""
    ) -> PoolInvitation | None:
        """Return an invitation that waits for these persons."""
        params = _answering(tenant, persons, agent, now) | {"id": storable(id_)}
        rows = await self._database.fetch(FIND, params)
        return _invitation(rows[0]) if rows else None

    async def of_pool(
        self, tenant: str, pool: str, now: datetime, limit: int
    ) -> list[PoolInvitation]:
        """Return the invitations of a pool that wait, oldest first."""
        params = {
            "tenant": storable(tenant),
            "pool": storable(pool),
            "now": micros(now),
            "limit": limit,
        }
        return [_invitation(row) for row in await self._database.fetch(OF_POOL, params)]

    async def accept(
        self, invitation: PoolInvitation, persons: Sequence[str], agent: str, member: PoolMember,
        limits: AgentLimits, event: AgentEvent,
    ) -> Joining:  # fmt: skip
        """Make the agent of an invitation that waits for these persons a member. At a limit the
        invitation stays."""
        tenant, pool = invitation.tenant, invitation.pool
        params = _answering(tenant, persons, agent, event.at) | {
            "id": storable(invitation.id),
            "pool": storable(pool),
            "agent": storable(invitation.agent),
        }
        answer = {**params, "agent": storable(agent)}

        def work() -> Work[Joining]:
            if (yield from fetch_first(LOCK, params)) is None:
                return "missing"
            if not (yield from fetch(STILL_WAITS, answer)):
                return "missing"
            outcome = yield from admit(tenant, member, invitation.person, limits, replaces=True)
            if outcome == "joined":
                yield from execute(FORGET, params)
                yield from add_events([event])
            return outcome

        return await self._writer.run(work, *joining_locks(pool, tenant))

    async def decline(
        self, tenant: str, persons: Sequence[str], id_: str, agent: str, rests_until: datetime,
        event: AgentEvent,
    ) -> bool:  # fmt: skip
        """Decline an invitation that waits for these persons; False if none does."""
        params = _answering(tenant, persons, agent, event.at) | {
            "id": storable(id_),
            "rests_until": micros(rests_until),
        }

        def work() -> Work[bool]:
            if not (yield from change(DECLINE, params)):
                return False
            yield from add_events([event])
            return True

        return await self._writer.run(work)

    async def withdraw(self, pool: str, agent: str, now: datetime, rests_until: datetime) -> bool:
        """End an invitation that waits, for the owner of the pool; False if none does."""
        params = {
            "pool": storable(pool),
            "agent": storable(agent),
            "now": micros(now),
            "rests_until": micros(rests_until),
        }
        return await self._database.change(WITHDRAW, params) > 0

    async def unnotified(self, now: datetime, limit: int) -> list[PoolInvitation]:
        """Return invitations that wait and of which the person was not told, oldest first."""
        params = {"now": micros(now), "limit": limit}
        return [_invitation(row) for row in await self._database.fetch(UNNOTIFIED, params)]

    async def notified(self, id_: str) -> None:
        """Record that the person was told."""
        await self._database.change(NOTIFIED, {"id": id_})

    async def prune(self, before: datetime) -> int:
        """Delete a batch of invitations whose time of rest ended; return their number."""
        return await delete_some(self._database, PRUNE, {"before": micros(before)})


def _reached(counts: Row, limits: AgentLimits) -> Limit | None:
    all_, of_pool, of_inviter, to_person, of_pair, in_hour = map(int, counts)
    most: tuple[tuple[int, int, Limit], ...] = (
        (all_, limits.invitations, "full"),
        (of_pool, limits.invitations_per_pool, "pool_full"),
        (of_inviter, limits.invitations_per_inviter, "inviter_full"),
        (of_pair, limits.invitations_to_person_from_one, "pair_full"),
        (to_person, limits.invitations_to_person, "person_full"),
        (in_hour, limits.invitations_per_hour, "too_often"),
    )
    return next((limit for count, bound, limit in most if count >= bound), None)


def _answering(tenant: str, persons: Sequence[str], agent: str, now: datetime) -> dict[str, object]:
    return {
        "tenant": storable(tenant),
        "persons": [storable(person) for person in persons if person],
        "agent": storable(agent),
        "now": micros(now),
    }


def _invitation(row: Row) -> PoolInvitation:
    id_, tenant, pool, name, scope, agent, agent_name, person, inviter, may, made, until = row
    return PoolInvitation(
        *(id_, tenant, pool, name, SharedScope(scope), agent, agent_name, person, inviter),
        *(Permission(may), time_of(made), time_of(until)),
    )
