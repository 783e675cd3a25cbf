"""Actions of people and their programs on their agents, sessions and handoffs."""

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, Field, StringConstraints

from gateway.errors import BadInput, NotFound
from gateway.ports.action import (
    IN_BROWSER,
    PROGRAMS,
    Effect,
    Empty,
    Input,
    Nothing,
    Output,
    action,
)
from gateway.ports.rights import TOKENS
from gateway.text import text
from memory.actions.call import AgentCall, OneId
from memory.agents.model import (
    MAX_NAME,
    Agent,
    AgentSession,
    AgentSummary,
    AgentType,
    Capability,
    Handoff,
)
from memory.agents.registry import EVER
from memory.model.scope import RequestScope
from memory.service.review import MAX_REASON

OWNERS: Final = PROGRAMS | IN_BROWSER
"""People in a browser, and their programs: what belongs to them, an agent does not change."""
NO_AGENT: Final = text("You have no agent with this id.")
NO_HANDOFF: Final = text("No handoff with this id is addressed to you or to an agent of yours.")
NO_SESSION: Final = text("The session has ended, or there is none of yours with this id.")
NOT_PENDING: Final = text(
    "Only a pending handoff can be rejected. This one is not pending any more."
)
Of = Annotated[
    Literal["own", "all"],
    Field(description="Own ones, or as an operator those of everybody, without their names."),
]


class Listing(Input):
    """The agents or pools to return."""

    of: Of = "own"


class AgentBody(Input):
    """An agent to register. Without `capabilities` it has all of its type, with them fewer."""

    type: AgentType
    name: Annotated[str, StringConstraints(max_length=MAX_NAME)] = ""
    capabilities: Annotated[
        tuple[Capability, ...] | None, Field(max_length=len(Capability), default=None)
    ]


class TakeBack(OneId):
    """The time since which everything is taken back; without it, everything."""

    since: AwareDatetime | None = None


class RejectHandoff(OneId):
    """The reason, which the agent that handed the task over reads."""

    reason: Annotated[str, StringConstraints(max_length=MAX_REASON)] = ""


class AgentOut(Output):
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


class AgentsOut(Output):
    """Agents, the first registered first."""

    agents: list[AgentOut]


class WrittenByAgentOut(Output):
    """A memory that an agent wrote."""

    id: str
    content: str
    written_at: datetime


class MembershipOut(Output):
    """A pool of an agent, with the number of memories that it shares there."""

    pool: str
    name: str
    permission: Literal["read", "write"]
    shares: int


class AgentPageOut(Output):
    """An agent with the latest memories that it wrote, and its pools."""

    agent: AgentOut
    written: list[WrittenByAgentOut]
    pools: list[MembershipOut]


class TakenBackOut(Output):
    """The numbers of memories, waiting memories, shares and handoffs that were taken back."""

    memories: int
    waiting: int
    shares: int
    handoffs: int


class SessionOut(Output):
    """An open session of an agent. It ends on request, or after 30 minutes without use."""

    id: str
    agent: str
    started_at: datetime


class HandoffOut(Output):
    """A task that waits for you or for an agent of yours, or that was accepted. An agent wrote its
    text. `agent` is null for a task to you."""

    id: str
    status: Literal["pending", "accepted"]
    task: str
    agent: str | None
    source: str
    created_at: datetime
    until: datetime


class HandoffsOut(Output):
    """Handoffs, the oldest first."""

    handoffs: list[HandoffOut]


class RejectedOut(Output):
    """A rejected handoff."""

    id: str
    status: Literal["rejected"]


@action(
    "List agents, with the numbers of what each of them wrote, shared and handed over",
    by=OWNERS,
    effect=Effect.READS,
)
async def agents(call: AgentCall, given: Listing) -> AgentsOut:
    """Return the caller's agents, or for an operator those of everybody."""
    request, overview = call.handle.request, call.agents.overview
    every = given.of == "all"
    summaries = await (overview.all_agents(request) if every else overview.agents(request))
    return AgentsOut(agents=[_summary(request, one) for one in summaries])


@action("Register an agent", by=OWNERS, effect=Effect.WRITES)
async def register(call: AgentCall, given: AgentBody) -> AgentOut:
    """Register an agent of the caller."""
    request = call.handle.request
    agent = await call.agents.registry.register_agent(
        request, given.type, name=given.name, capabilities=given.capabilities
    )
    return _agent(request, agent)


