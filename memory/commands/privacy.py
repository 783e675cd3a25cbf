"""`/privacy` as far as it chooses something: what others read, what is shown, what is kept."""

from typing import Final

from gateway.message import Reply
from gateway.remembering import Caller
from memory.service.people import People

ROOMS: Final = {
    True: "In channels and groups I now also use what I know of you from elsewhere. Everybody "
    "there can read my answers.",
    False: "In channels and groups I no longer use what I know of you from elsewhere.",
}
NOTES: Final = {
    True: "I now say under an answer what I noted by myself.",
    False: "I no longer say under an answer what I noted by myself. `/memories` still shows it, "
    "`/undo` takes the latest back.",
}
MEMORY: Final = {
    True: "Memory is on for you again. Where it is off for one conversation, write there: "
    "`/privacy memory on here`",
    False: "Memory is off for you. I recall nothing and keep nothing of what you write from now "
    "on: I answer each message on its own. What I remembered before stays, unused: `/forget` or "
    "`/privacy erase` deletes it. `/privacy memory on` turns memory on again.",
}
HERE: Final = {
    True: "Memory is on for you again in this conversation.",
    False: "Memory is off for you in this conversation. Here I recall nothing and keep nothing of "
    "what you write from now on: I answer each message on its own. `/privacy memory on here` turns "
    "it on again.",
}
STILL_OFF: Final = "Memory is still off for you everywhere: `/privacy memory on` turns it on."


async def chosen(
    people: People, caller: Caller, what: str, rest: str, *, off_everywhere: bool
) -> Reply | None:
    """Make a choice; None where the words after `/privacy` are none. `off_everywhere`: memory is
    off for this person, wherever they write. Raises `BadInput` for one that
    cannot be made, and `StoreUnavailable`."""
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
