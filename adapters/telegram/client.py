"""python-telegram-bot over aiohttp, with raw JSON answers.

The library's own transport is httpx, which uses more than half of the processor time of a bot that
does nothing else. Here one aiohttp session per request object keeps its connections, a body is one
JSON document instead of a form, and errors tell whether a request can have reached Telegram.
`benchmarks/echo_bot.py` measures both.
"""

import io
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast

import aiohttp
from yarl import URL

from adapters.shared.http import read_body, reason_of
from adapters.shared.json_readers import as_mapping, mapping, number
from adapters.telegram.library import (
    BadRequest,
    BaseRequest,
    Bot,
    ChatMigrated,
    EndPointNotFound,
    InvalidToken,
    NetworkError,
    RequestData,
    TimedOut,
)
from adapters.telegram.upgraded_groups import MessageLeftBehind, UpgradedGroups
from db.errors import StoreUnavailable
from gateway.errors import UsageError

MAX_ANSWER: Final = 32 * 1024 * 1024
"""Bytes of one answer; 100 updates with long texts stay far below."""
CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 20.0
UPLOAD_SECONDS: Final = 120.0
KEEPALIVE_SECONDS: Final = 50.0
MAX_KNOWN: Final = 64
_to_json: Final = json.JSONEncoder(separators=(",", ":")).encode
_JSON_HEADERS: Final = {"Content-Type": "application/json"}


class NotSent(NetworkError):
    """The request cannot have reached Telegram: there was no connection."""

    __slots__ = ()


class ServerFailed(NetworkError):
    """Telegram answered with a 5xx status."""

    __slots__ = ("status",)

    def __init__(self, status: int) -> None:
        super().__init__(f"Telegram answered with status {status}")
        self.status = status


class RateLimited(NetworkError):
    """Telegram answered 429. The library's own `RetryAfter` warns whenever it is made."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Telegram asks to wait {seconds:g} s")
        self.seconds = seconds


class GroupUpgraded(NetworkError):
    """The group has another id since it became a supergroup. Nothing was sent; the same call
    reaches the supergroup."""

    __slots__ = ()


class JsonRequestData:
    """Stands for the library's `RequestData` where every value is JSON already. `RequestData`
    searches all values for files and for objects of the library."""

    __slots__ = ("parameters",)
    contains_files: Final = False

    def __init__(self, parameters: Mapping[str, object]) -> None:
        self.parameters = parameters


class AiohttpRequest(BaseRequest):
    """The HTTP side of a `telegram.Bot`; proxies of the environment are not used."""

    __slots__ = ("_connections", "_read", "_session", "_timeouts", "_urls")

    def __init__(self, connections: int = 64, read_timeout: float = READ_SECONDS) -> None:
        self._connections = connections
        self._read = read_timeout
        self._session: aiohttp.ClientSession | None = None
        self._urls: dict[str, URL] = {}
        self._timeouts: dict[tuple[float, float], aiohttp.ClientTimeout] = {}

    @property
    def read_timeout(self) -> float | None:
        """Seconds to wait for an answer when a call does not say otherwise."""
        return self._read

    async def initialize(self) -> None:
        """Open the session; twice is fine."""
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=self._connections, keepalive_timeout=KEEPALIVE_SECONDS
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": self.USER_AGENT},
                trust_env=False,
            )

    async def shutdown(self) -> None:
        """Close every connection; twice is fine."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | JsonRequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """One request. Raises one of the errors above, `TimedOut` or `NetworkError`."""
        body, headers, upload = _encoded(request_data)
        read = _seconds(read_timeout, self._read)
        connect = _seconds(connect_timeout, CONNECT_SECONDS)
        status, answer = await self._exchange(
            method, url, body, headers, self._timeout(connect, read, upload=upload)
        )
        if status >= 500:
            raise ServerFailed(status)
        if status == 429:
            raise RateLimited(_retry_after(answer))
        return status, answer

    async def _exchange(
        self,
        method: str,
        url: str,
        body: "bytes | aiohttp.FormData | None",
        headers: dict[str, str] | None,
        timeout: aiohttp.ClientTimeout,
        limit: int = MAX_ANSWER,
    ) -> tuple[int, bytes]:
        if self._session is None:
            raise NotSent("the connection to Telegram is closed")
        try:
            async with self._session.request(
                method,
                self._url(url),
                data=body,
                headers=headers,
                timeout=timeout,
                allow_redirects=False,
            ) as answer:
                if (answer.content_length or 0) > limit:
                    raise UsageError(f"Telegram's answer is larger than {limit} bytes")
                return answer.status, await read_body(answer, limit, "Telegram's answer")
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise NotSent(str(reason_of(error))) from error
        except TimeoutError as error:
            raise TimedOut("Telegram did not answer in time") from error
        except (aiohttp.ClientError, OSError) as error:
            raise NetworkError(str(reason_of(error))) from error

    async def download(self, url: str, limit: int) -> tuple[int, bytes]:
        """GET a file of at most `limit` bytes. Raises `BadInput` when there is more."""
        timeout = self._timeout(CONNECT_SECONDS, UPLOAD_SECONDS, upload=False)
        return await self._exchange("GET", url, None, None, timeout, limit)

    def _url(self, url: str) -> URL:
        known = self._urls.get(url)
        if known is None:
            known = URL(url, encoded=True)
            if len(self._urls) < MAX_KNOWN:
                self._urls[url] = known
        return known

    def _timeout(self, connect: float, read: float, *, upload: bool) -> aiohttp.ClientTimeout:
        total = connect + read + (UPLOAD_SECONDS if upload else 0)
        known = self._timeouts.get((connect, total))
        if known is None:
            known = aiohttp.ClientTimeout(total=total, connect=connect)
            if len(self._timeouts) < MAX_KNOWN:
                self._timeouts[connect, total] = known
        return known


def _seconds(value: object, default: float) -> float:
    """The library's value, or `default` for its own marker."""
    return float(value) if isinstance(value, int | float) else default


