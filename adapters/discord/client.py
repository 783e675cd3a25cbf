"""One account's REST calls through discord.py: each exactly once, with the gateway's errors.

discord.py repeats a request five times after 429 and 5xx, and sleeps in between. Here the core
decides about repetitions, so a trace of aiohttp raises for such an answer before the library
sleeps. The library's wait *before* a request stays: it waits for a bucket that is known to be
empty, for at most `MAX_BUCKET_WAIT` seconds.
"""

import asyncio
import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import HTTPClient, Route

from adapters.discord.errors import ConnectionReset, GlobalRateLimit, delivery_error
from adapters.shared.http import check_size, check_status, read_body
from adapters.shared.json_readers import JsonObject, as_mapping, identifier, objects, text
from gateway.errors import Permanent, Transient
from gateway.message import Attachment

MAX_BUCKET_WAIT: Final = 30.0
"""The smallest bound that discord.py accepts."""
CALL_SECONDS: Final = 60.0
"""Bound of one call: the wait for a bucket, and as long again for the answer."""
FETCH_SECONDS: Final = 60.0
CLOUDFLARE_PAUSE: Final = 60.0
"""Seconds to wait after a 429 without a time: a ban by Cloudflare, not a limit of Discord."""
FILE_HOSTS: Final = frozenset(
    {"cdn.discordapp.com", "media.discordapp.net", "images-ext-1.discordapp.net"}
)
CDN: Final = "https://cdn.discordapp.com"
PORTRAIT: Final = re.compile(r"[0-9a-z_]{1,64}")
"""The name of a picture of a person; the picture that Discord gives to others has none."""
PORTRAIT_PIXELS: Final = 128

_RESET_BY_PEER: Final = (54, 10054)


