"""Short ways to agents, requests and handoffs."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from gateway.errors import NotFound
from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from memory.agents.model import (
    DEFAULT_CAPABILITIES,
    Agent,
    AgentType,
    Handoff,
    HandoffContext,
    HandoffStatus,
)
from memory.model.scope import RequestScope

AT = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
ADA, BOB, EVE = "telegram:main:ada", "slack:main:bob", "discord:main:eve"
_NUMBERS = count(1)


def agent(owner: str = ADA, type_: AgentType = AgentType.CLAUDE_CODE) -> Agent:
    """An agent of a person, with the default capabilities of its type."""
    id_ = f"{next(_NUMBERS):032x}"
    return Agent(id_, "t", type_, owner, DEFAULT_CAPABILITIES[type_], AT)


def request_of(person: str = ADA, *linked: str, outside: bool = False) -> RequestScope:
    """A request that a person authenticated."""
    platform, account, id_ = person.split(":")
    principal = Principal("t", PersonId(platform, account, id_), Role.MEMBER, outside)
    place = Place("api", account, person, Audience.DIRECT)
    return RequestScope(principal, (person, *linked), place, AT)


def handoff(source: Agent, target: Agent | str, **changed: Any) -> Handoff:
    """A pending handoff to an agent, or to a person."""
    at = changed.pop("created_at", AT)
    person = target if isinstance(target, str) else ""
    values: dict[str, Any] = {
        "id": f"{next(_NUMBERS):032x}",
        "tenant": "t",
        "source": source.id,
        "target": "" if isinstance(target, str) else target.id,
        "target_person": person,
        "context": HandoffContext(another_task()["task_description"]),
        "status": HandoffStatus.PENDING,
        "created_at": at,
        "until": at + timedelta(hours=1),
        "ttl_seconds": 3_600,
        "source_owner": source.owner,
        "target_owner": person if isinstance(target, str) else target.owner,
    }
    return Handoff(**(values | changed))


@dataclass
class Directory:
    """A registry in memory, in which everybody knows the agents that `common` names."""

    agents: dict[str, Agent] = field(default_factory=dict)
    common: set[str] = field(default_factory=set)

    def add(self, *agents: Agent) -> None:
        """Register agents that everybody knows."""
        self.agents |= {one.id: one for one in agents}
        self.common |= {one.id for one in agents}

    async def own(self, request: RequestScope, agent_id: str) -> Agent:
        result = self.agents.get(agent_id)
        if result is None or result.owner not in request.persons:
            raise NotFound(f"no agent {agent_id!r} is yours")
        return result

    async def receiver(self, request: RequestScope, source: Agent, agent_id: str) -> Agent | None:
        result = self.agents.get(agent_id)
        if result is None or result.tenant != source.tenant:
            return None
        return result if result.owner in request.persons or result.id in self.common else None


_NUMBERS = count(1)


def another_task() -> dict[str, str]:
    """A task that no other handoff has: the same one would be the same handoff."""
    return {"task_description": f"Write form {next(_NUMBERS)}"}
