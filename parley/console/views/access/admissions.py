"""The page on access: roles, lists, people who ask, approved people, tools and tokens."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from gateway.commands.approve_command import OWNERSHIP, REFUSALS
from gateway.errors import BadInput, NotFound
from gateway.pairing.requests import NOT_APPROVED as NO_APPROVAL
from gateway.pairing.requests import Pairing
from gateway.people import Role
from gateway.policy.access import SECRETS, SIDE_EFFECTS, ToolPolicy
from gateway.ports.action import Input, Output
from gateway.ports.rights import TokenScope, in_person, to_read
from gateway.text import Text, text
from gateway.tool_spec import ToolSpec
from gateway.turn.assemble import WEB_SEARCH
from gateway.turn.catchup_tool import CATCH_UP
from gateway.turn.context.task import SET_TASK
from gateway.turn.long_documents import SEARCH_DOCUMENT
from gateway.turn.reminder_tool import REMIND
from memory.turns.document_tool import UPDATE
from memory.turns.knowledge_tools import TOOLS as SEARCHES
from memory.turns.tools import TOOLS as MEMORY_TOOLS
from parley.config import MAIN
from parley.console.names import names_of
from parley.console.route import AnyRoute, ConsoleRoute, Done, ItemParams
from parley.console.said import SaidOrStr
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.configuration.forms import FORMS
from parley.console.views.configuration.page import governs

PATH: Final = "/access"
MOST: Final = 200
"""Rows of one list of the page; the command line has all."""
MAX_IDS: Final = 500
LISTS: Final = (
    "owners",
    "operators",
    "members",
    "allowed_users",
    "blocked_users",
    "allowed_channels",
    "blocked_channels",
    "allowed_workspaces",
    "blocked_workspaces",
)
OF_PEOPLE: Final = LISTS[:5]
LABELS: Final = {one.key: one.label for group in FORMS["access"] for one in group.fields}
DECIDED: Final = text("This request is closed: somebody else decided it, or it expired.")
NOT_LISTED: Final = text("There is no token with this name. It may be revoked already.")
NO_PAIRING: Final = text("Nobody is approved here: the program has no store of approvals.")
ALL: Final = frozenset({"direct", "private_room", "public_room"})


class AccessQuery(Input):
    """The page has no parameters."""


class RevokeForm(Input):
    """The `str(PersonId)` of an approved person."""

    person: Annotated[str, StringConstraints(min_length=1, max_length=400)]


class CodeForm(Input):
    """The code that a person who asks was given."""

    code: Annotated[str, StringConstraints(min_length=1, max_length=64, strip_whitespace=True)]


class TokenForm(Input):
    """The name of a token."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=100)]


class ListOut(Output):
    """A list of the configuration. `number` counts all ids."""

    key: str
    label: SaidOrStr
    """The name of the list, as the form of the configuration has it."""
    ids: tuple[str, ...] = Field(max_length=MAX_IDS)
    names: tuple[str, ...] = Field(max_length=MAX_IDS)
    """The name of the person of each id; empty if unknown, and for places."""
    number: int


class ApplicantOut(Output):
    """A person who asks. Nobody has verified the name."""

    id: str
    person: str
    name: str
    since: datetime
    until: datetime


class ApprovedOut(Output):
    """An approved person, or an owner by code. `by` is the approver, or a part of the program."""

    person: str
    name: str
    role: str
    by: str
    at: datetime


class ToolRuleOut(Output):
    """A tool with the rule that holds for it; `rule` is a key of the configuration, or names the
    default. `everywhere`: in all audiences."""

    name: str
    role: str
    audiences: tuple[str, ...]
    everywhere: bool
    rule: SaidOrStr


class IssuedTokenOut(Output):
    """A token of a program, without the token itself. `agent` is the agent of the person for which
    it stands, empty for the person; without the scope `write` it only reads."""

    name: str
    person: str
    agent: str
    since: datetime
    until: datetime
    scopes: tuple[TokenScope, ...] = Field(max_length=len(TokenScope))


class AccessOut(Output):
    """Access. `lists` are empty for operators of a single tenant, because they hold for all."""

    admission: str
    default_role: str
    may_change: bool
    lists: tuple[ListOut, ...]
    waiting: tuple[ApplicantOut, ...] = Field(max_length=MOST)
    approved: tuple[ApprovedOut, ...] = Field(max_length=MOST)
    more_approved: bool
    tools: tuple[ToolRuleOut, ...] = Field(max_length=MOST)
    tool_problems: tuple[str, ...]
    tokens: tuple[IssuedTokenOut, ...] = Field(max_length=MOST)