def _retry_after(answer: bytes) -> float:
    """The seconds to wait that an answer names, otherwise 1."""
    try:
        parameters = mapping(as_mapping(json.loads(answer)), "parameters")
    except (ValueError, RecursionError):
        return 1.0
    return max(0.0, number(parameters, "retry_after") or 1.0)


def _encoded(
    data: RequestData | JsonRequestData | None,
) -> tuple["bytes | aiohttp.FormData | None", dict[str, str] | None, bool]:
    """The body, its headers, and whether it carries files."""
    if data is None:
        return None, None, False
    if isinstance(data, JsonRequestData) or not data.contains_files:
        body = _to_json(data.parameters).encode()
        return body, _JSON_HEADERS, False
    form = aiohttp.FormData()
    for name, value in data.json_parameters.items():
        form.add_field(name, value)
    for name, (filename, content, mime) in data.multipart_data.items():
        stream = io.BytesIO(content) if isinstance(content, bytes) else content
        form.add_field(name, stream, filename=filename, content_type=mime)
    return form, None, True


class RawBot(Bot):
    """A `telegram.Bot` whose answers stay JSON.

    The library would build an `Update` of each event and a `Message` of each answer, which nothing
    here uses. The token check, URLs, encoding and errors are the library's.
    """

    _groups: UpgradedGroups | None = None

    def translate(self, groups: UpgradedGroups) -> None:
        """Translate the ids of groups that became supergroups from now on."""
        self._groups = groups

    async def call(
        self, method: str, data: dict[str, object], read_timeout: float | None = None
    ) -> Any:
        """Call a Bot API method by name, without files. Raises a `telegram.error.TelegramError`."""
        if read_timeout is not None:  # a poll, which has a connection of its own
            return await self._request_api(method, data, read_timeout)
        return await self._in_chat(
            data,
            lambda body: self.request.post(
                f"{self.base_url}/{method}", cast("RequestData", JsonRequestData(body))
            ),
        )

    async def upload(self, method: str, data: dict[str, object]) -> Any:
        """Call a Bot API method with a file among its data. Raises as `call` does."""
        return await self._in_chat(data, lambda body: self._request_api(method, body, None))

    async def _in_chat(
        self, data: dict[str, object], request: Callable[[dict[str, object]], Awaitable[object]]
    ) -> object:
        """Make a request under the present id of its chat. Raises `GroupUpgraded` when it had
        another id until now: the same call then succeeds."""
        groups, former = self._groups, data.get("chat_id")
        if groups is None or former is None:
            return await request(data)
        try:
            body, present = await groups.addressed(data)
        except StoreUnavailable as error:
            raise NotSent("the store is unavailable") from error
        except MessageLeftBehind:
            raise BadRequest("message to edit or to delete not found: it is older") from None
        try:
            return groups.answered(await request(body), former, present)
        except ChatMigrated as error:
            new = error.new_chat_id
            if present or type(former) is not int or not await groups.learn(former, new):
                raise BadRequest(f"the chat has another id again: {new}") from error
            raise GroupUpgraded("the group became a supergroup") from error

    async def _request_api(
        self, method: str, data: dict[str, object], read_timeout: float | None
    ) -> Any:
        longer = BaseRequest.DEFAULT_NONE if read_timeout is None else read_timeout
        try:
            return await self.do_api_request(_unlisted(method), data, read_timeout=longer)
        except EndPointNotFound as error:  # each method here exists: the token is revoked
            raise InvalidToken(str(error)) from error


def _unlisted(method: str) -> str:
    """Return another spelling of a method's name, which the library also takes: with the usual one
    it warns at each call that it has a method, whose answer would be an object."""
    return re.sub("([A-Z])", r"_\1", method)


def make_bot(token: str, base_url: str) -> RawBot:
    """A bot for the Bot API server at `base_url`, with a connection of its own for polling."""
    return RawBot(
        token,
        base_url=f"{base_url}/bot",
        base_file_url=f"{base_url}/file/bot",
        request=AiohttpRequest(),
        get_updates_request=AiohttpRequest(connections=2),
    )
