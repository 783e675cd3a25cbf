"""The values of agents, pools and handoffs, and their limits."""

from datetime import datetime, timedelta
from enum import Enum, StrEnum
from typing import Final, Literal

from msgspec import Struct, field
from pydantic import Field

from gateway.errors import UsageError
from gateway.settings import Section
from gateway.text import NO_TEXT, Text
from memory.model.record import Record

SESSION_IDLE: Final = timedelta(minutes=30)
"""The time without use that ends a session."""
MAX_NAME: Final = 100
"""Characters of the name of an agent or a pool."""
MAX_RESULTS: Final = 1_000
"""The largest `max_results` of a query."""
MOST_MEMBERSHIPS: Final = 200
"""The largest `memberships_per_person`: all pools of an agent are read."""


class AgentType(StrEnum):
    """The type of an agent, which decides its default capabilities."""

    CLAUDE_CODE = "claude_code"
    GPT_AGENT = "gpt_agent"
    CUSTOM_PIPELINE = "custom_pipeline"
    HUMAN = "human"


class Capability(StrEnum):
    """An operation that an agent may perform."""

    MEMORY_READ = "memory_read"
    MEMORY_WRITE = "memory_write"
    MEMORY_DELETE = "memory_delete"
    KB_SEARCH = "kb_search"
    HANDOFF_INITIATE = "handoff_initiate"
    HANDOFF_RECEIVE = "handoff_receive"


_ASSISTANT: Final = frozenset(Capability) - {Capability.MEMORY_DELETE}
DEFAULT_CAPABILITIES: Final = {
    AgentType.CLAUDE_CODE: _ASSISTANT,
    AgentType.GPT_AGENT: _ASSISTANT,
    AgentType.CUSTOM_PIPELINE: frozenset({Capability.MEMORY_READ, Capability.KB_SEARCH}),
    AgentType.HUMAN: frozenset(Capability),
}


class SharedScope(Enum):
    """The width of a share, from the narrowest to the widest."""

    AGENT_PRIVATE = 0
    USER = 1
    PROJECT = 2
    TEAM = 3
    GLOBAL = 4

    def includes(self, other: "SharedScope") -> bool:
        """True if a reader with this scope may read what is shared at the other."""
        return other.value <= self.value


class Permission(StrEnum):
    """The permission of a member in a pool. WRITE includes READ."""

    READ = "read"
    WRITE = "write"


