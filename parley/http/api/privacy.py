"""A person's memory settings over HTTP, the same as `/privacy` in a chat."""

from memory.service.handle import MemoryHandle
from parley.http.api.models import ChoicesBody, ChoicesOut, Nothing, Plain
from parley.http.api.operations import Answer, AnyOperation, Call, Operation

PATH = "/brain/choices"


def choice_operations() -> tuple[AnyOperation, ...]:
    """Return the operations on settings."""
    return (
        Operation(
            "GET",
            PATH,
            "choices",
            "Read your memory settings",
            read,
            Plain,
            Nothing,
            {200: (ChoicesOut, "The settings.")},
            {404: "You do not belong to this project."},
        ),
        Operation(
            "PUT",
            PATH,
            "choose",
            "Change your memory settings; omitted ones stay unchanged",
            choose,
            Plain,
            ChoicesBody,
            {200: (ChoicesOut, "The changed settings.")},
            {404: "You do not belong to this project."},
        ),
    )


async def read(call: Call, _query: Plain, _body: Nothing) -> Answer:
    """Return the settings."""
    return Answer(200, _told(call.handle, ChoicesBody()))


async def choose(call: Call, _query: Plain, body: ChoicesBody) -> Answer:
    """Change the given settings, for all linked accounts."""
    await call.handle.privacy.choose(memory=body.memory, notes=body.notes, rooms=body.rooms)
    return Answer(200, _told(call.handle, body))


def _told(handle: MemoryHandle, made: ChoicesBody) -> ChoicesOut:
    """Return the settings of the handle with the changes of this request."""
    chosen = handle.choices
    return ChoicesOut(
        memory=not chosen.memory_off if made.memory is None else made.memory,
        notes=chosen.notes if made.notes is None else made.notes,
        rooms=chosen.shows_private if made.rooms is None else made.rooms,
    )
