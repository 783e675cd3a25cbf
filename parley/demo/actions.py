"""The actions of the demo's people: validated requests, performed on the simulators."""

import base64
import binascii
import html
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, TypeAdapter, field_validator

from gateway.text import text, verbatim
from parley.demo.world import DemoRefused, Seen, Where, World
from simulators.base import Fault, FaultKind, SimFile, SimPerson, SimRoom

MAX_TEXT: Final = 4_000
MAX_FILE: Final = 2_000_000
MAX_FILES: Final = 4
MAX_REQUEST: Final = MAX_FILES * MAX_FILE * 4 // 3 + 100_000
"""Bytes of one request: the files in base64 and the other fields."""

SENDING: Final = {
    "discord": "POST /channels/{id}/messages",
    "slack": "chat.postMessage",
    "telegram": "sendMessage",
    "whatsapp": "messages",
}
"""The request that delivers an answer on each platform, by its simulator's name."""

Name = Annotated[str, Field(min_length=1, max_length=80)]
MessageId = Annotated[str, Field(min_length=1, max_length=200)]


class Action(BaseModel, extra="forbid", frozen=True):
    """The fields of all actions: the place and the person."""

    platform: Name
    room: Name
    person: Name
    thread: Annotated[str, Field(max_length=200)] = ""

    @property
    def where(self) -> Where:
        """The place."""
        return Where(self.platform, self.room, self.person, self.thread)


class Upload(BaseModel, extra="forbid", frozen=True):
    """A file; `data` is base64."""

    name: Annotated[str, Field(min_length=1, max_length=120, pattern=r"^[^/\\\x00-\x1f]+$")]
    mime: Annotated[str, Field(max_length=100, pattern=r"^[\w.+-]+/[\w.+-]+$")]
    data: Annotated[str, Field(max_length=MAX_FILE * 4 // 3 + 4)]

    @field_validator("data")
    @classmethod
    def _is_base64(cls, value: str) -> str:
        try:
            base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError) as problem:
            raise ValueError("is not base64") from problem
        return value

    def as_file(self) -> SimFile:
        """The file a person sends."""
        return SimFile(self.name, self.mime, base64.b64decode(self.data))


class Say(Action, extra="forbid", frozen=True):
    """Write a message."""

    do: Literal["say"]
    text: Annotated[str, Field(max_length=MAX_TEXT)] = ""
    mention: bool = False
    reply_to: Annotated[str, Field(max_length=200)] = ""
    files: Annotated[tuple[Upload, ...], Field(max_length=MAX_FILES)] = ()


class Command(Action, extra="forbid", frozen=True):
    """Use a slash command."""

    do: Literal["command"]
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
    arguments: Annotated[str, Field(max_length=MAX_TEXT)] = ""


class Press(Action, extra="forbid", frozen=True):
    """Press a button."""

    do: Literal["press"]
    message_id: MessageId
    label: Name


class Edit(Action, extra="forbid", frozen=True):
    """Edit the person's own message."""

    do: Literal["edit"]
    message_id: MessageId
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]


class Delete(Action, extra="forbid", frozen=True):
    """Delete the person's own message."""

    do: Literal["delete"]
    message_id: MessageId


class React(Action, extra="forbid", frozen=True):
    """React to a message."""

    do: Literal["react"]
    message_id: MessageId
    emoji: Annotated[str, Field(min_length=1, max_length=16)]


class OpenThread(Action, extra="forbid", frozen=True):
    """Begin a thread in a room."""

    do: Literal["thread"]
    title: Annotated[str, Field(min_length=1, max_length=60)]


class SimulateFault(Action, extra="forbid", frozen=True):
    """Make the next event, the next answer or the connection fail."""

    do: Literal["fault"]
    kind: Literal["duplicate", "rate_limit", "server_error", "drop_after", "disconnect"]


AnyAction = Annotated[
    Say | Command | Press | Edit | Delete | React | OpenThread | SimulateFault,
    Field(discriminator="do"),
]
ACTIONS: Final[TypeAdapter[AnyAction]] = TypeAdapter(AnyAction)


async def perform(world: World, action: AnyAction) -> dict[str, object]:
    """Perform an action; returns the id of the new message, or the key of the new thread.

    Raises `DemoRefused`, and `NotSupported` for actions that the platform does not have.
    """
    simulator = world.simulator(action.platform)
    person = world.person(action.platform, action.person)
    if action.thread:
        find(world, action.where, action.thread)
    room = world.room(action.where)
    match action:
        case Say():
            return {"id": await _say(world, action, person, room)}
        case Command():
            try:
                await world.command(action.where, action.name, action.arguments)
            except LookupError as problem:  # Discord offers only what the bot registered
                raise DemoRefused(verbatim(str(problem))) from problem
        case Press():
            seen = find(world, action.where, action.message_id)
            if all(button.label != action.label for button in seen.shown.buttons):
                raise DemoRefused(
                    text("there is no button {name}", name=verbatim(repr(action.label)))
                )
            await world.press(action.where, action.message_id, action.label)
        case Edit():
            _own(world, action.where, action.message_id)
            await simulator.edit(
                person, room, action.message_id, as_sent(action.platform, action.text)
            )
        case Delete():
            _own(world, action.where, action.message_id)
            await simulator.delete(person, room, action.message_id)
        case React():
            find(world, action.where, action.message_id)
            await world.react(action.where, action.message_id, action.emoji)
        case OpenThread():
            return {"room": await world.open_thread(action.where, action.title)}
        case SimulateFault():
            await _simulate_fault(world, action)
    return {}


async def _say(world: World, action: Say, person: SimPerson, room: SimRoom) -> str:
    if not action.text.strip() and not action.files:
        raise DemoRefused(text("there is nothing to send"))
    if action.reply_to:
        find(world, action.where, action.reply_to)
    return await world.simulator(action.platform).say(
        person,
        room,
        as_sent(action.platform, action.text),
        mention=action.mention,
        reply_to=action.reply_to,
        files=tuple(upload.as_file() for upload in action.files),
    )


def as_sent(platform: str, typed: str) -> str:
    """The text as the platform's app sends it: Slack's app escapes three characters."""
    return html.escape(typed, quote=False) if platform == "slack" else typed


def find(world: World, where: Where, message_id: str) -> Seen:
    """The message, if this person can see it. Raises `DemoRefused`."""
    for seen in world.seen(where):
        if seen.shown.id == message_id and not seen.shown.deleted:
            return seen
    raise DemoRefused(text("there is no such message"))


def _own(world: World, where: Where, message_id: str) -> None:
    if find(world, where, message_id).author != where.person:
        raise DemoRefused(text("you can change only your own messages"))


async def _simulate_fault(world: World, action: SimulateFault) -> None:
    simulator = world.simulator(action.platform)
    kind: FaultKind
    match action.kind:
        case "duplicate":
            simulator.duplicate_next()
            return
        case "disconnect":
            await simulator.drop_connections()
            return
        case "rate_limit" | "server_error" | "drop_after" as kind:
            simulator.faults.add(Fault(SENDING[action.platform], kind, retry_after=2.0))
