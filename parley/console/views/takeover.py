"""Takeover: an operator answers a conversation instead of the assistant, and gives it back."""

import uuid
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.commands.takeover_button import share_button
from gateway.conversation import ConversationKey
from gateway.errors import BadInput
from gateway.message import Place, Reply, ShownReply
from gateway.people import Audience, Role
from gateway.platforms import ConnectedAccount
from gateway.policy.decision import Decision
from gateway.policy.history_redaction import redact_for_history
from gateway.policy.takeover_return import STAGE
from gateway.ports.conversation_views import StoredExchange
from gateway.ports.conversations import StoredTurn
from gateway.ports.rights import in_person
from gateway.ports.traces import Trace
from gateway.ports.unit_of_work import CompletedTurn
from gateway.render import address, render_off_loop
from gateway.stores.takeovers import MAX_NAME, Takeover
from gateway.text import (
    joined,
    text,
    verbatim,
)
from parley.console.reading import audience_of, reader_of
from parley.console.route import AnyRoute, ConsoleRoute, Done, ItemParams
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.conversation import exchange_of, lasting_takeover
from parley.console.views.conversations import PATH

MAX_ANSWER: Final = 4_000
LOOKED: Final = 20
"""Messages in which the person of a direct conversation, and their last message, is looked for."""
ONE: Final = f"{PATH}/{{id}}"

SOMEBODY: Final = text("Somebody of the team")
SIGNS: Final = " .-'’"
TOLD: Final = text(
    "**{name} answers here from now on.** I do not answer until they give the conversation back "
    "to me. {reads}"
)
READS_DIRECT: Final = text(
    "They read what you write from now on, and nothing that was written before."
)
MAY_SHOW: Final = text(
    "If you want to show them the earlier messages of this conversation, press the button."
)
READS_ROOM: Final = text("Here, operators can also read earlier messages to me and my answers.")
BACK: Final = text("I answer here again.")
TAKEN: Final = text("Somebody has taken this conversation over already. Open it again.")
NOT_TAKEN: Final = text("The assistant answers this conversation. Take it over first.")
ANSWERS: Final = text("The assistant answers this conversation already.")
NOT_YOURS: Final = text(
    "Another operator is answering this conversation. Ask them to give it back first."
)
OWN: Final = text("This is your own conversation with the assistant. You cannot take it over.")
NOT_CONNECTED: Final = text("This account is not connected any more, so nothing can be sent there.")
NOTHING_STORED: Final = text(
    "No message of this conversation is stored: it is too old, was deleted, or its person has "
    "memory off. Wait for the next message, then take the conversation over."
)
EMPTY: Final = text("The answer is empty. Write a text first.")
NOT_SENT: Final = text("The answer seems to contain a password or a key. Remove it first.")


class TakeOverForm(ItemParams):
    """`name` is the name that people read with each answer."""

    name: Annotated[str, Field(max_length=MAX_NAME)] = ""


class AnswerForm(ItemParams):
    """The answer, in Markdown."""

    text: Annotated[str, StringConstraints(max_length=MAX_ANSWER)]


class GiveBackForm(ItemParams):
    """The action has no parameters of its own."""


async def take_over(viewer: Viewer, services: ConsoleServices, params: TakeOverForm) -> Done:
    """Make the assistant silent in a conversation, and tell its people. Raises `NotFound`, and
    `BadInput` for a conversation that cannot be taken over."""
    of = await exchange_of(viewer, services, params.id)
    account, place = account_of(services, of), place_of(of)
    person = await person_of(viewer, services, of) if place.audience is Audience.DIRECT else ""
    await _asked(services, of)
    language = await services.gateway.language_at(place, person)
    now, store = services.gateway.clock.now(), services.storage.takeovers
    takeover = Takeover(
        id=uuid.uuid4().hex,
        tenant=viewer.tenant,
        conversation=of.trace.conversation,
        operator=viewer.person,
        name=shown_name(params.name) or language.shown(SOMEBODY),
        person=person,
        since=now,
        active=now,
    )
    if not await store.take(takeover, now - services.gateway.policies.takeover_idle):
        raise BadInput(TAKEN)
    shows = bool(person) and account.manifest.capabilities.max_buttons > 0
    reads = (
        joined((READS_DIRECT, MAY_SHOW) if shows else (READS_DIRECT,), " ")
        if person
        else READS_ROOM
    )
    buttons = (share_button(takeover.id),) if shows else ()
    try:
        told = Reply(TOLD.of(name=verbatim(takeover.name), reads=reads), buttons)
        await _say(services, account, place, takeover, "told", told.shown(language))
    except BaseException:
        await store.end(takeover.id, now)  # nobody was told, so the assistant goes on
        raise
    await services.audit.console(
        "taken_over", viewer.tenant, viewer.person, takeover=takeover.id, of=person
    )
    return Done()