class HandoffStatus(StrEnum):
    """The state of a handoff."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    COMPLETED = "completed"
    REJECTED = "rejected"
    EXPIRED = "expired"

    @property
    def terminal(self) -> bool:
        """True if the handoff cannot change any more."""
        return self not in {HandoffStatus.PENDING, HandoffStatus.ACCEPTED}


class RegistryCapacityError(UsageError):
    """A limit of agents, sessions, pools, members, shared memories or handoffs is reached."""

    code = "full"


class ConfiguredLimits(Section):
    """The limits that the section `agents` of the configuration sets."""

    agents: int = Field(default=10_000, ge=1, le=1_000_000)
    """Registered agents."""
    sessions: int = Field(default=50_000, ge=1, le=1_000_000)
    """Open sessions; one ends after 30 minutes without use."""
    pools: int = Field(default=10_000, ge=1, le=1_000_000)
    """Pools of shared memories."""
    pool_members: int = Field(default=1_000, ge=1, le=10_000)
    """Agents in one pool."""
    pool_members_per_person: int = Field(default=20, ge=1, le=10_000)
    """Agents of one person in one pool."""
    memberships_per_person: int = Field(default=100, ge=1, le=MOST_MEMBERSHIPS)
    """Memberships of the agents of one person in all pools."""
    agents_per_person: int = Field(default=100, ge=1, le=1_000_000)
    """Registered agents of one person."""
    sessions_per_person: int = Field(default=500, ge=1, le=1_000_000)
    """Open sessions of the agents of one person."""
    pools_per_person: int = Field(default=50, ge=1, le=1_000_000)
    """Pools that one person owns."""
    handoffs_per_person: int = Field(default=1_000, ge=1, le=1_000_000)
    """Stored handoffs from the agents of one person."""
    pool_memories: int = Field(default=100_000, ge=1, le=1_000_000)
    """Memories shared in one pool."""
    handoffs: int = Field(default=50_000, ge=1, le=1_000_000)
    """Stored handoffs, finished ones included until they are deleted."""
    pending_per_target: int = Field(default=100, ge=1, le=10_000)
    """Handoffs that wait for one agent or person."""
    query_results: int = Field(default=100, ge=1, le=1_000)
    """Results of one query of a pool, unless the query says how many."""
    handoff_seconds: int = Field(default=3_600, ge=60, le=604_800)
    """Seconds after which an offered handoff expires, unless the offer says when."""


class AgentLimits(ConfiguredLimits):
    """The limits of one installation, and of one person, so that nobody uses all of it.

    Those without a setting are the shortest and the longest time of a handoff, the handoffs
    that a person receives in an hour from the agents of one person, and in all, and those from the
    agents of one other person that wait for one receiver; the stored invitations, those that wait
    of one pool, of one owner and for one person, those of one owner for one person, answered ones
    included until the pool may invite again, and those that a person gets in an hour."""

    handoff_seconds_least: int = 60
    handoff_seconds_most: int = 604_800
    person_per_hour: int = 10
    person_per_hour_all: int = 30
    pending_from_person: int = 20
    invitations: int = 10_000
    invitations_per_pool: int = 100
    invitations_per_inviter: int = 100
    invitations_to_person: int = 20
    invitations_to_person_from_one: int = 5
    invitations_per_hour: int = 10


Admission = Literal["stored", "full", "person_full"]
"""The outcome of an addition within limits: stored, or refused at the limit of the installation or
of the person."""
Joining = Literal["joined", "missing", "not_member", "full", "person_full_here", "person_full"]
"""The outcome of joining a pool. `missing`: the pool, the agent or the invitation no longer exists;
`not_member`: only a present membership was to be changed. The others name the limit: of the pool,
of the agent's person within it, of this person's memberships in all pools."""


class Agent(Struct, frozen=True):
    """A registered agent. It acts for the person `owner`, a `str(PersonId)`, and never reaches more
    than that person. `id` has 128 random bits, as 32 hexadecimal digits."""

    id: str
    tenant: str
    """The tenant of its person."""
    type: AgentType
    """The type, which decides the capabilities that it has by default."""
    owner: str
    capabilities: frozenset[Capability]
    """The operations that it may perform."""
    registered_at: datetime
    """The time of its registration."""
    name: str = ""
    """The name that its person gave it; empty for none."""

    def may(self, capability: Capability) -> bool:
        """True if the agent has this capability."""
        return capability in self.capabilities


class AgentActivity(Struct, frozen=True):
    """The numbers of what an agent gave: memories, memories that wait for review, shares in pools,
    and handoffs that are open."""

    memories: int = 0
    waiting: int = 0
    """Memories that wait for review."""
    shares: int = 0
    handoffs: int = 0


class AgentSummary(Struct, frozen=True):
    """An agent and its activity. `agent` is None if it was unregistered; its memories stay."""

    id: str
    """The id of the agent."""
    agent: Agent | None
    activity: AgentActivity


class AgentSession(Struct, frozen=True):
    """A session of an agent. It ends on request, or after `SESSION_IDLE` without use."""

    id: str
    """The id of the session."""
    agent: str
    started_at: datetime
    """The time of its beginning."""
    ended_at: datetime | None = None
    """The time of its end; None while it is open."""


class Pool(Struct, frozen=True):
    """A pool of shared memories. `scope` is the widest scope that is shared in it; `project` is
    empty unless the scope is PROJECT."""

    id: str
    """128 random bits, as 32 hexadecimal digits."""
    tenant: str
    """The tenant of its owner."""
    name: str
    """The name, at most 100 characters, which its owner wrote."""
    owner: str
    """The person who made it, a `str(PersonId)`."""
    scope: SharedScope
    created_at: datetime
    """The time of its making."""
    project: str = ""


class PoolMember(Struct, frozen=True):
    """The membership of an agent in a pool. `granted`: the pool's owner added the agent, so that it
    reads the pool wherever its person is."""

    pool: str
    agent: str
    permission: Permission
    """The permission to read or to write."""
    joined_at: datetime
    """The time of joining."""
    granted: bool = False


class PoolInvitation(Struct, frozen=True):
    """An invitation of an agent into the pool of somebody else, which waits for the agent's person.

    `person` is the agent's person and `inviter` the owner of the pool, each a `str(PersonId)`;
    `agent_name` is the name that the person gave the agent, and `pool_name`, which the inviter
    wrote, is text of others. After `until` nobody can accept it.
    """

    id: str
    """The id of the invitation."""
    tenant: str
    """The tenant of both people."""
    pool: str
    pool_name: str
    scope: SharedScope
    """The widest scope that is shared in the pool."""
    agent: str
    agent_name: str
    person: str
    inviter: str
    permission: Permission
    """The permission that the agent would have."""
    made_at: datetime
    """The time of the invitation."""
    until: datetime


class Membership(Struct, frozen=True):
    """A pool of an agent, with the number of memories that the agent shares in it. `owner` is the
    person of the pool, a `str(PersonId)`."""

    pool: str
    name: str
    """The name of the pool."""
    permission: Permission
    """The permission of the agent."""
    shares: int
    owner: str


class PoolSummary(Struct, frozen=True):
    """A pool with the numbers of its members and of its shared memories."""

    pool: Pool
    members: int
    memories: int


class SharedMemory(Struct, frozen=True):
    """A memory that an agent shared with a pool. `version` counts its changes from 1; `agent` wrote
    the present one. `members` is the number of the pool's members when it was shared."""

    pool: str
    memory: str
    agent: str
    scope: SharedScope
    """The scope of the share, at most that of the pool."""
    shared_at: datetime
    """The time of sharing."""
    version: int = 1
    members: int = 0


