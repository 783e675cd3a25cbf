"""The requests and responses of the HTTP API about agents, pools and handoffs."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from memory.agents.model import MAX_NAME, AgentType, Capability
from memory.model.record import MAX_ARGUMENT
from parley.http.api.models import (
    MAX_ID,
    MAX_NUMBER,
    MAX_REASON,
    Integral,
    Plain,
    RequestModel,
    ResponseModel,
)

ScopeName = Literal["agent_private", "user", "project", "team", "global"]
Of = Annotated[
    Literal["own", "all"],
    Field(description="Own ones, or as an operator those of everybody, without their names."),
]


class AgentsQuery(Plain):
    """The agents or pools to return."""

    of: Of = "own"


class AgentBody(RequestModel):
    """An agent to register. Without `capabilities` it has all of its type, with them fewer."""

    type: AgentType
    name: Annotated[str, StringConstraints(max_length=MAX_NAME)] = ""
    capabilities: Annotated[
        tuple[Capability, ...] | None, Field(max_length=len(Capability), default=None)
    ]


class TakeBackBody(RequestModel):
    """The time since which everything is taken back; without it, everything."""

    since: AwareDatetime | None = None


Id = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID)]
CallingAgent = Annotated[
    Id | None,
    Field(
        description="An own agent. With the token of an agent it is that one, and may be left out."
    ),
]


class SharedUpdateBody(RequestModel):
    """The new text of a shared memory. `version` is the one that was read, `agent` the own agent
    that writes."""

    agent: CallingAgent = None
    memory: Id
    version: Annotated[int, Field(ge=1, le=MAX_NUMBER), Integral]
    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_ARGUMENT)]


class UnshareBody(RequestModel):
    """The memory that is no longer shared."""

    memory: Id


class LeaveBody(RequestModel):
    """The agent that leaves the pool: an own one, or as the owner of the pool any, also one that is
    invited."""

    agent: CallingAgent = None


class RejectHandoffBody(RequestModel):
    """The reason, which the agent that handed the task over reads."""

    reason: Annotated[str, StringConstraints(max_length=MAX_REASON)] = ""


class AgentOut(ResponseModel):
    """An agent, with the numbers of the memories that it wrote, of those that wait for review, of
    its shares in pools, and of its open handoffs. An unregistered agent has no type; `name` is null
    for the agent of another person."""

    id: str
    registered: bool
    yours: bool
    type: AgentType | None
    name: str | None
    person: str | None
    capabilities: list[Capability]
    registered_at: datetime | None
    memories: int
    waiting: int
    shares: int
    handoffs: int


class AgentsOut(ResponseModel):
    """Agents, the first registered first."""

    agents: list[AgentOut]


class WrittenByAgentOut(ResponseModel):
    """A memory that an agent wrote."""

    id: str
    content: str
    written_at: datetime


class MembershipOut(ResponseModel):
    """A pool of an agent, with the number of memories that it shares there."""

    pool: str
    name: str
    permission: Literal["read", "write"]
    shares: int


class AgentPageOut(ResponseModel):
    """An agent with the latest memories that it wrote, and its pools."""

    agent: AgentOut
    written: list[WrittenByAgentOut]
    pools: list[MembershipOut]


class TakenBackOut(ResponseModel):
    """The numbers of memories, waiting memories, shares and handoffs that were taken back."""

    memories: int
    waiting: int
    shares: int
    handoffs: int


class SessionOut(ResponseModel):
    """An open session of an agent. It ends on request, or after 30 minutes without use."""

    id: str
    agent: str
    started_at: datetime


class SharedUpdateOut(ResponseModel):
    """The result of an update. `version` and `content` are the present ones in the pool,
    `own_content` is the text of the update. After a conflict, merge both texts and update
    `version`."""

    outcome: Literal["updated", "conflict", "review"]
    version: int
    content: str
    own_content: str
    message: str
    review_id: str | None


class PoolOut(ResponseModel):
    """A pool with the numbers of its members and shared memories; `name` is null for the pool of
    another person in the list of everybody's."""

    id: str
    name: str | None
    scope: ScopeName
    person: str | None
    yours: bool
    project: str | None
    created_at: datetime
    members: int
    memories: int


class InvitationOut(ResponseModel):
    """An invitation of an agent of yours into the pool of somebody else. `person` owns the pool and
    gave it its name."""

    id: str
    pool: str
    name: str
    scope: ScopeName
    person: str
    agent: str
    permission: Literal["read", "write"]
    made_at: datetime
    until: datetime


class InvitationsOut(ResponseModel):
    """Invitations that wait for your answer, the oldest first."""

    invitations: list[InvitationOut]


class InvitedOut(ResponseModel):
    """An agent that is invited into the pool and has not joined yet."""

    agent: str
    permission: Literal["read", "write"]
    until: datetime


class PoolsOut(ResponseModel):
    """Pools, the first created first."""

    pools: list[PoolOut]


class PoolMemberOut(ResponseModel):
    """A member of a pool."""

    agent: str
    permission: Literal["read", "write"]
    joined_at: datetime


class PoolPageOut(ResponseModel):
    """A pool with its members, the first joined first, and for its owner those who are invited."""

    pool: PoolOut
    members: list[PoolMemberOut]
    invited: list[InvitedOut]


class HandoffOut(ResponseModel):
    """A task that waits for you or for an agent of yours, or that was accepted. An agent wrote its
    text. `agent` is null for a task to you."""

    id: str
    status: Literal["pending", "accepted"]
    task: str
    agent: str | None
    source: str
    created_at: datetime
    until: datetime


class HandoffsOut(ResponseModel):
    """Handoffs, the oldest first."""

    handoffs: list[HandoffOut]


class RejectedOut(ResponseModel):
    """A rejected handoff."""

    id: str
    status: Literal["rejected"]
