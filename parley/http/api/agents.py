"""Agents, their sessions and handoffs over HTTP: list, register, unregister, take back, reject."""

from typing import Final

from gateway.errors import NotFound
from gateway.ports.rights import AGENT_WRITES, TOKEN_READS, TOKEN_WRITES
from memory.agents.model import (
    Agent,
    AgentSession,
    AgentSummary,
    Handoff,
    RegistryCapacityError,
)
from memory.agents.registry import EVER
from memory.model.scope import RequestScope
from parley.http.api.agent_models import (
    AgentBody,
    AgentOut,
    AgentPageOut,
    AgentsOut,
    AgentsQuery,
    HandoffOut,
    HandoffsOut,
    MembershipOut,
    RejectedOut,
    RejectHandoffBody,
    SessionOut,
    TakeBackBody,
    TakenBackOut,
    WrittenByAgentOut,
)
from parley.http.api.errors import Refused
from parley.http.api.models import Nothing, Plain
from parley.http.api.operations import Answer, AnyOperation, Call, Operation

PATH: Final = "/brain/agents"
NO_AGENT: Final = "You have no agent with this id. `GET /brain/agents` lists yours."
NO_HANDOFF: Final = (
    "No handoff with this id is addressed to you or to an agent of yours. `GET /brain/handoffs` "
    "lists the open ones."
)
NO_SESSION: Final = "The session has ended, or there is none of yours with this id."
NOT_PENDING: Final = "Only a pending handoff can be rejected. This one is not pending any more."
_PROJECT: Final = {404: "You do not belong to this project."}
_MISSING: Final = {404: "It does not exist, or is not yours."}


def agent_operations() -> tuple[AnyOperation, ...]:
    """Return the operations on agents and handoffs."""
    return (
        *_of_all(),
        *_of_one(f"{PATH}/{{id}}"),
        *_of_sessions(),
        *_of_handoffs("/brain/handoffs"),
    )


def _of_all() -> tuple[AnyOperation, ...]:
    return (
        Operation(
            "GET",
            PATH,
            "agents",
            "List agents, with the numbers of what each of them wrote, shared and handed over",
            TOKEN_READS,
            agents,
            AgentsQuery,
            Nothing,
            {200: (AgentsOut, "The agents.")},
            {404: "You do not belong to this project, or only operators may list `all`."},
        ),
        Operation(
            "POST",
            PATH,
            "register",
            "Register an agent",
            TOKEN_WRITES,
            register,
            Plain,
            AgentBody,
            {201: (AgentOut, "Registered.")},
            {
                **_PROJECT,
                409: "The installation has its maximum of agents.",
                422: "Agents of this type cannot have these capabilities.",
            },
        ),
    )


def _of_one(one: str) -> tuple[AnyOperation, ...]:
    return (
        Operation(
            "GET",
            one,
            "agent",
            "Read what an agent wrote and shared",
            TOKEN_READS,
            page,
            Plain,
            Nothing,
            {200: (AgentPageOut, "The agent.")},
            _MISSING,
        ),
        Operation(
            "DELETE",
            one,
            "unregister",
            "Unregister an agent; what it wrote stays",
            TOKEN_WRITES,
            unregister,
            Plain,
            Nothing,
            {204: (None, "Unregistered.")},
            _MISSING,
        ),
        Operation(
            "POST",
            f"{one}/take-back",
            "take_back",
            "Delete everything that an agent gave, also after it was unregistered",
            TOKEN_WRITES,
            take_back,
            Plain,
            TakeBackBody,
            {200: (TakenBackOut, "Taken back.")},
            _MISSING,
        ),
    )


def _of_sessions() -> tuple[AnyOperation, ...]:
    one = "/brain/sessions/{id}"
    return (
        Operation(
            "POST",
            f"{PATH}/{{id}}/sessions",
            "start_session",
            "Start a session of an agent",
            AGENT_WRITES,
            start_session,
            Plain,
            Nothing,
            {201: (SessionOut, "Started.")},
            {**_MISSING, 409: "The installation has its maximum of open sessions."},
        ),
        Operation(
            "POST",
            one,
            "use_session",
            "Note that a session is in use, so that it stays open for another 30 minutes",
            AGENT_WRITES,
            use_session,
            Plain,
            Nothing,
            {200: (SessionOut, "Open.")},
            {404: "It has ended, or is not yours."},
        ),
        Operation(
            "DELETE",
            one,
            "end_session",
            "End a session",
            AGENT_WRITES,
            end_session,
            Plain,
            Nothing,
            {204: (None, "Ended.")},
            {404: "It has ended, or is not yours."},
        ),
    )


