"""May X do Y here? The answer of the decisions that a turn makes, with the rule that decides."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.conversation import key_of
from gateway.errors import BadInput, NotFound, TenantUnknown
from gateway.llm.prices import price_of
from gateway.message import ChatMessage, MessageAuthor, Place, Quote
from gateway.people import Audience, KnownIds, Principal, Role, identity_of
from gateway.policy.access import allowed_tools
from gateway.policy.budgets import accounts_for, decide_budget
from gateway.policy.decision import Decision
from gateway.policy.invocation import decide_invocation
from gateway.policy.rate_limits import rules_for
from gateway.policy.takeover_return import decide_takeover
from gateway.ports.action import Input, Output
from gateway.ports.rights import to_read
from gateway.text import Text, joined, text, verbatim
from gateway.turn.admission import known_ids, role_in, served
from gateway.turn.services import Services
from memory.model.scope import RequestScope, access_scope_of, project_of
from parley.console.route import AnyRoute, ConsoleRoute
from parley.console.said import SaidOrStr
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.access.admissions import PATH, known_tools, rule_name
from parley.console.words import said as word
from parley.http.api.errors import CallRefused

PERSON: Final = r"^([a-z][a-z0-9_-]{0,39}:[a-z0-9_-]{1,40}:[^\s]{1,200})?$"
Action = Literal["answer", "tool", "read_project", "write_project_notes"]
How = Literal["mention", "reply", "plain"]
Short = Annotated[str, StringConstraints(max_length=200, strip_whitespace=True)]
ANOTHER_TENANT: Final = text("This person belongs to another tenant in this place.")
NO_CHANNEL: Final = text("Name the channel by its id.")
NO_TENANT: Final = text("The tenant of this person in this place is not known.")
NO_TOOL: Final = text("There is no tool with this name. The page Access lists all tools.")
NO_PROJECT: Final = text("Name the project, such as slack:main:T0123.")
UNKNOWN_IDS: Final = text(
    "This platform uses several ids for a person, and not all of this person are known yet: they "
    "have to write once."
)

THE_ROLE: Final = text("The role is {role}.")
FOR_ROLE: Final = text("The tool is for the role {role} and above, in: {places}.")
NO_PLACE: Final = text("no place")
LIMIT: Final = text("{count} for the {level}")
MEMBERSHIP: Final = text("membership on the platform")
LIMITS: Final = text("Questions a minute: at most {limits}.")

TEXTS: Final[dict[str, tuple[Text, Text | str]]] = {
    "open": (text("No list blocks this person here."), "access"),
    "trusted": (
        text("Owners and operators need no entry on a list."),
        "access.owners, access.operators",
    ),
    "listed": (text("The person is on the list of allowed people."), "access.allowed_users"),
    "approved": (text("The person is approved."), "access.admission"),
    "user_blocked": (text("The person is blocked."), "access.blocked_users"),
    "linked_user_blocked": (text("A linked account is blocked."), "access.blocked_users"),
    "channel_blocked": (text("The channel is blocked."), "access.blocked_channels"),
    "workspace_blocked": (text("The workspace is blocked."), "access.blocked_workspaces"),
    "user_not_allowed": (text("The person is not on the list."), "access.allowed_users"),
    "channel_not_allowed": (text("The channel is not on the list."), "access.allowed_channels"),
    "workspace_not_allowed": (
        text("The workspace is not on the list."),
        "access.allowed_workspaces",
    ),
    "not_approved": (text("The person needs an approval, and has none."), "access.admission"),
    "owners_only": (text("The assistant answers only owners and operators."), "access.admission"),
    "controller_invalid": (
        text("The access controller of an extension returned no decision."),
        "extensions",
    ),
    "controller_failed": (text("The access controller of an extension failed."), "extensions"),
    "mention": (text("The assistant answers when it is mentioned."), "invocation.triggers"),
    "direct_message": (text("The assistant answers direct messages."), "invocation.triggers"),
    "direct_messages_off": (
        text("The assistant does not answer direct messages."),
        "invocation.triggers",
    ),
    "reply_to_bot": (text("The assistant answers replies to it."), "invocation.triggers"),
    "all": (text("The assistant answers every message here."), "invocation.triggers"),
    "not_addressed": (text("The message does not address the assistant."), "invocation.triggers"),
    "taken_over": (text("An operator is answering this conversation."), text("a takeover")),
    "within_budget": (text("The budget is not used up."), "budgets"),
    "no_budget": (text("No budget is set."), "budgets"),
    "no_price": (
        text("A budget is set, but the model has no price. Set one under `budgets.prices`."),
        "budgets.prices",
    ),
    "user_per_day": (text("The person's budget of the day is used up."), "budgets.user_per_day"),
    "user_per_month": (
        text("The person's budget of the month is used up."),
        "budgets.user_per_month",
    ),
    "workspace_per_day": (text("The budget of the day is used up."), "budgets.workspace_per_day"),
    "workspace_per_month": (
        text("The budget of the month is used up."),
        "budgets.workspace_per_month",
    ),
}
"""By the reason of a decision: a sentence, and the key of the configuration."""


class QuestionQuery(Input):
    """A person (PLATFORM:ACCOUNT:ID; empty for no question), a place of their platform, and what
    they want to do. `outside`: a guest of the workspace. `how` addresses the assistant in a
    room."""

    person: Annotated[str, StringConstraints(pattern=PERSON)] = ""
    audience: Literal["direct", "private_room", "public_room"] = "direct"
    channel: Short = ""
    workspace: Short = ""
    thread: Short = ""
    action: Action = "answer"
    how: How = "mention"
    tool: Short = ""
    project: Short = ""
    outside: Literal["", "yes"] = ""


class AccessStepOut(Output):
    """A decision, with its sentence and the key of the configuration or the rule behind it."""

    stage: str
    allowed: bool
    reason: str
    text: SaidOrStr
    rule: SaidOrStr


class AccessAnswerOut(Output):
    """The answer: yes if every decision allows it. `deciding` is the decision that decides. Both
    are empty without a question."""

    asked: bool = False
    allowed: bool = False
    deciding: AccessStepOut | None = None
    steps: tuple[AccessStepOut, ...] = Field(default=(), max_length=20)
    limits: SaidOrStr = ""
    tools: tuple[str, ...] = Field(default=(), max_length=500)


async def question(
    viewer: Viewer, services: ConsoleServices, params: QuestionQuery
) -> AccessAnswerOut:
    """Answer a question. Raises `CallRefused`."""
    tools = tuple(one.name for one in await known_tools(services))
    if not params.person:
        return AccessAnswerOut(tools=tools)
    # One value of the policies for all decisions, as in a turn.
    gateway = services.gateway.under(services.gateway.policies)
    place = _place(params)
    who, known = await _principal(viewer, gateway, params, place)
    steps = [
        _step(Decision("identity", True, who.role.value), THE_ROLE.of(role=word(who.role.value)))
    ]
    access = await served(who, place, known, gateway)
    steps.append(_step(access))
    if access.allowed:
        match params.action:
            case "answer":
                steps += await _answer(gateway, params, who, place)
            case "tool":
                steps.append(await _tool(services, gateway, params, who, place))
            case "read_project":
                steps.append(await _project(services, params, who, place))
            case "write_project_notes":
                steps.append(await _project(services, params, who, place))
                if steps[-1].allowed:
                    steps.append(_notes(gateway, who, place))
    refused = next((one for one in steps if not one.allowed), None)
    return AccessAnswerOut(
        asked=True,
        allowed=refused is None,
        deciding=refused or steps[-1],
        steps=tuple(steps),
        limits=_limits(gateway, who, place) if params.action == "answer" else "",
        tools=tools,
    )


def _place(params: QuestionQuery) -> Place:
    person = identity_of(params.person)
    audience = Audience(params.audience)
    if audience is not Audience.DIRECT and not params.channel:
        raise BadInput(NO_CHANNEL)
    channel = params.channel or person.id
    return Place(
        person.platform,
        person.account,
        channel,
        audience,
        params.workspace,
        params.thread,
    )


async def _principal(
    viewer: Viewer, gateway: Services, params: QuestionQuery, place: Place
) -> tuple[Principal, KnownIds]:
    person = identity_of(params.person)
    try:
        tenant = gateway.extensions.tenant_of(place, person)
    except TenantUnknown:
        raise BadInput(NO_TENANT) from None
    if tenant != viewer.tenant:
        raise CallRefused("not_allowed", ANOTHER_TENANT, "query.person")
    known = await known_ids(person, gateway)
    if known is None:
        raise BadInput(UNKNOWN_IDS)
    outside = params.outside == "yes"
    role = role_in(tenant, person, gateway, aliases=known.current, outside=outside)
    return Principal(tenant, person, role, outside), known


async def _answer(
    gateway: Services, params: QuestionQuery, who: Principal, place: Place
) -> list[AccessStepOut]:
    message = ChatMessage(
        "question",
        "",
        MessageAuthor(who.person.id),
        place,
        gateway.clock.now(),
        quote=Quote("", by_this_bot=True) if params.how == "reply" else None,
        mentions_bot=params.how == "mention" and place.audience is not Audience.DIRECT,
    )
    invoked = decide_invocation(message, gateway.policies.invocation).decision
    steps = [_step(invoked)]
    if not invoked.allowed:
        return steps
    takeovers = gateway.stores.takeovers
    takeover = None if takeovers is None else await takeovers.of(str(key_of(who.tenant, place)))
    if takeover is not None:
        idle = gateway.policies.takeover_idle
        decision = decide_takeover(takeover.active, gateway.clock.now(), idle)
        if not decision.allowed:
            return [*steps, _step(decision)]
    return [*steps, _step(await _budget(gateway, who, place))]


async def _budget(gateway: Services, who: Principal, place: Place) -> Decision:
    human = await gateway.identities.human(who.tenant, who.person)
    budgets, now = gateway.policies.budgets, gateway.clock.now()
    accounts = accounts_for(who.tenant, human, place, budgets, now)
    persona = gateway.assistant.persona_in(place.platform, *place.channel_ids)
    model = persona.model or gateway.assistant.default_model
    if accounts and price_of(model, gateway.prices) is None:
        return Decision("budget", False, "no_price", model)
    spent = await gateway.stores.usage.spent(accounts) if accounts else []
    return decide_budget(accounts, spent, 1 if accounts else 0).decision


async def _tool(
    services: ConsoleServices,
    gateway: Services,
    params: QuestionQuery,
    who: Principal,
    place: Place,
) -> AccessStepOut:
    spec = next((one for one in await known_tools(services) if one.name == params.tool), None)
    if spec is None:
        raise NotFound(NO_TOOL)
    policy = gateway.policies.tools
    allowed = bool(allowed_tools((spec,), who.role, place.audience, policy))
    rule = policy.rule_for(spec)
    audiences = sorted(one.value for one in rule.audiences)
    places = joined(map(verbatim, audiences), ", ") if audiences else NO_PLACE
    said = FOR_ROLE.of(role=word(rule.role.value), places=places)
    decision = Decision("tool", allowed, "permitted" if allowed else "not_permitted")
    return _step(decision, said, rule_name(spec, policy))


async def _project(
    services: ConsoleServices, params: QuestionQuery, who: Principal, place: Place
) -> AccessStepOut:
    memory = services.memory.memory
    if memory is None:
        off = Decision("memory", False, "memory_off")
        return _step(off, text("Memory is off."), "memory.enabled")
    project = params.project or ("" if place.audience is Audience.DIRECT else project_of(place))
    if not project:
        raise BadInput(NO_PROJECT)
    linked = await memory.linked(who)
    persons = tuple(sorted({str(who.person), *map(str, linked)}))
    request = RequestScope(who, persons, place, services.gateway.clock.now())
    if await memory.reaches(request, project):
        said = (
            text("The person is a member of the project, and was seen in it lately.")
            if place.audience is Audience.DIRECT
            else text("It is the project of this room.")
        )
        return _step(Decision("project", True, "member"), said, MEMBERSHIP)
    said = (
        text("Guests of a workspace cannot use a project.")
        if who.outside
        else (
            text("The person is not a member of the project, or was not seen in it lately.")
            if place.audience is Audience.DIRECT
            else text("A room uses its own project only.")
        )
    )
    return _step(Decision("project", False, "no_member"), said, MEMBERSHIP)


def _notes(gateway: Services, who: Principal, place: Place) -> AccessStepOut:
    scope = access_scope_of(RequestScope(who, (str(who.person),), place, gateway.clock.now()))
    if scope.operates:
        decision = Decision("project_notes", True, "operates")
        return _step(decision, text("Operators change project notes at once."), "access.operators")
    decision = Decision("project_notes", False, "proposes")
    said = text("Only operators change project notes; a change by this person is proposed to them.")
    return _step(decision, said, "access.operators")


def _limits(gateway: Services, who: Principal, place: Place) -> Text:
    rules = rules_for(who.tenant, str(who.person), place, gateway.policies.limits)
    named = [
        LIMIT.of(count=one.per_minute, level=word(one.level))
        for one in rules
        if one.level != "reserve"
    ]
    return LIMITS.of(limits=joined(named, ", ")) if named else text("There are no limits.")


def _step(decision: Decision, said: Text | None = None, rule: Text | str = "") -> AccessStepOut:
    known, key = TEXTS.get(decision.reason, (verbatim(decision.reason.replace("_", " ")), ""))
    if decision.detail:
        known = joined((known, verbatim(f"({decision.detail})")), " ")
    return AccessStepOut(
        stage=decision.stage,
        allowed=decision.allowed,
        reason=decision.reason,
        text=known if said is None else said,
        rule=rule or key,
    )


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="access_question",
        method="GET",
        path=f"{PATH}/question",
        allowed=to_read(Role.OPERATOR),
        summary="May this person do this here? Answered with the rule that decides",
        run=question,
        template="access/question.html",
        example={"person": "web:main:ada"},
    ),
)
