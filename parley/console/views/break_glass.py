"""Break glass: in an emergency, an operator reads private text of somebody else for a short time.

It is recorded and the person is told before anything is shown. Off unless `console.break_glass`.
"""

import uuid
from datetime import datetime, timedelta
from typing import Annotated, Final
from urllib.parse import urlencode

from pydantic import Field, StringConstraints

from gateway.errors import BadInput, NotFound
from gateway.message import Place, Reply
from gateway.people import Audience, Principal, Role, identity_of
from gateway.platforms import ConnectedAccount
from gateway.policy.history_redaction import redact_for_history
from gateway.ports.action import Input, Output
from gateway.ports.memory import Caller
from gateway.ports.rights import in_person
from gateway.render import address, render_off_loop
from gateway.stores.break_glass import TextGrant
from gateway.text import (
    Moment,
    Text,
    text,
    verbatim,
)
from memory.model.record import Record
from parley.console.reading import Excerpt, audience_of, excerpts
from parley.console.route import AnyRoute, ConsoleRoute, Done, ItemParams
from parley.console.services import ConsoleServices
from parley.console.viewer import BREAK_GLASS, TextSource, Viewer, may_read_text
from parley.console.views.conversation import exchange_of, lasting_grant, note_reading
from parley.console.views.takeover import (
    NOT_CONNECTED,
    ONE,
    SOMEBODY,
    account_of,
    person_of,
    place_of,
    shown_name,
)
from parley.http.api.authentication import PLATFORM
from parley.http.api.errors import CallRefused

PATH: Final = "/private-memory"
LASTS: Final = timedelta(minutes=15)
MOST_GRANTS: Final = 10
"""Grants of one operator that last at once."""
LEAST_REASON: Final = 10
MAX_REASON: Final = 300
MOST_OF_MEMORY: Final = 20_000
SIGNS: Final = " .,;:!?'’\"()-–"
OFF: Final = text(
    "Reading private text in an emergency is off. The setting console.break_glass turns it on."
)
SHORT: Final = text(
    "Write the reason in at least {count} characters. The person reads it.", count=LEAST_REASON
)
HAS_KEY: Final = text("The reason seems to contain a password or a key. Remove it first.")
MANY: Final = text(
    "You may read {count} private texts at once. Wait until one of them ends.", count=MOST_GRANTS
)
OPEN: Final = text("Operators can read the text of this conversation already.")
NO_MEMORY: Final = text("This person has no such memory. Write the beginning of its id.")
NOBODY: Final = text("Write the person as platform:account:id, such as telegram:main:42.")
YOURS: Final = text("This is your own memory.")
UNREACHABLE: Final = text(
    "This person cannot be told: no direct conversation with them is known. Nothing was shown."
)
TOLD: Final = text(
    "**{name}** ({operator}) asked to read {what}, which is private, on {day} at {hour} UTC. As "
    'the reason they wrote: "{reason}". They can read it until {until} UTC. The audit log records '
    "this. If you have questions, ask them, or the people who run me."
)
THE_CONVERSATION: Final = text("this conversation with me")
THE_MEMORY: Final = text("one of my memories about you")

Reason = Annotated[str, StringConstraints(max_length=MAX_REASON)]
MemoryId = Annotated[str, StringConstraints(pattern=r"^(mem-)?[0-9a-f-]{6,36}$|^$")]


class BreakGlassForm(ItemParams):
    """`name` and `reason` are what the person reads."""

    reason: Reason = ""
    name: Annotated[str, Field(max_length=60)] = ""


class PrivateMemoryQuery(Input):
    """`person` is a `str(PersonId)`, `memory` the beginning of the id of one of their memories."""

    person: Annotated[str, Field(max_length=300)] = ""
    memory: MemoryId = ""


class PrivateMemoryForm(PrivateMemoryQuery):
    """`name` and `reason` are what the person reads."""

    reason: Reason = ""
    name: Annotated[str, Field(max_length=60)] = ""


class PrivateMemoryOut(Output):
    """A private memory, or without a grant nothing of it. `allowed` is false where
    `console.break_glass` is off."""

    allowed: bool
    person: str
    memory: str
    granted_until: datetime | None = None
    text: Excerpt | None = None
    kind: str = ""


async def break_glass(viewer: Viewer, services: ConsoleServices, params: BreakGlassForm) -> Done:
    """Let this operator read a direct conversation for 15 minutes: record it, tell the person, then
    store the grant. Raises `NotFound`, `CallRefused` (409) where it is off, and `BadInput`."""
    check_on(viewer)
    of = await exchange_of(viewer, services, params.id)
    if audience_of(of.trace.audience) is not Audience.DIRECT:
        raise BadInput(OPEN)
    person = await person_of(viewer, services, of)
    account, place = account_of(services, of), place_of(of)
    what = (of.trace.conversation, THE_CONVERSATION)
    await _grant(viewer, services, person, what, (account, place), params)
    return Done()


async def private_memory(
    viewer: Viewer, services: ConsoleServices, params: PrivateMemoryQuery
) -> PrivateMemoryOut:
    """Return a private memory that this operator may read just now; without a grant, nothing of
    it."""
    shown = PrivateMemoryOut(
        allowed=viewer.breaks_glass, person=params.person, memory=params.memory
    )
    if not (viewer.breaks_glass and params.person and params.memory):
        return shown
    subject = _subject(params)
    grant = await lasting_grant(viewer, services, subject)
    if grant is None:
        return shown
    record = await _record(viewer, services, params)
    source = TextSource(viewer.tenant, Audience.DIRECT, frozenset({grant.person}))
    decision = may_read_text(viewer, source, emergency=grant.person == params.person)
    if not (decision.allowed and decision.reason == BREAK_GLASS):
        return shown
    await note_reading(viewer, services, grant)
    (content,) = excerpts([record.content], MOST_OF_MEMORY)
    update = {"granted_until": grant.until, "text": content, "kind": record.kind.value}
    return shown.model_copy(update=update)