def _of_handoffs(path: str) -> tuple[AnyOperation, ...]:
    return (
        Operation(
            "GET",
            path,
            "handoffs",
            "List the open handoffs to you and to your agents",
            TOKEN_READS,
            handoffs,
            Plain,
            Nothing,
            {200: (HandoffsOut, "The handoffs.")},
            _PROJECT,
        ),
        Operation(
            "POST",
            f"{path}/{{id}}/reject",
            "reject_handoff",
            "Reject a pending handoff",
            TOKEN_WRITES,
            reject,
            Plain,
            RejectHandoffBody,
            {200: (RejectedOut, "Rejected.")},
            {**_MISSING, 409: "It is not pending any more."},
        ),
    )


async def agents(call: Call, query: AgentsQuery, _body: Nothing) -> Answer:
    """Return the caller's agents, or for an operator those of everybody."""
    request, overview = call.handle.request, call.agents.overview
    every = query.of == "all"
    summaries = await (overview.all_agents(request) if every else overview.agents(request))
    return Answer(200, AgentsOut(agents=[_summary(request, one) for one in summaries]))


async def register(call: Call, _query: Plain, body: AgentBody) -> Answer:
    """Register an agent of the caller."""
    request = call.handle.request
    try:
        agent = await call.agents.registry.register_agent(
            request, body.type, name=body.name, capabilities=body.capabilities
        )
    except RegistryCapacityError as error:
        raise Refused(409, "full", str(error)) from None
    return Answer(201, _agent(request, agent))


async def page(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Return what an agent of the caller wrote and shared."""
    request = call.handle.request
    shown = await call.agents.overview.page(request, await _own(call))
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
    return Answer(200, AgentPageOut(agent=summary, written=written, pools=pools))


async def unregister(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Unregister an agent of the caller."""
    if not await call.agents.registry.unregister_agent(call.handle.request, call.item):
        raise NotFound(NO_AGENT)
    return Answer(204)


async def take_back(call: Call, _query: Plain, body: TakeBackBody) -> Answer:
    """Take back what an agent gave, as far as the caller may."""
    request = call.handle.request
    agent = await call.agents.overview.to_take_back(request, call.item)
    if agent.id != call.item:
        raise NotFound(NO_AGENT)
    taken = await call.agents.origins.take_back(request, agent.id, body.since or EVER)
    return Answer(
        200,
        TakenBackOut(
            memories=taken.memories,
            waiting=taken.reviews,
            shares=taken.shares,
            handoffs=taken.handoffs,
        ),
    )


async def start_session(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Start a session of an agent of the caller."""
    try:
        session = await call.agents.registry.start_session(call.handle.request, call.item)
    except RegistryCapacityError as error:
        raise Refused(409, "full", str(error)) from None
    return Answer(201, _session(session))


async def use_session(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Note the use of an open session of the caller."""
    session = await call.agents.registry.use_session(call.handle.request, call.item)
    return Answer(200, _session(session))


async def end_session(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """End an open session of the caller."""
    if not await call.agents.registry.end_session(call.handle.request, call.item):
        raise NotFound(NO_SESSION)
    return Answer(204)


async def handoffs(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Return the open handoffs to the caller and to the caller's agents."""
    open_ = await call.agents.handoffs.open_of(call.handle.request)
    return Answer(200, HandoffsOut(handoffs=[_handoff(one) for one in open_]))


async def reject(call: Call, _query: Plain, body: RejectHandoffBody) -> Answer:
    """Reject a pending handoff to the caller or to one of the caller's agents."""
    step = await call.agents.handoffs.reject_own(call.handle.request, call.item, body.reason)
    if step.outcome == "unknown":
        raise NotFound(NO_HANDOFF)
    if not step.done:
        raise Refused(409, "not_pending", NOT_PENDING, "path.id")
    return Answer(200, RejectedOut(id=call.item, status="rejected"))


async def _own(call: Call) -> AgentSummary:
    agent = await call.agents.overview.named(call.handle.request, call.item)
    if agent.id != call.item:
        raise NotFound(NO_AGENT)
    return agent


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