async def answer(viewer: Viewer, services: ConsoleServices, params: AnswerForm) -> Done:
    """Send an answer under the operator's name, and store it in the conversation. Raises
    `NotFound`, and `BadInput` for a conversation that this operator did not take over."""
    of = await exchange_of(viewer, services, params.id)
    takeover = await lasting_takeover(services, of.trace.conversation)
    if takeover is None:
        raise BadInput(NOT_TAKEN)
    if takeover.operator != viewer.person:
        raise BadInput(NOT_YOURS)
    text = params.text.strip()
    if not text:
        raise BadInput(EMPTY)
    if redact_for_history(text) != text:
        raise BadInput(NOT_SENT)
    account, place, now = account_of(services, of), place_of(of), services.gateway.clock.now()
    asked, id_ = await _asked(services, of), uuid.uuid4().hex[:16]
    reply = ShownReply(f"**{takeover.name}:**\n\n{text}")
    parts = await render_off_loop(reply.markdown, account.renderer)
    sends = address(id_, place, parts, reply, person=takeover.person)
    key = ConversationKey.of(takeover.conversation)
    decision = Decision(STAGE, True, "answered", "an operator wrote this answer")
    trace = Trace(
        *(id_, id_, key.platform, key.account, takeover.conversation, "answer", now),
        *((decision,), "answered", 0.0),
        audience=place.audience,
    )
    said = StoredTurn(id_, "assistant", text, now, speaker=takeover.name)
    done = CompletedTurn(key, (said,), (), (), trace, (), sends, answers=asked)
    await services.check_sending()
    if not await services.storage.takeovers.took_part(takeover.id, now):
        raise BadInput(NOT_TAKEN)  # somebody gave it back meanwhile, or its person was erased
    await services.audit.console(
        "answered", viewer.tenant, viewer.person, takeover=takeover.id, of=takeover.person
    )
    if await services.storage.stores.unit_of_work.complete(done):
        services.gateway.deliverer.submit(sends)
    return Done()


async def give_back(viewer: Viewer, services: ConsoleServices, params: GiveBackForm) -> Done:
    """Let the assistant answer again, and tell the people there. Each operator may do that. Raises
    `NotFound`, and `BadInput` if the assistant answers already."""
    of = await exchange_of(viewer, services, params.id)
    await services.check_sending()
    store, now = services.storage.takeovers, services.gateway.clock.now()
    takeover = await store.of(of.trace.conversation)
    if takeover is None or not await store.end(takeover.id, now):
        raise BadInput(ANSWERS)
    await services.audit.console(
        "given_back", viewer.tenant, viewer.person, takeover=takeover.id, of=takeover.person
    )
    account = services.gateway.connected.get((of.trace.platform, of.trace.account))
    if account is not None:  # otherwise nobody can be told, and the assistant answers all the same
        place = place_of(of)
        language = await services.gateway.language_at(place, takeover.person)
        await _say(services, account, place, takeover, "back", Reply(BACK).shown(language))
    return Done()


def shown_name(text: str) -> str:
    """Return a name as people read it: letters, digits and a few signs, no markup; empty
    if nothing of it is left."""
    plain = "".join(sign for sign in " ".join(text.split()) if sign.isalnum() or sign in SIGNS)
    return plain.strip(SIGNS)[:MAX_NAME]


async def _say(
    services: ConsoleServices,
    account: ConnectedAccount,
    place: Place,
    takeover: Takeover,
    what: Literal["told", "back"],
    said: ShownReply,
) -> None:
    """Queue a message of the assistant itself."""
    parts = await render_off_loop(said.markdown, account.renderer)
    sends = address(f"{takeover.id}:{what}", place, parts, said, person=takeover.person)
    await services.storage.hot.outbox.add(sends)
    services.gateway.deliverer.submit(sends)


def account_of(services: ConsoleServices, of: StoredExchange) -> ConnectedAccount:
    account = services.gateway.connected.get((of.trace.platform, of.trace.account))
    if account is None:
        raise BadInput(NOT_CONNECTED)
    return account


def place_of(of: StoredExchange) -> Place:
    key, audience = ConversationKey.of(of.trace.conversation), audience_of(of.trace.audience)
    return Place(key.platform, key.account, key.channel, audience, key.workspace, key.thread)


async def person_of(viewer: Viewer, services: ConsoleServices, of: StoredExchange) -> str:
    """Return the person of a direct conversation."""
    views = services.storage.conversation_views
    rows = (await views.messages(reader_of(viewer), of, LOOKED)).rows
    person = next((one.person for one in (of, *reversed(rows)) if one.person), "")
    if not person:
        raise BadInput(NOTHING_STORED)
    if person in viewer.persons:
        raise BadInput(OWN)
    return person


async def _asked(services: ConsoleServices, of: StoredExchange) -> StoredTurn:
    """Return the latest stored message of a person, to which an answer belongs: it is deleted with
    it."""
    key = ConversationKey.of(of.trace.conversation)
    latest = await services.storage.stores.conversations.latest(key, LOOKED)
    asked = next((turn for turn in reversed(latest) if turn.role == "user"), None)
    if asked is None:
        raise BadInput(NOTHING_STORED)
    return asked


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="take_over",
        method="POST",
        path=f"{ONE}/take-over",
        allowed=in_person(Role.OPERATOR),
        summary="Answer a conversation instead of the assistant",
        run=take_over,
        done=text(
            "You are answering this conversation now. The people there get a message about it."
        ),
        then=ONE,
    ),
    ConsoleRoute(
        name="answer",
        method="POST",
        path=f"{ONE}/answer",
        allowed=in_person(Role.OPERATOR),
        summary="Answer in a conversation that you took over",
        run=answer,
        done=text("Your answer is queued."),
        then=ONE,
        example={"text": "hello"},
    ),
    ConsoleRoute(
        name="give_back",
        method="POST",
        path=f"{ONE}/give-back",
        allowed=in_person(Role.OPERATOR),
        summary="Give a conversation back to the assistant",
        run=give_back,
        done=text("The assistant answers this conversation again."),
        then=ONE,
    ),
)
