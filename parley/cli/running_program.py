"""Asks a Parley that runs on this machine, over its local listener."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Final

from parley.config import Settings
from parley.security.keys import server_token

SECONDS: Final = 3.0
MAX_ANSWER: Final = 1_000_000
LOCAL: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where to ask, not to listen


def address_of(settings: Settings) -> str:
    """The address of the local listener as this machine reaches it."""
    server = settings.server
    host = LOCAL.get(server.host, server.host)
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{server.port}"


def request_to(settings: Settings, path: str, method: str = "GET") -> urllib.request.Request:
    """A request to the local listener on this machine, with its token."""
    url = f"{address_of(settings)}{path}"
    request = urllib.request.Request(url, method=method)  # noqa: S310 - always http
    if token := server_token(settings):
        request.add_header("Authorization", f"Bearer {token}")
    return request


def body_of(request: urllib.request.Request) -> bytes:
    """The body of a response with any status, at most `MAX_ANSWER` bytes. Raises `OSError`."""
    # Never through a proxy: the token is meant for this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=SECONDS) as answer:
            return bytes(answer.read(MAX_ANSWER))
    except urllib.error.HTTPError as error:
        with error:
            return error.read(MAX_ANSWER)


def fetch(request: urllib.request.Request) -> Mapping[str, object]:
    """The JSON object of a response with any status. Raises `OSError`, `ValueError`."""
    answer = json.loads(body_of(request))
    return answer if isinstance(answer, dict) else {}
