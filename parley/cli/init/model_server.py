"""Asks an OpenAI-compatible server for its models."""

import ipaddress
import json
import math
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import urlsplit

import httpx2
from msgspec import Struct

from gateway.errors import UsageError
from gateway.llm.known_windows import LEAST_WINDOW
from gateway.llm.served_window import window_of
from safety.http.addresses import is_loopback_name
from safety.http.shown_address import shown_address

SECONDS: Final = 10.0
MAX_BYTES: Final = 4 * 1024 * 1024
MAX_MODELS: Final = 1_000
MAX_NAME: Final = 200
MILLION: Final = 1_000_000
Trouble = Literal["unreachable", "key", "other"]


class ServedModel(Struct, frozen=True):
    """A model of a server; `prices` in dollars per million tokens of input and output, and `window`
    in tokens, where the server names them (0: it does not)."""

    name: str
    prices: tuple[float, float] | None = None
    window: int = 0


class ServerProblem(Exception):
    """The server gave no list of models; `kind` tells what can be done about it."""

    def __init__(self, kind: Trouble, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def server_address(text: str) -> str:
    """An address as a person types it, completed: `localhost:11434` becomes
    `http://localhost:11434/v1`. Raises `BadInput`."""
    typed = text.strip()
    address = (typed if "://" in typed else f"http://{typed}").rstrip("/")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    bad_host = not parts.hostname or any(c.isspace() for c in address) or port == 0
    if parts.scheme not in {"http", "https"} or bad_host:
        raise UsageError("This is not an address: write one such as http://127.0.0.1:11434/v1.")
    if parts.username or parts.password:
        raise UsageError("Leave the password out of the address; the key is asked for separately.")
    address = address.removesuffix("/chat/completions").removesuffix("/models")
    return address if urlsplit(address).path.strip("/") else f"{address.rstrip('/')}/v1"


def is_local(address: str) -> bool:
    """True for a server on this machine or in a private network, which costs nothing per token."""
    host = urlsplit(address).hostname or ""
    if is_loopback_name(host) or "." not in host:
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host.endswith((".local", ".internal", ".lan"))


async def models_of(address: str, key: str) -> list[ServedModel]:
    """The models of a server, in its order. Raises `ServerProblem` with a sentence."""
    return await _listed(address, key, {"authorization": f"Bearer {key}"} if key else {})


async def anthropic_models_of(address: str, key: str) -> list[ServedModel]:
    """The models that Anthropic's API lists for a key (GET /v1/models). Raises `ServerProblem`."""
    address = f"{address.rstrip('/').removesuffix('/v1')}/v1"
    return await _listed(address, key, {"x-api-key": key, "anthropic-version": "2023-06-01"})


async def _listed(address: str, key: str, proof: Mapping[str, str]) -> list[ServedModel]:
    headers = {"accept-encoding": "identity", **proof}
    shown = shown_address(address)
    try:
        local = is_loopback_name(urlsplit(address).hostname or "")
        async with httpx2.AsyncClient(timeout=SECONDS, trust_env=not local) as client:
            status, body = await _fetched(client, f"{address}/models", headers)
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, OSError) as error:
        reason = f"no answer within {SECONDS:.0f} s" if isinstance(
            error, httpx2.TimeoutException) else type(error).__name__  # fmt: skip
        text = f"Nothing answers at {shown} ({reason})."
        raise ServerProblem("unreachable", text) from error
    if status in {401, 403}:
        refused = f"the key is refused (HTTP {status})" if key else "it needs a key"
        raise ServerProblem("key", f"{shown} answers, but {refused}.")
    if status != 200:
        advice = "Most addresses end in /v1." if status == 404 else "Try again later."
        raise ServerProblem("other", f"{shown}/models answers with HTTP {status}. {advice}")
    return _parsed(address, body)


async def _fetched(
    client: httpx2.AsyncClient, url: str, headers: Mapping[str, str]
) -> tuple[int, bytes]:
    body = bytearray()
    async with client.stream("GET", url, headers=headers) as response:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > MAX_BYTES:
                raise ServerProblem(
                    "other", f"{shown_address(url)} answers with more than {MAX_BYTES} bytes."
                )
        return response.status_code, bytes(body)


def _parsed(address: str, body: bytes) -> list[ServedModel]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        shown = shown_address(address)
        text = f"{shown} answers, but not as an OpenAI-compatible server. Check the port."
        raise ServerProblem("other", text)
    models = [_model(entry) for entry in entries[:MAX_MODELS] if isinstance(entry, dict)]
    return [model for model in models if model is not None]


def _model(entry: Mapping[str, object]) -> ServedModel | None:
    name = entry.get("id")
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
        return None
    if not (name.isascii() and name.isprintable()):
        return None  # it is shown on a terminal
    pricing, window = entry.get("pricing"), window_of(entry)
    window = window if window >= LEAST_WINDOW else 0
    if not isinstance(pricing, dict):
        return ServedModel(name, window=window)
    prices = tuple(_price(pricing.get(side)) for side in ("prompt", "completion"))
    given = prices[0] is not None and prices[1] is not None
    return ServedModel(name, (prices[0] or 0.0, prices[1] or 0.0) if given else None, window)


def _price(text: object) -> float | None:
    """Dollars per million tokens, of dollars per token."""
    try:
        price = float(str(text)) * MILLION
    except ValueError:
        return None
    return round(price, 6) if 0 <= price < MILLION and math.isfinite(price) else None
