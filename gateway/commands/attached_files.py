"""Fetches the files that a person sends with a command, for a command that takes them."""

from typing import Final

from gateway.errors import BadInput, DeliveryError
from gateway.exchange import Exchange
from gateway.remembering import GivenFile

MAX_FILES: Final = 1
MAX_BYTES: Final = 1024 * 1024
"""Bytes of a file; a larger one is not fetched."""
TOO_LARGE: Final = f"it has more than {MAX_BYTES:,} bytes"
NOT_FETCHED: Final = "it could not be fetched from the platform; send it again"


async def given_files(exchange: Exchange) -> tuple[GivenFile, ...]:
    """The files of the command's message, each with its bytes or with the reason why not."""
    attachments = [one for message in exchange.messages for one in message.attachments]
    found = []
    for one in attachments[:MAX_FILES]:
        data, problem = None, NOT_FETCHED
        if one.size is not None and one.size > MAX_BYTES:
            problem = TOO_LARGE
        elif exchange.connected.files is not None:
            try:
                data, problem = await exchange.connected.files.fetch(one, MAX_BYTES), ""
            except BadInput:
                problem = TOO_LARGE
            except DeliveryError:
                problem = NOT_FETCHED
        found.append(GivenFile(one.name, data, problem))
    return tuple(found)