async def access(viewer: Viewer, services: ConsoleServices, _params: AccessQuery) -> AccessOut:
    """Return who may write and use what, as far as it is of the viewer's tenant."""
    section = services.configuration.settings.access
    everywhere = await governs(viewer, services, Role.OPERATOR)
    pairing, now = services.gateway.pairing, services.gateway.clock.now()
    waiting = [] if pairing is None else await pairing.waiting(viewer.tenant)
    approved = [] if pairing is None else await pairing.store.admissions(MOST + 1, viewer.tenant)
    tokens = await services.storage.memory.tokens.listed(now)
    own = [one for one in tokens if one.tenant == viewer.tenant]
    specs = await known_tools(services)
    policy = services.gateway.policies.tools
    return AccessOut(
        admission=section.admission,
        default_role=section.default_role,
        may_change=viewer.is_owner and everywhere,
        lists=await _lists(viewer, services) if everywhere else (),
        waiting=tuple(
            ApplicantOut(
                id=one.id,
                person=one.applicant.person,
                name=one.applicant.name,
                since=one.made_at,
                until=one.until,
            )
            for one in waiting[:MOST]
        ),
        approved=tuple(
            ApprovedOut(
                person=one.applicant.person,
                name=one.applicant.name,
                role=one.role.value,
                by=one.by,
                at=one.at,
            )
            for one in approved[:MOST]
        ),
        more_approved=len(approved) > MOST,
        tools=tuple(_tool(one, policy) for one in specs[:MOST]),
        tool_problems=services.gateway.toolbox.problems,
        tokens=tuple(
            IssuedTokenOut(
                name=one.name,
                person=one.person,
                agent=one.agent,
                since=one.issued_at,
                until=one.until,
                scopes=tuple(sorted(one.scopes)),
            )
            for one in own[:MOST]
        ),
    )


async def approve(viewer: Viewer, services: ConsoleServices, params: ItemParams) -> Done:
    """Admit a person who asks. Raises `NotFound`."""
    pairing = _pairing(services)
    for one in await pairing.waiting(viewer.tenant):
        if one.id == params.id and await pairing.approve(one, viewer.person) is not None:
            return Done()
    raise NotFound(DECIDED)


async def approve_code(viewer: Viewer, services: ConsoleServices, params: CodeForm) -> Done:
    """Admit the person who has this code. Raises `BadInput` for an unknown one and after too many
    tries, `NotFound` if somebody else decided first."""
    pairing = _pairing(services)
    found = await pairing.find(viewer.tenant, params.code, viewer.person)
    if await pairing.approve(found, viewer.person) is None:
        raise NotFound(DECIDED)
    return Done()


async def reject(viewer: Viewer, services: ConsoleServices, params: ItemParams) -> Done:
    """Reject a person who asks. Raises `NotFound`."""
    pairing = _pairing(services)
    for one in await pairing.waiting(viewer.tenant):
        if one.id == params.id and await pairing.reject(one, viewer.person):
            return Done()
    raise NotFound(DECIDED)


async def revoke(viewer: Viewer, services: ConsoleServices, params: RevokeForm) -> Done:
    """Take an approval back, as `/approve revoke` does. Raises `BadInput`."""
    pairing, who = _pairing(services), viewer.principal
    admission = await pairing.approved(viewer.tenant, [params.person])
    decision = await pairing.revocation(admission, who.person, who.role)
    if not decision.allowed:
        raise BadInput(REFUSALS.get(decision.reason, OWNERSHIP))
    person = admission.applicant.person
    gone = await pairing.revoke(viewer.tenant, person, viewer.person, owners=viewer.is_owner)
    if not gone:
        raise BadInput(NO_APPROVAL)
    return Done()


async def revoke_token(viewer: Viewer, services: ConsoleServices, params: TokenForm) -> Done:
    """Revoke a token of the viewer's tenant. Raises `NotFound`."""
    store = services.storage.memory.tokens
    known = await store.listed(services.gateway.clock.now())
    if not any(one.name == params.name and one.tenant == viewer.tenant for one in known):
        raise NotFound(NOT_LISTED)
    token = await store.revoke(params.name)
    if token is None:
        raise NotFound(NOT_LISTED)
    await services.audit.console(
        "token_revoked", viewer.tenant, viewer.person, token=token.name, of=token.person
    )
    return Done()


async def known_tools(services: ConsoleServices) -> Sequence[ToolSpec]:
    """Return all tools that the assistant can use: of MCP servers, of memory, for the task, for
    documents, for reminders and for kept messages."""
    own: list[ToolSpec] = [SET_TASK]
    if services.gateway.documents is not None:
        own.append(SEARCH_DOCUMENT)
    if services.gateway.policies.appointments.enabled:
        own.append(REMIND)
    if services.gateway.assistant.web:
        own.append(WEB_SEARCH)
    if services.gateway.catchup is not None:
        own.append(CATCH_UP)
    if services.memory.memory is not None:
        own += [*MEMORY_TOOLS, UPDATE]
    if services.memory.repositories is not None:
        own += [one.spec for one in SEARCHES]
    named = {one.name: one for one in (*own, *await services.gateway.toolbox.tools())}
    return list(named.values())