class PoolEntry(Struct, frozen=True):
    """A shared memory with its present text. The record of another person has neither person nor
    place nor messages."""

    shared: SharedMemory
    record: Record


class ShareWaits(Struct, frozen=True):
    """A share that waits for the decision of an operator, with the sentence for the person."""

    review_id: str
    """The id of the open review."""
    reason: Text
    """The sentence."""


class UpdateOutcome(StrEnum):
    """The outcome of an update of a shared memory."""

    UPDATED = "updated"
    CONFLICT = "conflict"
    REVIEW = "review"
    REFUSED = "refused"


class SharedUpdate(Struct, frozen=True):
    """The result of an update of a shared memory.

    `version` and `text` are the present ones in the pool; `own_text` is the text of the update.
    After a conflict, both texts are there: the caller merges them and updates `version`.
    """

    outcome: UpdateOutcome
    """The fate of the update."""
    version: int
    text: str
    own_text: str
    reason: Text = NO_TEXT
    """The sentence about it; empty after an update."""
    review_id: str = ""
    """The id of the open review; empty unless it waits."""


class HandoffContext(Struct, frozen=True):
    """The task of a handoff. `current_state` is JSON; lists and texts are bounded at the edge.
    `findings` are codes of what looks like an instruction in its texts."""

    task_description: str
    """The task in words."""
    current_state: dict[str, object] = field(default_factory=dict)
    relevant_memories: tuple[str, ...] = ()
    """Ids of memories that the task needs."""
    relevant_files: tuple[str, ...] = ()
    """Paths of files that the task needs."""
    findings: tuple[str, ...] = ()


class Handoff(Struct, frozen=True):
    """A task that one agent hands to another, or to a person.

    `target` is the id of an agent, or empty where `target_person` (a `str(PersonId)`) receives it;
    both are empty once the receiver was erased. `source_owner` and `target_owner` are the people
    for whom both sides act; the other side's is empty for a caller. `source_name` is the name that
    the source had. `until` is the end of the present state: of the offer while pending, of
    the work while accepted, which lasts `ttl_seconds` again.
    """

    id: str
    tenant: str
    """The tenant of both sides."""
    source: str
    target: str
    target_person: str
    context: HandoffContext
    """The task."""
    status: HandoffStatus
    """The present state."""
    created_at: datetime
    """The time of the offer."""
    until: datetime
    ttl_seconds: int
    source_owner: str
    target_owner: str
    source_name: str = ""
    result: dict[str, object] | None = None
    """The result as JSON; None unless it is completed."""
    reason: str = ""
    """The reason of a rejection; empty otherwise."""


HandoffOutcome = Literal["done", "unknown", "expired", "not_open"]
"""The result of a step. `unknown`: no handoff with this id is addressed to the caller. `expired`:
it was, and its time is over. `not_open`: its state does not allow the step, for example because
another session accepted it first."""


class HandoffStep(Struct, frozen=True):
    """The outcome of accepting, rejecting or completing, and the handoff as it is now."""

    outcome: HandoffOutcome
    handoff: Handoff | None = None

    @property
    def done(self) -> bool:
        """True if this call changed the state."""
        return self.outcome == "done"


class EventKind(StrEnum):
    """The kind of an event of an agent, a pool or a handoff."""

    AGENT_REGISTERED = "agent.registered"
    AGENT_UNREGISTERED = "agent.unregistered"
    POOL_CREATED = "pool.created"
    POOL_INVITED = "pool.invited"
    POOL_DECLINED = "pool.declined"
    POOL_JOINED = "pool.joined"
    POOL_LEFT = "pool.left"
    POOL_SHARED = "pool.shared"
    POOL_UPDATED = "pool.updated"
    POOL_UNSHARED = "pool.unshared"
    POOL_DELETED = "pool.deleted"
    HANDOFF_INITIATED = "handoff.initiated"
    HANDOFF_ACCEPTED = "handoff.accepted"
    HANDOFF_REJECTED = "handoff.rejected"
    HANDOFF_COMPLETED = "handoff.completed"
    HANDOFF_EXPIRED = "handoff.expired"


class AgentEvent(Struct, frozen=True):
    """An event, without content. `person` and `other` are the people whose agents take part, as
    `str(PersonId)`; empty ids do not apply. `number` grows with time and has gaps; 0 before it is
    stored."""

    kind: EventKind
    """The kind of event."""
    tenant: str
    """The tenant of the people."""
    at: datetime
    """The time of the event."""
    agent: str = ""
    """The id of the agent that acted."""
    pool: str = ""
    """The id of the pool."""
    handoff: str = ""
    """The id of the handoff."""
    memory: str = ""
    """The id of the shared memory."""
    person: str = ""
    other: str = ""
    number: int = 0


class EventPage(Struct, frozen=True):
    """Events in order. `last` is the number up to which the table was read, the next `after`; with
    `more`, there may be further events."""

    events: tuple[AgentEvent, ...]
    last: int
    more: bool
