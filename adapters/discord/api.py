"""One account's REST calls: through discord.py, each exactly once, with Parley's errors.

discord.py repeats a request five times after 429 and 5xx, and sleeps in between. Here the core
decides about repetitions, so a trace of aiohttp raises as soon as such an answer is there, before
the library would sleep. What the library does *before* a request stays: it waits for a bucket that
is known to be empty, at most `MAX_BUCKET_WAIT` seconds.
"""

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import HTTPClient, Route

from adapters.discord.json_readers import mapping, mappings
from gateway.errors import Ambiguous, DeliveryError, FormatRejected, Permanent, Transient

MAX_BUCKET_WAIT: Final = 30.0
"""The smallest bound that discord.py accepts."""
CALL_SECONDS: Final = 60.0
"""Bound of one call: a bucket's wait, and as long again for the answer."""
CLOUDFLARE_PAUSE: Final = 60.0
"""Seconds to wait after a 429 that names none: Cloudflare's ban, not Discord's limit."""
NOTHING_HAPPENED: Final = (500, 503)
"""Server errors after which Discord has surely not acted; 502 and 504 leave it open."""
INVALID_FORM: Final = 50035

_RESET_BY_PEER: Final = (54, 10054)


class AccountHTTP(HTTPClient):
    """discord.py's HTTP client with addresses of its own, so that accounts need not share one."""

    def __init__(self, api_base: str, gateway_url: str) -> None:
        super().__init__(
            asyncio.get_running_loop(),
            http_trace=_once(),
            max_ratelimit_timeout=MAX_BUCKET_WAIT,
        )
        self._api_base = api_base.rstrip("/")
        self._gateway = yarl.URL(gateway_url) if gateway_url else None

    async def request(self, route: Route, **kwargs: Any) -> Any:
        """As the library's, at this account's address."""
        if self._api_base:
            route.url = self._api_base + route.url.removeprefix(Route.BASE)
        return await super().request(route, **kwargs)

    async def ws_connect(self, url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
        """As the library's, at this account's gateway; a resumed session names its own."""
        wanted = yarl.URL(url)
        if self._gateway and wanted.host == DiscordWebSocket.DEFAULT_GATEWAY.host:
            url = str(self._gateway.with_query(wanted.query))
        return await super().ws_connect(url, compress=compress)


class ConnectionReset(discord.DiscordException):
    """The connection broke before an answer came."""


def _once() -> aiohttp.TraceConfig:
    """The trace that keeps discord.py from repeating a request."""
    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(_refuse_repetition)
    trace.on_request_exception.append(_refuse_reconnection)
    trace.freeze()
    return trace


async def _refuse_repetition(
    _: aiohttp.ClientSession, __: SimpleNamespace, params: aiohttp.TraceRequestEndParams
) -> None:
    answer = params.response
    if params.url.scheme.startswith("ws") or answer.status < 429:
        return
    if answer.status == 429:
        raise await _limit(answer)
    if answer.status >= 500:
        raise discord.DiscordServerError(answer, await answer.text(errors="replace"))


async def _refuse_reconnection(
    _: aiohttp.ClientSession, __: SimpleNamespace, params: aiohttp.TraceRequestExceptionParams
) -> None:
    error = params.exception
    if not params.url.scheme.startswith("ws") and getattr(error, "errno", 0) in _RESET_BY_PEER:
        raise ConnectionReset("the connection was reset") from error


class GlobalRateLimit(discord.RateLimited):
    """A limit that binds everything the bot asks for, not one route."""


async def _limit(answer: aiohttp.ClientResponse) -> discord.RateLimited:
    """The limit that a 429 speaks of. Where Discord itself says nothing, Cloudflare has banned the
    address, with everything that comes from it."""
    try:
        body = mapping(await answer.json(content_type=None))
    except ValueError:
        body = {}
    seconds = _retry_after(body, answer)
    scope = answer.headers.get("X-RateLimit-Scope", "")
    everything = body.get("global") is True or scope == "global" or "retry_after" not in body
    return GlobalRateLimit(seconds) if everything else discord.RateLimited(seconds)


def _retry_after(body: Mapping[str, object], answer: aiohttp.ClientResponse) -> float:
    """Seconds, from the body, which is exact, or from the header, which is rounded up."""
    for value in (body.get("retry_after"), answer.headers.get("Retry-After")):
        if isinstance(value, int | float | str):
            try:
                return max(0.0, float(value))
            except ValueError:
                continue
    return CLOUDFLARE_PAUSE


class Api:
    """REST calls whose failures are `DeliveryError`s."""

    def __init__(self, http: HTTPClient) -> None:
        self._http = http

    async def call(
        self,
        route: Route,
        *,
        json: object = None,
        form: list[dict[str, object]] | None = None,
        repeatable: bool = True,
    ) -> Mapping[str, object]:
        """Make one call; `repeatable` when making it twice is the same as once.

        `form` is the multipart body in aiohttp's terms. Raises a `DeliveryError`.
        """
        body: dict[str, Any] = {"json": json} if json is not None and form is None else {}
        return mapping(await self._request(route, repeatable, form=form, **body))

    async def listed(
        self, route: Route, query: Mapping[str, int | str]
    ) -> list[Mapping[str, object]]:
        """Read a list of objects, at most 100 of them. Raises a `DeliveryError`."""
        return mappings(await self._request(route, True, params=dict(query)))

    async def _request(self, route: Route, repeatable: bool, **options: Any) -> object:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await self._http.request(route, **options)
        except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
            raise delivery_error(error, repeatable=repeatable) from error
        except RuntimeError as error:  # aiohttp, when the session was closed meanwhile
            raise Transient("not connected to Discord") from error


class RequestRefused(Permanent):
    """Discord said no; `code` is its own number for the reason (10003, 50001 ...)."""

    def __init__(self, reason: str, status: int, code: int) -> None:
        super().__init__(reason)
        self.status = status
        self.code = code


def delivery_error(error: Exception, *, repeatable: bool) -> DeliveryError:
    """What a failed call means for its sender."""
    match error:
        case discord.RateLimited():
            everything = isinstance(error, GlobalRateLimit)
            return Transient("Discord's rate limit", error.retry_after, whole_account=everything)
        case discord.DiscordServerError():
            reason = f"Discord failed with status {error.status}"
            surely_not = repeatable or error.status in NOTHING_HAPPENED
            return Transient(reason) if surely_not else Ambiguous(reason)
        case discord.HTTPException():
            return _refusal(error)
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return Transient(f"Discord is not reachable: {type(error).__name__}")
        case _:
            return Ambiguous(f"no answer from Discord: {type(error).__name__}")


def _refusal(error: discord.HTTPException) -> DeliveryError:
    """A 4xx. Where the markup alone can be at fault, the plain text may still pass."""
    reason = f"Discord refused with {error.status} ({error.code}): {error.text[:300]}"
    about_content = error.code == INVALID_FORM and "content" in error.text
    if about_content and "in length" not in error.text:
        return FormatRejected(reason)
    return RequestRefused(reason, error.status, error.code)
