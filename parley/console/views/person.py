"""The page of one person: who they are here, what they may do, what they cost, their conversations.

Operators see everybody of the tenant, everybody else themselves. It has no text that the list of
conversations does not show, and nothing of the person's memories. Of appointments everybody else
sees the times, not the text.
"""

from datetime import datetime, timedelta
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from gateway.errors import BadInput, NotFound
from gateway.people import Principal, Role, identity_of
from gateway.ports.action import Input, Output
from gateway.ports.conversation_views import ListedConversation, Wanted
from gateway.ports.rights import to_read
from gateway.ports.usage import UsageFilter
from gateway.stores.usage import first_day
from gateway.text import (
    NO_TEXT,
    Text,
    text,
)
from gateway.turn.admission import role_in
from parley.console.limits_in_use import BudgetUseOut, own_budgets
from parley.console.names import names_of
from parley.console.reading import reader_of
from parley.console.route import AnyRoute, ConsoleRoute
from parley.console.said import Said
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.access.question import (
    PERSON,
    AccessStepOut,
    QuestionQuery,
    question,
)
from parley.console.views.conversations import ConversationRow, rows_of
from parley.console.views.usage import SpendingFigures, figures_of

PATH: Final = "/person"
DAYS: Final = 30
"""Days of the figures."""
MOST: Final = 10
"""Conversations of the page."""
MOST_APPOINTMENTS: Final = 50
"""Appointments of the page, of all identities of the person."""
MAX_LINKED: Final = 20
UNKNOWN: Final = text("There is no such person, or you may not see them.")


class PersonQuery(Input):
    """The person as PLATFORM:ACCOUNT:ID; empty for the viewer."""

    person: Annotated[str, StringConstraints(pattern=PERSON)] = ""


class KnownIdentityOut(Output):
    """An identity of the person on one platform. Nobody has verified the name."""

    person: str
    name: str
    """The latest known name; empty if unknown."""


class ApprovalOut(Output):
    """The approval with which the person may write. `by` is the approver, or a part of the
    program."""

    by: str
    name: str
    """The name of the approver; empty if unknown."""
    at: datetime
    """The time of the approval."""


class AppointmentOut(Output):
    """A reminder, or a scheduled question. `text` is empty for everybody but its person."""

    number: int
    next: datetime
    """The time of the next occurrence."""
    repeats: bool
    question: bool
    """True for a question that is asked in the name of the person."""
    paused: bool
    text: str


class PersonOut(Output):
    """A person. `own`: it is the viewer. `access` is the decision whether the assistant answers
    them in a direct message, for operators; `access_missing` is the reason why it is not known."""

    person: str
    name: str
    """The latest known name; empty if unknown."""
    own: bool
    role: str
    identities: tuple[KnownIdentityOut, ...] = Field(max_length=MAX_LINKED)
    """All linked identities, this one first."""
    approval: ApprovalOut | None
    """None for a person who was not approved in a chat or in the console."""
    access: AccessStepOut | None
    access_missing: Said
    days: int
    figures: SpendingFigures
    """The usage of the last `days` days, UTC."""
    budgets: tuple[BudgetUseOut, ...] = Field(max_length=2)
    """The budgets of the person, and what is spent of them."""
    conversations: tuple[ConversationRow, ...] = Field(max_length=MOST)
    """The latest conversations."""
    appointments: tuple[AppointmentOut, ...] = Field(max_length=MOST_APPOINTMENTS)
    """Reminders and scheduled questions, the next one first."""


