"""The settings of `/privacy`: memories in rooms, notes, and memory itself."""

from typing import Final

from gateway.message import Reply
from gateway.ports.memory import Caller
from memory.service.people import People

ROOMS: Final = {
    True: "In channels and groups I now also use what I know about you from elsewhere. "
    "Everybody there can read my answers.",
    False: "In channels and groups I no longer use what I know about you from elsewhere.",
}
NOTES: Final = {
    True: "Below my answers I now say what I noted on my own.",
    False: "Below my answers I no longer say what I noted on my own. `/memories` still shows it; "
    "`/undo` deletes the latest.",
}
MEMORY: Final = {
    True: "Memory is on for you again. If it is off in one conversation, write `/privacy memory on "
    "here` there.",
    False: "Memory is off for you. From now on I recall nothing and store nothing that you write: "
    "I answer each message on its own. Earlier memories stay stored, unused; `/forget` or "
    "`/privacy erase` deletes them. `/privacy memory on` turns memory on again.",
}
HERE: Final = {
    True: "Memory is on for you again in this conversation.",
    False: "Memory is off for you in this conversation. From now on I recall nothing and store "
    "nothing that you write here: I answer each message on its own. `/privacy memory on here` "
    "turns it on again.",
}
STILL_OFF: Final = "Memory is still off everywhere: `/privacy memory on` turns it on."


async def chosen(
    people: People, caller: Caller, what: str, rest: str, *, off_everywhere: bool
) -> Reply | None:
    """Change a setting and return the answer; None for other words after `/privacy`.
    `off_everywhere`: memory is off for this person in all conversations. Raises `BadInput` for an
    invalid setting, and `StoreUnavailable`."""
    choice, _, where = rest.partition(" ")
    if choice not in ("on", "off") or where not in ("", "here"):
        return None
    on = choice == "on"
    if what == "memory" and where:
        await people.turn_memory_here(caller, on)
        return Reply(STILL_OFF if on and off_everywhere else HERE[on])
    if where:
        return None
    match what:
        case "memory":
            await people.turn_memory(caller.principal, on)
            return Reply(MEMORY[on])
        case "notes":
            await people.show_notes(caller.principal, on)
            return Reply(NOTES[on])
        case "rooms":
            await people.show_private(caller.principal, on)
            return Reply(ROOMS[on])
    return None
