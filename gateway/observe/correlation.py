"""One id for everything that is done about a message, in logs, traces and the outbox alike."""

import hashlib
from collections.abc import MutableMapping
from contextvars import ContextVar, Token
from functools import lru_cache
from typing import Any, Final

MAX_REMEMBERED: Final = 2_000
"""Entries whose id is remembered: each asks for it half a dozen times while it is answered."""

_EXCHANGE: Final = ContextVar("exchange", default="")


@lru_cache(MAX_REMEMBERED)
def correlation_id(inbox_id: str) -> str:
    """The id of the exchange that an inbox entry begins: 16 hexadecimal digits.

    It follows from the entry, so that another process, or this one after a restart, finds the same.
    Nothing of the platform's ids can be read from it.
    """
    return hashlib.blake2b(inbox_id.encode(), digest_size=8).hexdigest()


def exchange_of(outbound_key: str) -> str:
    """The exchange that a send belongs to; its key is "<exchange>:<index>"."""
    return outbound_key.partition(":")[0]


def current_exchange() -> str:
    """What is being worked on, empty for nothing in particular."""
    return _EXCHANGE.get()


class correlated:  # noqa: N801 - reads as what it is: with about(exchange)
    """Within it, every log line carries the exchange, also in tasks that are started there."""

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
    """A log processor: names the exchange in a line about one."""
    exchange = _EXCHANGE.get()
    if exchange:
        line["exchange"] = exchange
    return line