async def person(viewer: Viewer, services: ConsoleServices, params: PersonQuery) -> PersonOut:
    """Return a person that the viewer may see. Raises `NotFound`."""
    wanted = params.person or viewer.person
    if not (viewer.is_operator or wanted in viewer.persons):
        raise NotFound(UNKNOWN)
    who = identity_of(wanted)
    role = role_in(viewer.tenant, who, services.gateway)
    persons = await _linked(viewer, services, Principal(viewer.tenant, who, role))
    admissions = await services.storage.admissions.admissions_of(viewer.tenant, persons)
    approval = next(iter(admissions), None)
    names = await names_of(viewer, services, (*persons, approval.by if approval else ""))
    conversations = tuple(await _conversations(viewer, services, persons))
    known = (
        wanted in viewer.persons
        or role is not services.gateway.policies.roles.default
        or bool(names.get(wanted) or approval or conversations or len(persons) > 1)
    )
    if not known:  # an address that somebody made up does not become a statement of the page
        raise NotFound(UNKNOWN)
    access, missing = await _access(viewer, services, wanted)
    now = services.gateway.clock.now()
    last = first_day(now, 1)
    figures = UsageFilter(
        viewer.tenant, first_day(last, DAYS), last + timedelta(days=1), tuple(persons)
    )
    return PersonOut(
        person=wanted,
        name=names.get(wanted, ""),
        own=wanted in viewer.persons,
        role=viewer.role.value if wanted == viewer.person else role.value,
        identities=tuple(KnownIdentityOut(person=one, name=names.get(one, "")) for one in persons),
        approval=None
        if approval is None
        else ApprovalOut(by=approval.by, name=names.get(approval.by, ""), at=approval.at),
        access=access,
        access_missing=missing,
        days=DAYS,
        figures=figures_of(await services.storage.usage_figures.by("day", figures, DAYS + 1)),
        budgets=tuple(await own_budgets(viewer.tenant, services, who, persons)),
        conversations=conversations,
        appointments=await _appointments(viewer, services, persons),
    )


async def _linked(viewer: Viewer, services: ConsoleServices, who: Principal) -> list[str]:
    """Return the identities of a person, the given one first."""
    memory = services.memory.memory
    if str(who.person) in viewer.persons:
        others = viewer.persons
    else:
        others = frozenset(map(str, await memory.linked(who))) if memory else frozenset()
    return [str(who.person), *sorted(others - {str(who.person)})][:MAX_LINKED]


async def _access(
    viewer: Viewer, services: ConsoleServices, wanted: str
) -> tuple[AccessStepOut | None, Text]:
    if not viewer.is_operator or identity_of(wanted).platform == "console":
        return None, NO_TEXT
    try:
        answer = await question(viewer, services, QuestionQuery(person=wanted))
    except BadInput as error:  # the ids of the person are not all known yet
        return None, error.text
    access = next((one for one in answer.steps if one.stage == "access"), None)
    return (access if answer.allowed else answer.deciding), NO_TEXT


async def _conversations(
    viewer: Viewer, services: ConsoleServices, persons: list[str]
) -> list[ConversationRow]:
    views, reader = services.storage.conversation_views, reader_of(viewer)
    found: dict[str, ListedConversation] = {}
    for one in persons:
        page = await views.page(reader, Wanted(person=one), MOST)
        found.update({row.conversation: row for row in page.rows})
    latest = sorted(found.values(), key=lambda row: row.at, reverse=True)[:MOST]
    return await rows_of(viewer, services, latest, {})


async def _appointments(
    viewer: Viewer, services: ConsoleServices, persons: list[str]
) -> tuple[AppointmentOut, ...]:
    store, found = services.storage.appointments, []
    for person in persons:
        found += await store.of_person(viewer.tenant, person)
    found.sort(key=lambda one: one.due_at)
    return tuple(
        AppointmentOut(
            number=one.number,
            next=one.due_at,
            repeats=one.rule is not None,
            question=one.kind == "prompt",
            paused=one.state == "paused",
            text=one.words if one.person in viewer.persons else "",
        )
        for one in found[:MOST_APPOINTMENTS]
    )


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="person",
        method="GET",
        path=PATH,
        allowed=to_read(Role.GUEST),
        summary="One person: role, access, usage, budgets and conversations",
        run=person,
        template="person.html",
        example={"person": "web:main:ada"},
    ),
)
