"""What a person chose about their memory, over HTTP: what `/privacy` chooses in a chat."""

from memory.service.handle import MemoryHandle
from parley.http.api.models import ChoicesBody, ChoicesOut, Nothing, Plain
from parley.http.api.operations import Answer, AnyOperation, Call, Operation

PATH = "/brain/choices"


def choice_operations() -> tuple[AnyOperation, ...]:
    """Reading and making choices."""
    return (
        Operation(
            "GET",
            PATH,
            "choices",
            "What you chose about your memory",
            read,
            Plain,
            Nothing,
            {200: (ChoicesOut, "The choices.")},
            {404: "You were not seen in this project."},
        ),
        Operation(
            "PUT",
            PATH,
            "choose",
            "Choose; what is left out stays as it is",
            choose,
            Plain,
            ChoicesBody,
            {200: (ChoicesOut, "The choices from now on.")},
            {404: "You were not seen in this project."},
        ),
    )


async def read(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """The choices as they are."""
    return Answer(200, _told(call.handle, ChoicesBody()))


async def choose(call: Call, _query: Plain, body: ChoicesBody) -> Answer:
    """Make those that are named, for all linked accounts."""
    await call.handle.privacy.choose(memory=body.memory, notes=body.notes, rooms=body.rooms)
    return Answer(200, _told(call.handle, body))


def _told(handle: MemoryHandle, made: ChoicesBody) -> ChoicesOut:
    """The choices of when the handle was made, and those made since."""
    chosen = handle.choices
    return ChoicesOut(
        memory=not chosen.memory_off if made.memory is None else made.memory,
        notes=chosen.notes if made.notes is None else made.notes,
        rooms=chosen.shows_private if made.rooms is None else made.rooms,
    )