def rule_name(tool: ToolSpec, policy: ToolPolicy) -> Text | str:
    """Return the key of the rule that holds for a tool, or the name of the default."""
    for name in (tool.name, tool.name.partition("__")[0]):
        if name in policy.rules:
            return f"tools.{name}"
    rule = policy.rule_for(tool)
    if rule == SECRETS:
        return text("default of tools that handle secrets")
    if rule == SIDE_EFFECTS:
        return text("default of tools that change something")
    return text("default")


def _tool(tool: ToolSpec, policy: ToolPolicy) -> ToolRuleOut:
    rule = policy.rule_for(tool)
    audiences = tuple(sorted(one.value for one in rule.audiences))
    return ToolRuleOut(
        name=tool.name,
        role=rule.role.value,
        audiences=audiences,
        everywhere=set(audiences) == ALL,
        rule=rule_name(tool, policy),
    )


async def _lists(viewer: Viewer, services: ConsoleServices) -> tuple[ListOut, ...]:
    """Return the lists of the configuration, people with their names."""
    section = services.configuration.settings.access
    listed = {key: tuple(getattr(section, key) or ()) for key in LISTS}
    persons = {
        one: _persons_of(one, services) for key in OF_PEOPLE for one in listed[key][:MAX_IDS]
    }
    names = await names_of(viewer, services, (each for one in persons.values() for each in one))

    def name(id_: str) -> str:
        return next((names[one] for one in persons.get(id_, ()) if one in names), "")

    return tuple(
        ListOut(
            key=f"access.{key}",
            label=LABELS[f"access.{key}"],
            ids=ids[:MAX_IDS],
            names=tuple(map(name, ids[:MAX_IDS])),
            number=len(ids),
        )
        for key, ids in listed.items()
    )


def _persons_of(id_: str, services: ConsoleServices) -> tuple[str, ...]:
    """Return the people that an id of a list means: the id may leave the account out."""
    platform, _, rest = id_.partition(":")
    accounts = {
        MAIN,
        *(one.name for one in services.settings.accounts() if one.platform == platform),
    }
    return (id_, *(f"{platform}:{name}:{rest}" for name in sorted(accounts)))


def _pairing(services: ConsoleServices) -> Pairing:
    if services.gateway.pairing is None:
        raise BadInput(NO_PAIRING)
    return services.gateway.pairing


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="access",
        method="GET",
        path=PATH,
        allowed=to_read(Role.OPERATOR),
        summary=text("Approvals, roles, lists, tools and tokens"),
        run=access,
        template="access/page.html",
        menu=text("Access"),
    ),
    ConsoleRoute(
        name="approve_person",
        method="POST",
        path=f"{PATH}/requests/{{id}}/approve",
        allowed=in_person(Role.OPERATOR),
        summary="Let a person who asks write to the assistant",
        run=approve,
        done=text("The person may write now. They get a message within seconds."),
        then=PATH,
        example={"id": "0123456789ab"},
    ),
    ConsoleRoute(
        name="approve_code",
        method="POST",
        path=f"{PATH}/approve",
        allowed=in_person(Role.OPERATOR),
        summary="Let the person who has this code write to the assistant",
        run=approve_code,
        done=text("The person with this code may write now. They get a message within seconds."),
        then=PATH,
        example={"code": "ABCD-2345"},
    ),
    ConsoleRoute(
        name="reject_person",
        method="POST",
        path=f"{PATH}/requests/{{id}}/reject",
        allowed=in_person(Role.OPERATOR),
        summary="Reject a person who asks",
        run=reject,
        done=text("The request is rejected. The person gets no new code for a day."),
        then=PATH,
        example={"id": "0123456789ab"},
    ),
    ConsoleRoute(
        name="revoke_approval",
        method="POST",
        path=f"{PATH}/approved/revoke",
        allowed=in_person(Role.OPERATOR),
        summary="Revoke the approval of a person and their linked accounts",
        run=revoke,
        done=text("The approval is revoked."),
        then=PATH,
        example={"person": "web:main:nobody"},
    ),
    ConsoleRoute(
        name="revoke_program_token",
        method="POST",
        path=f"{PATH}/tokens/revoke",
        allowed=in_person(Role.OPERATOR),
        summary="Revoke the token of a program",
        run=revoke_token,
        done=text("The token is revoked."),
        then=PATH,
        example={"name": "none"},
    ),
)
