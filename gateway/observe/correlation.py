"""The correlation id of a message, in logs, traces and the outbox."""

import hashlib
from collections.abc import MutableMapping
from contextvars import ContextVar, Token
from functools import lru_cache
from typing import Any, Final

MAX_REMEMBERED: Final = 2_000
"""Entries whose id is cached: it is needed half a dozen times per answer."""
_EXCHANGE: Final = ContextVar("exchange", default="")


@lru_cache(MAX_REMEMBERED)
def correlation_id(inbox_id: str) -> str:
    """Return the id of the exchange of an inbox entry: 16 hexadecimal digits.

    It is derived from the entry, so that another process, or this one after a restart, gets the
    same. It reveals nothing of the platform's ids.
    """
    return hashlib.blake2b(inbox_id.encode(), digest_size=8).hexdigest()


def exchange_of(outbound_key: str) -> str:
    """Return the exchange of a send; its key is "<exchange>:<index>"."""
    return outbound_key.partition(":")[0]


def current_exchange() -> str:
    """Return the exchange of the running task, empty for none."""
    return _EXCHANGE.get()


class correlated:  # noqa: N801 - used like a function: with correlated(exchange)
    """A context in which every log line carries the exchange, also in tasks started there."""

    __slots__ = ("_exchange", "_token")

    def __init__(self, exchange: str) -> None:
        self._exchange = exchange

    def __enter__(self) -> None:
        self._token: Token[str] = _EXCHANGE.set(self._exchange)

    def __exit__(self, *_: object) -> None:
        _EXCHANGE.reset(self._token)


def add_exchange(
    _logger: object, _method: str, line: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """A log processor that adds the exchange to a line."""
    exchange = _EXCHANGE.get()
    if exchange:
        line["exchange"] = exchange
    return line
