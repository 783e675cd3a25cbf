"""Storage of pools, their members and their shared memories."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

from msgspec import Struct

from memory.agents.model import (
    Admission,
    AgentEvent,
    AgentLimits,
    Joining,
    Pool,
    PoolEntry,
    PoolMember,
    SharedMemory,
)
from memory.model.scope import AccessScope

Refused = Literal["missing", "denied", "full"]
"""There is no such memory, pool or member; the member may not; a limit is reached."""


class ReplacedText(Struct, frozen=True):
    """The new text of a shared memory: the stored memory `record_id`, which `agent` wrote, in place
    of the version `expected`."""

    pool: str
    memory: str
    agent: str
    record_id: str
    expected: int


class PoolStore(Protocol):
    """The pools. Every method raises `StoreUnavailable`; the limits hold for concurrent writers. An
    `event` is stored with the change that it tells of; without a change there is none."""

    async def add(self, pool: Pool, limits: AgentLimits, event: AgentEvent) -> Admission:
        """Store a pool, unless there are `pools` in all tenants together, or `pools_per_person` of
        its owner."""
        ...

    async def get(self, tenant: str, pool_id: str) -> Pool | None:
        """Return a pool of the tenant."""
        ...

    async def of_persons(self, tenant: str, persons: Sequence[str], limit: int) -> list[Pool]:
        """Return the pools that these persons own, and those with one of their agents."""
        ...

    async def includes(self, pool: Pool, persons: Sequence[str]) -> bool:
        """True if an agent of these persons is a member of the pool."""
        ...

    async def remove(self, pool: Pool, event: AgentEvent) -> bool:
        """Delete a pool and its memberships. `prune` deletes its shares, which nobody can read
        any more."""
        ...

    async def member(self, pool_id: str, agent_id: str) -> PoolMember | None:
        """Return the membership of an agent."""
        ...

    async def members(self, pool_id: str, limit: int) -> list[PoolMember]:
        """Return the members, first joined first."""
        ...

    async def join(
        self,
        pool: Pool,
        member: PoolMember,
        owner: str,
        limits: AgentLimits,
        event: AgentEvent,
        *,
        replaces: bool,
        new: bool,
    ) -> Joining:
        """Add an agent of the person `owner` to a pool, within `pool_members`,
        `pool_members_per_person` and `memberships_per_person`. A present membership stays, unless
        the new one `replaces` it. Unless it may be `new`, only a present one is changed."""
        ...

    async def leave(self, pool_id: str, agent_id: str, event: AgentEvent) -> bool:
        """End a membership; the agent's shares cannot be read any more."""
        ...

    async def share(
        self,
        access: AccessScope,
        shared: SharedMemory,
        project: str,
        limit: int,
        event: AgentEvent,
    ) -> SharedMemory | Refused:
        """Share a changeable current memory of this access with a pool of which its agent is a
        member with WRITE permission; a memory that is shared already gets the new scope. Return it
        with the number of members."""
        ...

    async def unshare(
        self,
        tenant: str,
        persons: Sequence[str],
        pool_id: str,
        memory_id: str,
        event: AgentEvent,
        *,
        any_: bool,
    ) -> bool:
        """Delete a share of these persons, with `any_` anybody's."""
        ...

    async def query(
        self,
        access: AccessScope,
        pool_id: str,
        now: datetime,
        limit: int,
        memory_id: str = "",
    ) -> list[PoolEntry]:
        """Return what this agent may read in a pool, latest share first."""
        ...

    async def replace_text(self, tenant: str, new: ReplacedText, event: AgentEvent) -> bool:
        """Give a shared memory its next version if its version is the expected one, and the agent
        a member with WRITE permission."""
        ...

    async def prune(self, limit: int) -> int:
        """Delete a batch of shares whose membership or pool ended; return their number."""
        ...
