"""Asks an OpenAI-compatible server for the context windows of its models, after the start and then
from time to time: a server can be started again with another window."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

import aiohttp
from msgspec import Struct, field
from pydantic_core import from_json

from gateway.background_tasks import stop_task
from gateway.llm.known_windows import KnownWindows
from safety.http.environment_proxy import proxy_of

SMALLEST_WINDOW, LARGEST_WINDOW = 512, 10_000_000
SECONDS: Final = 10.0
MAX_BYTES: Final = 4 * 1024 * 1024
PAUSES: Final = (1.0, 30.0, 300.0)
"""Seconds before each attempt: a local server may start later than the program."""
AGAIN: Final = 600.0
"""Seconds between two later questions."""
FORGET: Final = 6
"""Later questions after which a window that follows from an error is tried again."""
_KEYS: Final = (
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
    "n_ctx",
)
_INNER: Final = ("meta", "top_provider", "limits", "default_generation_settings")


class ModelServer(Struct, frozen=True):
    """The server of one configured model. `number` is the model's place in the configuration,
    `address` ends before `/models`, `headers` carry the key."""

    number: int
    address: str
    model: str
    headers: Mapping[str, str] = field(default_factory=dict)


def window_of(entry: Mapping[str, Any]) -> int:
    """Return the window that an entry of a list of models names, 0 if it names none.

    Servers name it by different keys, llama.cpp and OpenRouter in an inner object; the smallest one
    counts, because some also name the window that the model was trained with.
    """
    inner = [entry[key] for key in _INNER if isinstance(entry.get(key), Mapping)]
    sizes = [each.get(key) for each in (entry, *inner) for key in _KEYS]
    windows = [size for size in sizes if type(size) is int and size >= SMALLEST_WINDOW]
    return min(*windows, LARGEST_WINDOW) if windows else 0


class WindowSearch:
    """Asks the servers in the background, and tells `known` what they say. Nothing waits for it."""

    def __init__(self, servers: Sequence[ModelServer], known: KnownWindows) -> None:
        self._servers = tuple(servers)
        self._known = known
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; returns at once."""
        if self._servers and self._task is None:
            self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """End a search that still runs."""
        task, self._task = self._task, None
        await stop_task(task)

    async def _run(self) -> None:
        waiting = self._servers
        for pause in PAUSES:
            await asyncio.sleep(pause)
            waiting = tuple([each for each in waiting if not await self._asked(each)])
            if not waiting:
                break
        for number in count(1):
            await asyncio.sleep(AGAIN)
            for server in self._servers:
                await self._asked(server)
                if number % FORGET == 0:
                    self._known.forget_refusals(server.number)

    async def _asked(self, server: ModelServer) -> bool:
        """Ask one server; False if it did not answer."""
        try:
            async with asyncio.timeout(SECONDS):
                window = await served_window(server)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
            return False
        if window:
            self._known.named(server.number, window)
        return True


async def served_window(server: ModelServer) -> int:
    """Return the window of a model as its server names it, 0 if it names none.

    Redirects are not followed, because the request carries the key. Raises
    `aiohttp.ClientError`, `TimeoutError` or `OSError` if the server does not answer.
    """
    listing = f"{server.address.rstrip('/')}/models"
    async with aiohttp.ClientSession(
        headers=server.headers, cookie_jar=aiohttp.DummyCookieJar(), proxy=proxy_of(listing)
    ) as session:
        entries = _entries(await _json(session, listing))
        named = [entry for entry in entries if server.model in _names(entry)]
        chosen = named or (entries if len(entries) == 1 else [])
        if chosen and (window := window_of(chosen[0])):
            return window
        if chosen and "llama" not in str(chosen[0].get("owned_by", "")).lower():
            return 0
        properties = f"{server.address.rstrip('/').removesuffix('/v1')}/props"
        props = await _json(session, properties)
        return window_of(props) if isinstance(props, Mapping) else 0


def _names(entry: Mapping[str, Any]) -> set[str]:
    aliases = entry.get("aliases")
    names = {entry.get("id"), entry.get("name")}
    names |= (
        {each for each in aliases if isinstance(each, str)} if isinstance(aliases, list) else set()
    )
    return {name for name in names if isinstance(name, str)}


def _entries(answer: object) -> list[Mapping[str, Any]]:
    found = answer.get("data", answer.get("models")) if isinstance(answer, Mapping) else answer
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


async def _json(session: aiohttp.ClientSession, url: str) -> object:
    """Return the parsed response, None if it is none of the server's own."""
    async with session.get(url, allow_redirects=False) as response:
        if response.status != 200:
            return None
        body = bytearray()
        async for data in response.content.iter_any():
            body += data
            if len(body) > MAX_BYTES:
                return None
    try:
        return from_json(bytes(body))
    except ValueError:
        return None
