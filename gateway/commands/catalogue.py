"""The commands of the chat, messages that are commands, and inline suggestions, which are shown
while a person types after the assistant's name: the question itself, and memories that match."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.conversation import key_of
from gateway.message import Button, CommandInvoked, InlineQueried, MessageReceived, Place
from gateway.people import Audience, Principal, Role
from gateway.policy.history_redaction import redact_name
from gateway.ports import Capabilities, CommandSpec
from gateway.ports.memory import Caller
from gateway.ports.rights import IN_CHAT, in_chat
from gateway.text import (
    Text,
    described,
    label,
    text,
    verbatim,
)
from gateway.turn.services import Services

ASKS = "ask"
"""The only command that asks the model."""
HELP = "help"
START = "start"

REGISTERED = (
    CommandSpec(
        ASKS,
        described("Ask the AI a question"),
        takes_arguments=True,
        allowed=IN_CHAT,
        help_group="first",
    ),
    CommandSpec("context", described("Show current conversation context"), allowed=IN_CHAT),
    CommandSpec(
        "clear",
        described("Clear conversation history"),
        deletes=True,
        allowed=IN_CHAT,
        help_group="first",
    ),
    CommandSpec(
        "task",
        described("Show, set or end this conversation's task"),
        takes_arguments=True,
        argument_name="task",
        argument_optional=True,
        argument_help=described("a text, or: end"),
        allowed=IN_CHAT,
    ),
    CommandSpec(
        "language",
        described("Choose the language in which I write to you"),
        takes_arguments=True,
        argument_name="language",
        argument_optional=True,
        argument_help=described("a language such as de, or: auto"),
        allowed=IN_CHAT,
        help_group="first",
    ),
    CommandSpec(
        "timezone",
        described("Choose your time zone"),
        takes_arguments=True,
        argument_name="zone",
        argument_optional=True,
        argument_help=described("a city or a name such as Europe/Zurich, or: auto, here …"),
        allowed=IN_CHAT,
    ),
    CommandSpec(
        "quiet",
        described("Choose the hours in which I do not write first"),
        takes_arguments=True,
        argument_name="hours",
        argument_optional=True,
        argument_help=described("hours such as 22:00-07:00, or: off, auto, here 20:00-08:00"),
        allowed=IN_CHAT,
    ),
    CommandSpec(
        "stop",
        described("Stop the answer that is being written"),
        allowed=IN_CHAT,
        help_group="first",
    ),
    CommandSpec(
        HELP,
        described("Show what I can do"),
        takes_arguments=True,
        argument_name="what",
        argument_optional=True,
        argument_help=described("nothing, or: more"),
        allowed=IN_CHAT,
    ),
)
"""Commands that platforms suggest while a person types (the first three texts are the source's)."""
UNLISTED = (CommandSpec(START, described("Begin"), allowed=IN_CHAT),)
"""Handled, but not registered: Telegram sends /start unasked."""
COMMANDS = REGISTERED + UNLISTED
APPROVE = CommandSpec(
    "approve",
    described("Decide who may write to me"),
    takes_arguments=True,
    argument_name="code",
    argument_optional=True,
    argument_help=described("a code, or: reject CODE, list, revoke ID"),
    allowed=in_chat(Role.OPERATOR),
    help_group="access",
)
"""Offered where people need an approval (`access.admission: approved`)."""
VOICE = CommandSpec(
    "voice",
    described("Choose which answers I speak as well"),
    takes_arguments=True,
    argument_name="answers",
    argument_optional=True,
    argument_help=described("on (to voice messages), always, or: off"),
    allowed=IN_CHAT,
)
"""Offered where a service speaks (`voice.speech`)."""
REMINDERS = CommandSpec(
    "reminders",
    described("Show and remove your reminders"),
    takes_arguments=True,
    argument_name="what",
    argument_optional=True,
    argument_help=described("nothing, or: remove NUMBER, skip NUMBER"),
    allowed=IN_CHAT,
)
"""Offered where appointments are on (`appointments.enabled`)."""
CATCHUP = CommandSpec(
    "catchup",
    described("Keep messages of this place for people who missed them, or keep yours out"),
    takes_arguments=True,
    argument_name="what",
    argument_optional=True,
    argument_help=described("nothing, or: out, in; for operators: on, off"),
    allowed=IN_CHAT,
)
"""Offered where the configuration allows it (`catchup.enabled`)."""
CONSOLE = CommandSpec(
    "console",
    described("Get a link to your console: your conversations and memories in the browser"),
    allowed=IN_CHAT,
)
"""Offered where the console is on (`console.enabled`)."""

IN_THREADS: Final = text(
    "Each of my answers here has its own thread. To use this command there, write {command} in the "
    "thread."
)
ASK: Final = label("Ask {assistant}")
MAX_INLINE: Final = 250
"""Characters of an inline query (Telegram sends at most 256)."""
MAX_TITLE: Final = 60
SECONDS: Final = 1.0
"""The time limit of memory: the next keystroke comes soon."""
log = structlog.get_logger(__name__)


def asks_model(event: CommandInvoked) -> bool:
    """Return True for a command with a question, or with a message that it replies to."""
    replies = event.message is not None and bool(event.message.quote or event.message.material)
    return event.name == ASKS and (replies or bool(event.arguments.strip()))


def threads_aside(name: str, place: Place, can: Capabilities, assistant_name: str) -> Text | None:
    """Return a note for a command in a channel whose answers open threads; None elsewhere."""
    if not can.answers_open_threads or place.audience is Audience.DIRECT or place.thread_id:
        return None
    return IN_THREADS.of(command=verbatim(f"`@{assistant_name} /{name}`"))


_WRITTEN: Final = re.compile(r"/([a-z]{1,32})(?:\s+(.*))?", re.DOTALL)
_BARE: Final = re.compile(r"(stop|help)( more)?[.!?]*", re.IGNORECASE)
"""Commands that work without the slash: urgent ones, and `help`, because Slack reserves /help. They
have no other meaning as a question to the model."""


def text_command(
    event: MessageReceived,
    content: str,
    known: Iterable[CommandSpec],
) -> CommandInvoked | None:
    """Return the command of a message; None if it is a question.

    `content` is the message without the mention or prefix; a message with files can only be a
    command that takes files.
    """
    text = content.strip()
    bare = _BARE.fullmatch(text)
    if bare is not None and not (bare[2] and bare[1].lower() != HELP):
        name, arguments = bare[1].lower(), (bare[2] or "").strip().lower()
    else:
        written = _WRITTEN.fullmatch(text)
        if written is None:
            return None
        name, arguments = written.group(1), (written.group(2) or "").strip()
    message = event.message
    named = (command for command in known if command.name == name)
    if not any(command.takes_files or not message.attachments for command in named):
        return None
    return CommandInvoked(event.event_id, message.place, message.author, name, arguments, message)


# Translators: the first suggestion while somebody types a question in another chat.
_ASK: Final = text("Ask {name}")


async def offers(event: InlineQueried, who: Principal, services: Services) -> tuple[Button, ...]:
    """Return the suggested texts, the question itself first; none for an empty query."""
    typed = event.query.strip()[:MAX_INLINE]
    if not typed:
        return ()
    language = await services.readers.language(
        services.policies.languages, who.tenant, str(who.person), event.place, event.author.language
    )
    title = language.shown(_ASK.of(name=verbatim(services.assistant.name)))
    ask = Button(title, typed, description=typed)
    return (ask, *map(_offer, await _meant(event, typed, who, services)))


async def _meant(
    event: InlineQueried, typed: str, who: Principal, services: Services
) -> Sequence[str]:
    """Return matching memories, in private only: in other places, others would read a chosen
    text."""
    if event.place.audience is not Audience.DIRECT:
        return ()
    caller = Caller(
        id=f"inline:{event.event_id}",
        principal=who,
        name=redact_name(event.author.name),
        place=event.place,
        conversation=str(key_of(who.tenant, event.place)),
        at=services.clock.now(),
    )
    try:
        async with asyncio.timeout(SECONDS):
            return await services.memory.suggested(caller, typed)
    except (StoreUnavailable, TimeoutError) as error:
        log.warning("suggestions_unavailable", error=str(error) or "it took too long")
        return ()


def _offer(text: str) -> Button:
    line = " ".join(text.split())
    title = line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1]}…"
    return Button(title, text, description=line)