@action("Read what an agent wrote and shared", by=PROGRAMS, effect=Effect.READS)
async def page(call: AgentCall, given: OneId) -> AgentPageOut:
    """Return what an agent of the caller wrote and shared."""
    request = call.handle.request
    found = await call.agents.overview.named(request, given.id)
    if found.id != given.id:
        raise NotFound(NO_AGENT)
    shown = await call.agents.overview.page(request, found)
    written = [
        WrittenByAgentOut(id=one.id, content=one.content, written_at=one.provenance.at)
        for one in shown.written
    ]
    pools = [
        MembershipOut(
            pool=one.pool, name=one.name, permission=one.permission.value, shares=one.shares
        )
        for one in shown.memberships
    ]
    summary = _summary(request, shown.summary)
    return AgentPageOut(agent=summary, written=written, pools=pools)


@action("Unregister an agent; what it wrote stays", by=OWNERS, effect=Effect.WRITES)
async def unregister(call: AgentCall, given: OneId) -> Empty:
    """Unregister an agent of the caller."""
    if not await call.agents.registry.unregister_agent(call.handle.request, given.id):
        raise NotFound(NO_AGENT)
    return Empty()


@action(
    "Delete everything that an agent gave, also after it was unregistered",
    by=OWNERS,
    effect=Effect.WRITES,
)
async def take_back(call: AgentCall, given: TakeBack) -> TakenBackOut:
    """Take back what an agent gave, as far as the caller may."""
    request = call.handle.request
    agent = await call.agents.overview.to_take_back(request, given.id)
    if agent.id != given.id:
        raise NotFound(NO_AGENT)
    taken = await call.agents.origins.take_back(request, agent.id, given.since or EVER)
    return TakenBackOut(
        memories=taken.memories,
        waiting=taken.reviews,
        shares=taken.shares,
        handoffs=taken.handoffs,
    )


@action("Start a session of an agent", by=TOKENS, capability="", effect=Effect.WRITES)
async def start_session(call: AgentCall, given: OneId) -> SessionOut:
    """Start a session of an agent of the caller."""
    return _session(await call.agents.registry.start_session(call.handle.request, given.id))


@action(
    "Note that a session is in use, so that it stays open for another 30 minutes",
    by=TOKENS,
    capability="",
    effect=Effect.WRITES,
)
async def use_session(call: AgentCall, given: OneId) -> SessionOut:
    """Note the use of an open session of the caller."""
    return _session(await call.agents.registry.use_session(call.handle.request, given.id))


@action("End a session", by=TOKENS, capability="", effect=Effect.WRITES)
async def end_session(call: AgentCall, given: OneId) -> Empty:
    """End an open session of the caller."""
    if not await call.agents.registry.end_session(call.handle.request, given.id):
        raise NotFound(NO_SESSION)
    return Empty()


@action("List the open handoffs to you and to your agents", by=OWNERS, effect=Effect.READS)
async def handoffs(call: AgentCall, given: Nothing) -> HandoffsOut:
    """Return the open handoffs to the caller and to the caller's agents."""
    open_ = await call.agents.handoffs.open_of(call.handle.request)
    return HandoffsOut(handoffs=[_handoff(one) for one in open_])


@action("Reject a pending handoff", by=OWNERS, effect=Effect.WRITES)
async def reject(call: AgentCall, given: RejectHandoff) -> RejectedOut:
    """Reject a pending handoff to the caller or to one of the caller's agents."""
    step = await call.agents.handoffs.reject_own(call.handle.request, given.id, given.reason)
    if step.outcome == "unknown":
        raise NotFound(NO_HANDOFF)
    if not step.done:
        raise BadInput(NOT_PENDING, code="not_pending", where="path.id")
    return RejectedOut(id=given.id, status="rejected")


def _agent(request: RequestScope, agent: Agent) -> AgentOut:
    own = agent.owner in request.persons
    return AgentOut(
        id=agent.id,
        registered=True,
        yours=own,
        type=agent.type,
        name=agent.name if own else None,
        person=agent.owner,
        capabilities=sorted(agent.capabilities),
        registered_at=agent.registered_at,
        memories=0,
        waiting=0,
        shares=0,
        handoffs=0,
    )


def _session(session: AgentSession) -> SessionOut:
    return SessionOut(id=session.id, agent=session.agent, started_at=session.started_at)


def _summary(request: RequestScope, one: AgentSummary) -> AgentOut:
    counted = {
        "memories": one.activity.memories,
        "waiting": one.activity.waiting,
        "shares": one.activity.shares,
        "handoffs": one.activity.handoffs,
    }
    if one.agent is not None:
        return _agent(request, one.agent).model_copy(update=counted)
    return AgentOut(
        id=one.id,
        registered=False,
        yours=True,
        type=None,
        name=None,
        person=None,
        capabilities=[],
        registered_at=None,
        **counted,
    )


def _handoff(one: Handoff) -> HandoffOut:
    return HandoffOut(
        id=one.id,
        status="accepted" if one.status.value == "accepted" else "pending",
        task=one.context.task_description,
        agent=one.target or None,
        source=one.source,
        created_at=one.created_at,
        until=one.until,
    )
