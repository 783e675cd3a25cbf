"""One id for everything that is done about a message, in logs, traces and the outbox alike."""

import hashlib
from contextlib import AbstractContextManager

from structlog.contextvars import bound_contextvars


def correlation_id(inbox_id: str) -> str:
    """The id of the exchange that an inbox entry begins: 16 hexadecimal digits.

    It follows from the entry, so that another process, or this one after a restart, finds the same.
    Nothing of the platform's ids can be read from it.
    """
    return hashlib.blake2b(inbox_id.encode(), digest_size=8).hexdigest()


def exchange_of(outbound_key: str) -> str:
    """The exchange that a send belongs to; its key is "<exchange>:<index>"."""
    return outbound_key.partition(":")[0]


def about(exchange: str) -> AbstractContextManager[None]:
    """Within it, every log line carries the exchange, also in tasks that are started there."""
    return bound_contextvars(exchange=exchange)
