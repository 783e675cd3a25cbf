"""Storage of agents and their sessions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

from memory.agents.model import Admission, Agent, AgentEvent, AgentLimits, AgentSession
from memory.model.scope import AccessScope


class AgentStore(Protocol):
    """The registered agents. Every method raises `StoreUnavailable`. An `event` is stored with the
    change that it tells of; without a change there is none."""

    async def add(self, agent: Agent, limits: AgentLimits, event: AgentEvent) -> Admission:
        """Store an agent, unless there are `agents` in all tenants together, or
        `agents_per_person` of its person."""
        ...

    async def get(self, tenant: str, agent_id: str) -> Agent | None:
        """Return an agent of the tenant."""
        ...

    async def known(self, tenant: str, persons: Sequence[str], agent_id: str) -> Agent | None:
        """Return an agent of these persons, or one that is in a pool with one of theirs."""
        ...

    async def receives(
        self, tenant: str, persons: Sequence[str], source: str, agent_id: str
    ) -> Agent | None:
        """Return an agent to which the agent `source` of these persons may hand tasks: one of
        theirs, or a member of a pool that they own or whose owner let `source` in."""
        ...

    async def of_persons(self, tenant: str, persons: Sequence[str], limit: int) -> list[Agent]:
        """Return the agents of these persons, first registered first."""
        ...

    async def remove(
        self, tenant: str, persons: Sequence[str], agent_id: str, event: AgentEvent
    ) -> bool:
        """Delete an agent of these persons with its sessions and memberships, and end its pending
        handoffs; False if there is none."""
        ...

    async def memories_of(
        self, access: AccessScope, agent_id: str, since: datetime, limit: int
    ) -> list[str]:
        """Return the ids of changeable memories that the agent wrote since then, newest first."""
        ...

    async def add_session(
        self, agent: Agent, session: AgentSession, idle_since: datetime, limits: AgentLimits
    ) -> Admission | Literal["missing"]:
        """Store a session, unless `sessions` were used after `idle_since`, `sessions_per_person` of
        them by agents of its person, or the agent does not exist."""
        ...

    async def use_session(
        self, tenant: str, persons: Sequence[str], session_id: str, now: datetime, idle: datetime
    ) -> AgentSession | None:
        """Note the use of an open session and return it; None if it ended or was last used
        before `idle`."""
        ...

    async def end_session(
        self, tenant: str, persons: Sequence[str], session_id: str, now: datetime
    ) -> bool:
        """End an open session of these persons."""
        ...

    async def prune(self, idle: datetime, ended: datetime) -> int:
        """End a batch of sessions that were last used before `idle`, delete a batch of those that
        ended before `ended`; return their number."""
        ...
