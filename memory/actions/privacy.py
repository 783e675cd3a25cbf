"""A person's settings of memory."""

from gateway.ports.action import (
    IN_BROWSER,
    PEOPLE,
    PROGRAMS,
    Effect,
    Input,
    Nothing,
    Output,
    action,
)
from memory.actions.call import MemoryCall
from memory.service.handle import MemoryHandle


class ChoicesBody(Input):
    """The settings to change. `memory`: recall and store memories; `notes`: show what the assistant
    noted by itself; `rooms`: use your own memories in rooms."""

    memory: bool | None = None
    notes: bool | None = None
    rooms: bool | None = None


class ChoicesOut(Output):
    """The settings. `notes` is null if the configuration decides."""

    memory: bool
    notes: bool | None
    rooms: bool


@action(
    "Read your memory settings",
    by=IN_BROWSER | PROGRAMS,
    effect=Effect.READS,
)
async def choices(call: MemoryCall, given: Nothing) -> ChoicesOut:
    """Return the settings."""
    return _choices_after(call.handle, ChoicesBody())


@action("Change your memory settings; omitted ones stay unchanged", by=PEOPLE, effect=Effect.WRITES)
async def choose(call: MemoryCall, given: ChoicesBody) -> ChoicesOut:
    """Change the given settings, for all linked accounts."""
    await call.handle.privacy.choose(memory=given.memory, notes=given.notes, rooms=given.rooms)
    return _choices_after(call.handle, given)


def _choices_after(handle: MemoryHandle, made: ChoicesBody) -> ChoicesOut:
    """Return the settings of the handle with the changes of this request."""
    chosen = handle.choices
    return ChoicesOut(
        memory=not chosen.memory_off if made.memory is None else made.memory,
        notes=chosen.notes if made.notes is None else made.notes,
        rooms=chosen.shows_private if made.rooms is None else made.rooms,
    )
