"""Reasons for missing answers, in words."""

import socket
from inspect import getmembers, isclass

import aiohttp
import pytest

from adapters.shared.http import no_answer, reason_of

KINDS = [
    kind
    for _, kind in getmembers(aiohttp, isclass)
    if issubclass(kind, aiohttp.ClientError) or kind is TimeoutError
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_reason_names_a_class(kind: type[Exception]) -> None:
    error = kind.__new__(kind)
    for repeatable in (True, False):
        said = str(no_answer("Slack", error, repeatable=repeatable))
        assert kind.__name__ not in said
        assert str(reason_of(error)) in said


def test_a_missing_name_and_a_silent_server_are_told_apart() -> None:
    key = aiohttp.client_reqrep.ConnectionKey("a.example", 443, True, True, None, None, None)
    missing = aiohttp.ClientConnectorDNSError(key, socket.gaierror(-2, "unknown"))
    refused = aiohttp.ClientConnectorError(key, ConnectionRefusedError(111, "refused"))
    assert str(reason_of(missing)) == "the name of its server is not found"
    assert str(reason_of(refused)) == "its server accepts no connection"
    assert str(reason_of(aiohttp.ConnectionTimeoutError())) == "no answer in time"