class AccountHTTP(HTTPClient):
    """discord.py's HTTP client with the addresses of one account."""

    def __init__(self, api_base: str, gateway_url: str) -> None:
        super().__init__(
            asyncio.get_running_loop(),
            http_trace=_no_retry_trace(),
            max_ratelimit_timeout=MAX_BUCKET_WAIT,
        )
        self._api_base = api_base.rstrip("/")
        self._gateway = yarl.URL(gateway_url) if gateway_url else None

    async def request(self, route: Route, **kwargs: Any) -> Any:
        """Make a request as the library does, at this account's address."""
        if self._api_base:
            route.url = self._api_base + route.url.removeprefix(Route.BASE)
        return await super().request(route, **kwargs)

    async def ws_connect(self, url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
        """Connect as the library does, at this account's gateway or a resumed session's own."""
        target = yarl.URL(url)
        if self._gateway and target.host == DiscordWebSocket.DEFAULT_GATEWAY.host:
            url = str(self._gateway.with_query(target.query))
        return await super().ws_connect(url, compress=compress)


def _no_retry_trace() -> aiohttp.TraceConfig:
    """The trace that keeps discord.py from repeating a request."""
    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(_raise_for_status)
    trace.on_request_exception.append(_raise_for_reset)
    trace.freeze()
    return trace


async def _raise_for_status(
    _: aiohttp.ClientSession, __: SimpleNamespace, params: aiohttp.TraceRequestEndParams
) -> None:
    response = params.response
    if params.url.scheme.startswith("ws") or response.status < 429:
        return
    if response.status == 429:
        raise await _rate_limit(response)
    if response.status >= 500:
        raise discord.DiscordServerError(response, await response.text(errors="replace"))


async def _raise_for_reset(
    _: aiohttp.ClientSession, __: SimpleNamespace, params: aiohttp.TraceRequestExceptionParams
) -> None:
    error = params.exception
    if not params.url.scheme.startswith("ws") and getattr(error, "errno", 0) in _RESET_BY_PEER:
        raise ConnectionReset("the connection was reset") from error


async def _rate_limit(response: aiohttp.ClientResponse) -> discord.RateLimited:
    """The limit of a 429. Without Discord's own body, Cloudflare has banned the address, for all of
    its requests."""
    try:
        body = as_mapping(await response.json(content_type=None))
    except ValueError:
        body = {}
    seconds = _retry_after(body, response)
    scope = response.headers.get("X-RateLimit-Scope", "")
    everything = body.get("global") is True or scope == "global" or "retry_after" not in body
    return GlobalRateLimit(seconds) if everything else discord.RateLimited(seconds)


def _retry_after(body: JsonObject, response: aiohttp.ClientResponse) -> float:
    """Seconds, from the body, which is exact, or from the header, which is rounded up."""
    for value in (body.get("retry_after"), response.headers.get("Retry-After")):
        if isinstance(value, int | float | str):
            try:
                return max(0.0, float(value))
            except ValueError:
                continue
    return CLOUDFLARE_PAUSE


class RestClient:
    """REST calls that raise `DeliveryError`s."""

    def __init__(self, http: HTTPClient) -> None:
        self._http = http

    async def call(
        self,
        route: Route,
        *,
        json: object = None,
        form: list[dict[str, object]] | None = None,
        repeatable: bool = True,
    ) -> JsonObject:
        """Make one call; `repeatable` when making it twice is the same as once.

        `form` is the multipart body in aiohttp's terms. Raises a `DeliveryError`.
        """
        body: dict[str, Any] = {"json": json} if json is not None and form is None else {}
        return as_mapping(await self._request(route, repeatable, form=form, **body))

    async def get_list(self, route: Route, query: Mapping[str, int | str]) -> list[JsonObject]:
        """Read a list of objects, at most 100 of them. Raises a `DeliveryError`."""
        return objects(await self._request(route, True, params=dict(query)))

    async def _request(self, route: Route, repeatable: bool, **options: Any) -> object:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await self._http.request(route, **options)
        except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
            raise delivery_error(error, repeatable=repeatable) from error
        except RuntimeError as error:  # aiohttp raises it for a closed session
            raise Transient("not connected to Discord") from error


async def fetch_file(attachment: Attachment, limit: int, api_base: str) -> bytes:
    """The bytes of an attachment, at most `limit`, from Discord's own hosts only.

    Raises `BadInput` when it is larger, `Permanent` for other hosts and deleted files, `Transient`
    when Discord did not answer.
    """
    check_size(attachment, limit)
    url = _file_url(attachment.ref, api_base)
    if url is None:
        raise Permanent("attachments are not fetched from outside Discord")
    try:
        async with (
            asyncio.timeout(FETCH_SECONDS),
            aiohttp.ClientSession() as session,
            session.get(url, allow_redirects=False) as response,
        ):
            check_status("Discord", response.status, response.headers, repeatable=True)
            if response.status != 200:
                raise Permanent(f"Discord refuses the attachment: status {response.status}")
            return await read_body(response, limit, "the attachment")
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise Transient(f"the attachment did not arrive ({type(error).__name__})") from error


def portrait_url(user: JsonObject, api_base: str) -> str:
    """The address of the picture of a user; empty for one who has none."""
    user_id, picture = identifier(user, "id"), text(user, "avatar", 100)
    if not (user_id.isdecimal() and PORTRAIT.fullmatch(picture)):
        return ""
    home = str(yarl.URL(api_base).origin()) if api_base else CDN
    return f"{home}/avatars/{user_id}/{picture}.png?size={PORTRAIT_PIXELS}"


def _file_url(ref: str, api_base: str) -> yarl.URL | None:
    """The address, None unless it is one of Discord's or of the configured server."""
    try:
        url, configured = yarl.URL(ref), yarl.URL(api_base)
    except ValueError:
        return None
    if url.scheme == "https" and url.host in FILE_HOSTS and url.explicit_port is None:
        return url
    own = (configured.scheme, configured.host, configured.port)
    return url if api_base and (url.scheme, url.host, url.port) == own else None
