"""The outbox: what waits to be sent, and what was given up, without any text."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from gateway.conversation import ConversationKey, key_of
from gateway.errors import BadInput, TenantUnknown
from gateway.message import Outbound
from gateway.people import Role, identity_of
from gateway.ports.action import Input, Output
from gateway.ports.queues import DeadLetter, OutboxEntry
from gateway.ports.rights import in_person, to_read
from gateway.ports.traces import Trace
from gateway.text import text
from memory.actions.call import Digits
from parley.console.names import names_of, titled
from parley.console.reading import PlaceOut, place_out, reader_of
from parley.console.route import AnyRoute, ConsoleRoute, Done
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer

PATH: Final = "/outbox"
PAGE: Final = 50
MAX_DEAD: Final = 1_000
"""Dead letters that the pages reach, the latest ones; `parley outbox` reaches all."""
MAX_KEY: Final = 300
NOTHING: Final = text("No answer is chosen. Tick the answers first.")
GONE: Final = text("None of these answers is in the list any more. Open the outbox again.")

Key = Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY)]


class OutboxQuery(Input):
    """`after` is `next` of the page before."""

    after: Annotated[int, Field(ge=0, le=MAX_DEAD), Digits] = 0


class SendAgainForm(Input):
    """The keys of the answers."""

    keys: Annotated[tuple[Key, ...], Field(max_length=PAGE)] = ()


class WaitingAnswerOut(Output):
    """A send that waits. `unsure`: an attempt may have reached the platform. `turn` is the id of
    its message's turn, empty if the decisions about it are no longer stored."""

    place: PlaceOut
    person: str
    since: datetime
    attempts: int
    unsure: bool
    not_before: datetime | None
    turn: str


class DeadOut(Output):
    """A send that was given up; `key` names it. `unsure`: it may have arrived, and is sent again
    with a note that says so."""

    key: str
    place: PlaceOut
    person: str
    at: datetime
    attempts: int
    reason: str
    unsure: bool
    turn: str


class QuestionOut(Output):
    """A message that was given up, because the program crashed at each attempt to answer it."""

    turn: str
    place: PlaceOut
    at: datetime


class OutboxOut(Output):
    """Answers that wait, dead letters, the latest first, and questions that were given up. `next`
    is 0 at the end."""

    waiting: tuple[WaitingAnswerOut, ...] = Field(max_length=PAGE)
    dead: tuple[DeadOut, ...] = Field(max_length=PAGE)
    questions: tuple[QuestionOut, ...] = Field(max_length=PAGE)
    next: int = 0


async def outbox(viewer: Viewer, services: ConsoleServices, params: OutboxQuery) -> OutboxOut:
    """Return the state of the outbox, as far as it is of the viewer's tenant."""
    first = not params.after
    entries = await services.storage.hot.outbox.waiting(PAGE) if first else []
    letters = await services.storage.hot.outbox.dead_letters(min(MAX_DEAD, params.after + PAGE + 1))
    letters, rest = letters[params.after :][:PAGE], letters[params.after + PAGE :]
    sends = [*(one.outbound for one in entries), *(one.entry.outbound for one in letters)]
    turns = await _turns_of(viewer, services, sends)
    seen = _visible(viewer, services, sends, turns)
    seen_sends = [one for one in sends if one.key in seen]
    names = await names_of(
        viewer,
        services,
        (one.person for one in seen_sends),
        (_place(one, {}) for one in seen_sends),
    )
    given_up = await services.storage.stores.traces.given_up(PAGE) if first else []
    return OutboxOut(
        waiting=tuple(_waiting(one, turns, names) for one in entries if one.outbound.key in seen),
        dead=tuple(_dead(one, turns, names) for one in letters if one.entry.outbound.key in seen),
        questions=tuple(_question(one) for one in given_up if _tenant_of(one) == viewer.tenant),
        next=params.after + PAGE if rest and params.after + PAGE < MAX_DEAD else 0,
    )


