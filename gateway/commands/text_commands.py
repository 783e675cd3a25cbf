"""Commands that people write in a message, where the platform has no slash command for the place.

Slack sends none from threads; what works there is a message to the assistant: `@Parley /stop`.
"""

import re
from collections.abc import Iterable
from typing import Final

from gateway.message import CommandInvoked, MessageReceived
from gateway.ports import CommandSpec

_WRITTEN: Final = re.compile(r"/([a-z]{1,32})(?:\s+(.*))?", re.DOTALL)
_BARE: Final = re.compile(r"(stop|help)[.!?]*", re.IGNORECASE)
"""The commands that are understood without their slash: whoever wants them is in a hurry, or on
Slack, which keeps /help for itself; as a question to the model they mean nothing else."""


def text_command(
    event: MessageReceived,
    content: str,
    known: Iterable[CommandSpec],
) -> CommandInvoked | None:
    """The command that a message to the assistant consists of; None when it is a question.

    `content` is the message without what called the assistant; a message with files is one of the
    commands that take files, or none.
    """
    said = content.strip()
    bare = _BARE.fullmatch(said)
    if bare is not None:
        name, arguments = bare.group(1).lower(), ""
    else:
        written = _WRITTEN.fullmatch(said)
        if written is None:
            return None
        name, arguments = written.group(1), (written.group(2) or "").strip()
    message = event.message
    named = (command for command in known if command.name == name)
    if not any(command.takes_files or not message.attachments for command in named):
        return None
    return CommandInvoked(event.event_id, message.place, message.author, name, arguments, message)