async def ask_private_memory(
    viewer: Viewer, services: ConsoleServices, params: PrivateMemoryForm
) -> Done:
    """Let this operator read one private memory for 15 minutes, as `break_glass`."""
    check_on(viewer)
    await _record(viewer, services, params)
    contact = await services.storage.memory.direct_places.contact(viewer.tenant, params.person)
    place = contact.place
    if place is None:
        raise BadInput(UNREACHABLE)
    account = services.gateway.connected.get((place.platform, place.account))
    if account is None:
        raise BadInput(NOT_CONNECTED)
    what = (_subject(params), THE_MEMORY)
    await _grant(viewer, services, params.person, what, (account, place), params)
    return Done(query=_query(params))


def check_on(viewer: Viewer) -> None:
    """Raise `CallRefused` (409) where reading in an emergency is off."""
    if not viewer.breaks_glass:
        raise CallRefused("break_glass_off", OFF)


def plain_reason(text: str) -> str:
    """Return a reason as the person reads it: letters, digits and punctuation, no markup. Raises
    `BadInput`."""
    if redact_for_history(text) != text:
        raise BadInput(HAS_KEY)
    plain = "".join(sign for sign in " ".join(text.split()) if sign.isalnum() or sign in SIGNS)
    if sum(map(str.isalnum, plain)) < LEAST_REASON:
        raise BadInput(SHORT)
    return plain.strip()


async def _grant(
    viewer: Viewer,
    services: ConsoleServices,
    person: str,
    what: tuple[str, Text],
    where: tuple[ConnectedAccount, Place],
    params: BreakGlassForm | PrivateMemoryForm,
) -> None:
    """Record the grant, queue the notice, and store the grant, in this order: a failure leaves
    nothing readable."""
    reason, now = plain_reason(params.reason), services.gateway.clock.now()
    grants = services.storage.text_grants
    if await grants.count(viewer.tenant, viewer.person, now) >= MOST_GRANTS:
        raise BadInput(MANY)
    subject, named = what
    grant = TextGrant(
        uuid.uuid4().hex, viewer.tenant, viewer.person, person, subject, now, now + LASTS, reason
    )
    await services.check_sending()
    audit = {"of": person, "grant": grant.id, "reason": reason, "subject": named.english}
    await services.audit.console("glass_broken", viewer.tenant, viewer.person, **audit)
    account, place = where
    name = shown_name(params.name)
    told = TOLD.of(
        name=verbatim(name) if name else SOMEBODY,
        operator=verbatim(f"`{viewer.person.replace('`', '')}`"),
        what=named,
        day=Moment(now, "day"),
        hour=Moment(now, "clock"),
        reason=verbatim(reason),
        until=Moment(grant.until, "clock"),
    )
    said = Reply(told).shown(await services.gateway.language_at(place, person))
    parts = await render_off_loop(said.markdown, account.renderer)
    sends = address(f"glass:{grant.id}", place, parts, said, person=person)
    await services.storage.hot.outbox.add(sends)
    services.gateway.deliverer.submit(sends)
    await grants.add(grant)


async def _record(viewer: Viewer, services: ConsoleServices, params: PrivateMemoryQuery) -> Record:
    """Return the memory of another person of this tenant. Raises `BadInput` and `NotFound`."""
    try:
        person = identity_of(params.person)
    except ValueError:
        raise BadInput(NOBODY) from None
    if params.person in viewer.persons:
        raise BadInput(YOURS)
    if services.memory.memory is None or not params.memory:
        raise NotFound(NO_MEMORY)
    place = Place(PLATFORM, person.account, params.person, Audience.DIRECT)
    caller = Caller(
        id=str(uuid.uuid4()),
        principal=Principal(viewer.tenant, person, Role.GUEST),
        name="",
        place=place,
        conversation=f"{PLATFORM}/break-glass/{params.person}",
        at=services.gateway.clock.now(),
    )
    handle = await services.memory.memory.for_principal(caller)
    record = await handle.read.named(_subject(params))
    if record is None:
        raise NotFound(NO_MEMORY)
    return record


def _subject(params: PrivateMemoryQuery) -> str:
    return params.memory if params.memory.startswith("mem-") else f"mem-{params.memory}"


def _query(params: PrivateMemoryQuery) -> str:
    return urlencode({"person": params.person, "memory": params.memory})


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="break_glass",
        method="POST",
        path=f"{ONE}/break-glass",
        allowed=in_person(Role.OPERATOR),
        summary="Read a direct conversation of somebody else in an emergency",
        run=break_glass,
        done=text("You can read this conversation for 15 minutes. The person was told."),
        then=ONE,
        example={"reason": "an emergency of somebody"},
    ),
    ConsoleRoute(
        name="private_memory",
        method="GET",
        path=PATH,
        allowed=in_person(Role.OPERATOR),
        summary="A private memory of somebody else, in an emergency",
        run=private_memory,
        template="private_memory.html",
    ),
    ConsoleRoute(
        name="ask_private_memory",
        method="POST",
        path=f"{PATH}/ask",
        allowed=in_person(Role.OPERATOR),
        summary="Read a private memory of somebody else in an emergency",
        run=ask_private_memory,
        done=text("You can read this memory for 15 minutes. The person was told."),
        then=PATH,
        example={"person": "web:main:nobody", "memory": "mem-abc12345"},
    ),
)