async def send_again(viewer: Viewer, services: ConsoleServices, params: SendAgainForm) -> Done:
    """Queue undelivered answers again, the oldest first. Raises `BadInput` if none of them is one
    any more."""
    if not params.keys:
        raise BadInput(NOTHING)
    box, wanted = services.storage.hot.outbox, set(params.keys)
    letters = [one.entry.outbound for one in await box.dead_letters(MAX_DEAD)]
    chosen = [one for one in reversed(letters) if one.key in wanted]
    turns = await _turns_of(viewer, services, chosen)
    seen = _visible(viewer, services, chosen, turns)
    number = await box.requeue([one.key for one in chosen if one.key in seen])
    if not number:
        raise BadInput(GONE)
    await services.audit.console("sent_again", viewer.tenant, viewer.person, number=number)
    return Done()


async def _turns_of(
    viewer: Viewer, services: ConsoleServices, sends: Sequence[Outbound]
) -> Mapping[str, str]:
    """Return the turns of these sends that have a page, with their conversations."""
    ids = list(dict.fromkeys(one.turn_id for one in sends))
    return await services.storage.conversation_views.conversations_of(reader_of(viewer), ids)


def _visible(
    viewer: Viewer,
    services: ConsoleServices,
    sends: Sequence[Outbound],
    turns: Collection[str],
) -> set[str]:
    """Return the keys of the sends of the viewer's tenant. A send names no tenant: it is that of
    its turn, otherwise that of the person it is for. One of an unknown tenant is visible to nobody
    here."""
    return {
        one.key
        for one in sends
        if one.turn_id in turns or _tenant_for(one, services) == viewer.tenant
    }


def _tenant_for(one: Outbound, services: ConsoleServices) -> str:
    extensions = services.gateway.extensions
    try:
        return extensions.tenant_of(one.place, identity_of(one.person) if one.person else None)
    except (TenantUnknown, ValueError):
        return ""


def _tenant_of(trace: Trace) -> str:
    return ConversationKey.of(trace.conversation).tenant


def _place(outbound: Outbound, names: Mapping[str, str]) -> PlaceOut:
    place = place_out(str(key_of("", outbound.place)), outbound.place.audience)
    return titled(place, outbound.person, names)


def _waiting(
    one: OutboxEntry, turns: Collection[str], names: Mapping[str, str]
) -> WaitingAnswerOut:
    sent = one.outbound
    return WaitingAnswerOut(
        place=_place(sent, names),
        person=sent.person,
        since=one.created_at,
        attempts=one.attempts,
        unsure=one.begun,
        not_before=one.not_before,
        turn=sent.turn_id if sent.turn_id in turns else "",
    )


def _dead(one: DeadLetter, turns: Collection[str], names: Mapping[str, str]) -> DeadOut:
    sent = one.entry.outbound
    return DeadOut(
        key=sent.key,
        place=_place(sent, names),
        person=sent.person,
        at=one.at,
        attempts=one.entry.attempts,
        reason=one.reason,
        unsure=one.entry.begun,
        turn=sent.turn_id if sent.turn_id in turns else "",
    )


def _question(trace: Trace) -> QuestionOut:
    place = place_out(trace.conversation, trace.audience)
    return QuestionOut(turn=trace.id, place=place, at=trace.at)


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="outbox",
        method="GET",
        path=PATH,
        allowed=to_read(Role.OPERATOR),
        summary=text("Answers waiting to be sent, and answers not delivered"),
        run=outbox,
        template="outbox.html",
        menu=text("Outbox"),
    ),
    ConsoleRoute(
        name="send_again",
        method="POST",
        path=f"{PATH}/send-again",
        allowed=in_person(Role.OPERATOR),
        summary="Send undelivered answers again",
        run=send_again,
        done=text("The chosen answers are queued again."),
        then=PATH,
    ),
)
