"""Commands that people write in a message, where the platform has no slash command for the place.

Slack sends none from threads; what works there is a message to the assistant: `@Parley /stop`.
"""

import re
from collections.abc import Collection
from typing import Final

from gateway.message import CommandInvoked, MessageReceived

_WRITTEN: Final = re.compile(r"/([a-z]{1,32})(?:\s+(.*))?", re.DOTALL)
_BARE: Final = re.compile(r"(stop|help)[.!?]*", re.IGNORECASE)
"""The commands that are understood without their slash: whoever wants them is in a hurry, or on
Slack, which keeps /help for itself; as a question to the model they mean nothing else."""


def spoken_command(
    event: MessageReceived,
    content: str,
    known: Collection[str],
    with_files: Collection[str] = (),
) -> CommandInvoked | None:
    """The command that a message to the assistant consists of; None when it is a question.

    `content` is the message without what called the assistant; a message with files is one of the
    commands `with_files`, or none.
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
    if name not in (with_files if event.message.attachments else known):
        return None
    message = event.message
    return CommandInvoked(event.event_id, message.place, message.author, name, arguments, message)
