"""Commands in messages, where the platform has no slash commands.

Slack supports none in threads; a message to the assistant works there: `@Parley /stop`.
"""

import re
from collections.abc import Iterable
from typing import Final

from gateway.message import CommandInvoked, MessageReceived
from gateway.ports import CommandSpec

_WRITTEN: Final = re.compile(r"/([a-z]{1,32})(?:\s+(.*))?", re.DOTALL)
_BARE: Final = re.compile(r"(stop|help)[.!?]*", re.IGNORECASE)
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
    if bare is not None:
        name, arguments = bare.group(1).lower(), ""
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
