"""The traces that a command is about: of a message id, or the latest of a person or a chat."""

from typing import Annotated, Final

import typer

from gateway.errors import BadInput
from gateway.people import PersonId
from gateway.ports.traces import Trace
from parley.cli.known_people import resolve_person
from parley.config import Settings
from parley.security.tokens import person_of
from parley.wiring.extensions import load_extensions
from parley.wiring.storage import Storage

MessageId = Annotated[
    str | None, typer.Argument(metavar="[MESSAGE_ID]", help="The platform's id of the message.")
]
Last = Annotated[bool, typer.Option("--last", help="The newest message instead of an id.")]
LastOfPerson = Annotated[
    str,
    typer.Option(
        "--person", metavar="PLATFORM:ACCOUNT:ID", help="With --last: the newest of this person."
    ),
]
LastInChat = Annotated[
    str,
    typer.Option(
        "--chat", metavar="PLATFORM:ACCOUNT:CHANNEL", help="With --last: the newest in this chat."
    ),
]
NO_TRACE: Final = (
    "Message {id} has no trace. Messages that are not addressed to the assistant have none. The id "
    "is the id on the platform. For refused messages, only the latest four of a person are stored, "
    "for one day."
)
NO_LAST: Final = "No message was decided on yet."
NO_LAST_OF_PERSON: Final = (
    "No message of {person} has a trace. A trace names no person: a refusal in a room is found "
    "with --chat only. Messages that are not addressed to the assistant have no trace."
)
NO_LAST_IN_CHAT: Final = (
    "No message in {chat} has a trace. A chat is PLATFORM:ACCOUNT:CHANNEL, for example "
    "slack:main:C0123. Messages that are not addressed to the assistant have no trace."
)


def check_choice(message_id: str | None, last: bool, person: str, chat: str) -> None:
    """Raise `typer.BadParameter` unless the options choose one message, or the last one."""
    if (message_id is None) != last:
        raise typer.BadParameter("give the id of a message, or --last", param_hint="MESSAGE_ID")
    if (person or chat) and not last:
        raise typer.BadParameter("--person and --chat need --last", param_hint="--last")
    if person and chat:
        raise typer.BadParameter("give one of --person and --chat", param_hint="--person")
    if person:
        person_of(person)
    parts = chat.split(":", 2)
    if chat and (len(parts) < 3 or not all(parts)):
        raise BadInput(f"{chat[:80]!r} is not a chat: write PLATFORM:ACCOUNT:CHANNEL.")


async def chosen_traces(
    storage: Storage, settings: Settings, message_id: str | None, person: str, chat: str
) -> list[Trace]:
    """The traces of this message, newest first; without an id the newest trace alone."""
    traces = storage.stores.traces
    if message_id is not None:
        return await traces.find(message_id)
    if chat:
        return await traces.recent_in(chat, 1)
    if not person:
        return await traces.recent(1)
    known = await _known(storage, person_of(person))
    tenant = load_extensions(settings).tenant_of_person(known)
    return await traces.recent_of(tenant, str(known), 1)


def nothing_found(message_id: str | None, person: str, chat: str) -> str:
    """The reason why there may be no trace, and the next step."""
    if message_id is not None:
        return NO_TRACE.format(id=message_id)
    if person:
        return NO_LAST_OF_PERSON.format(person=person)
    return NO_LAST_IN_CHAT.format(chat=chat) if chat else NO_LAST


async def _known(storage: Storage, person: PersonId) -> PersonId:
    return await resolve_person(person, storage.stores.states) or person
