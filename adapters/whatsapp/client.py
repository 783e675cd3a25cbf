"""The Graph API over aiohttp, with typed errors. A POST is sent once. aiohttp repeats a GET, which
only reads, once after a lost connection."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

import aiohttp
from msgspec import Struct
from yarl import URL

from adapters.shared.http import no_answer, read_body, retry_after
from adapters.shared.json_readers import (
    JsonObject,
    as_mapping,
    identifier,
    integer,
    items,
    mapping,
    number,
    text,
)
from adapters.whatsapp.errors import GraphFailure, GraphRefused
from adapters.whatsapp.manifest import WhatsAppSettings, is_loopback
from gateway.errors import Ambiguous, BadInput, Permanent, Transient, UsageError
from safety.http.environment_proxy import proxy_of

MEDIA_HOSTS: Final = frozenset({"graph.facebook.com", "lookaside.fbsbx.com"})
"""The hosts of Meta's files (Meta, "Media": media URLs are under lookaside.fbsbx.com)."""

MAX_ANSWER: Final = 1024 * 1024
"""Bytes of an answer other than a file."""

MAX_CONNECTIONS: Final = 20
KEEPALIVE_SECONDS: Final = 5.0
"""Seconds for which an unused connection is kept. A send over one that the other side is just
closing has no certain outcome."""
_REQUEST: Final = aiohttp.ClientTimeout(60.0, connect=10.0, sock_read=30.0)
_FILE: Final = aiohttp.ClientTimeout(300.0, connect=10.0, sock_read=30.0)
_to_json: Final = json.JSONEncoder(separators=(",", ":")).encode


class _GraphAnswer(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes


class GraphClient:
    """Requests on behalf of one business phone number."""

    def __init__(self, settings: WhatsAppSettings) -> None:
        self._settings = settings
        self._root = f"{settings.base_url}/{settings.api_version}"
        self._own_host = _host_and_port(settings.base_url)
        self._session: aiohttp.ClientSession | None = None
        self._proxies: dict[str, str | None] = {}

    async def close(self) -> None:
        """Close every connection; the next request opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def number(self, *, proven: bool = False) -> JsonObject:
        """Meta's description of the number. `proven` sends a proof of the app secret, which Meta
        refuses when it is not that of the token's app. Raises `GraphRefused`, `Transient`,
        `Ambiguous`."""
        query = {"fields": "id,display_phone_number,verified_name,quality_rating"}
        if proven:
            query["appsecret_proof"] = self._proof()
        return await self._get(self._settings.phone_number_id, query)

    async def health(self) -> JsonObject:
        """The objects that take part in sending from the number, in `health_status`: the number,
        its account, business and app. Raises `GraphRefused`, `Transient`, `Ambiguous`."""
        return await self._get(self._settings.phone_number_id, {"fields": "health_status"})

    async def token(self) -> JsonObject:
        """Meta's description of the access token, in `data`. Raises `GraphRefused`, `Transient`,
        `Ambiguous`."""
        token = self._settings.access_token.get_secret_value()
        return await self._get("debug_token", {"input_token": token})

    async def numbers(self, account: str, limit: int) -> JsonObject:
        """The phone numbers of a WhatsApp account, in `data`. Raises `GraphRefused`, `Transient`,
        `Ambiguous`."""
        query = {"fields": "id,display_phone_number,verified_name", "limit": str(limit)}
        return await self._get(f"{quote(account, safe='')}/phone_numbers", query)

    async def templates(self, account: str, name: str, limit: int) -> JsonObject:
        """The message templates of a WhatsApp account with this name or one that contains it, in
        `data`, one for each language. Raises `GraphRefused`, `Transient`, `Ambiguous`."""
        query = {"name": name, "fields": "name,language,status", "limit": str(limit)}
        return await self._get(f"{quote(account, safe='')}/message_templates", query)

    def _proof(self) -> str:
        """The access token signed with the app secret (Graph API, "Secure Graph API Calls")."""
        secret = self._settings.app_secret.get_secret_value().encode()
        token = self._settings.access_token.get_secret_value().encode()
        return hmac.new(secret, token, hashlib.sha256).hexdigest()

    async def post_message(self, body: Mapping[str, object]) -> JsonObject:
        """Post to `messages`. Raises `GraphRefused`, `Transient`, `Ambiguous`."""
        return await self._post("messages", _to_json(body).encode(), _REQUEST)

    async def upload(self, name: str, mime: str, data: bytes) -> str:
        """Upload a file; returns its media id. An upload alone delivers nothing, so a lost answer
        is `Transient`.
        """
        form = aiohttp.FormData({"messaging_product": "whatsapp", "type": mime})
        form.add_field("file", data, filename=name, content_type=mime)
        try:
            answer = await self._post("media", form, _FILE)
        except Ambiguous as error:
            raise Transient(str(error)) from error
        media_id = identifier(answer, "id", 128)
        if not media_id:
            raise Permanent("WhatsApp: an upload was answered without a media id")
        return media_id

    async def download(self, media_id: str, limit: int) -> bytes:
        """The bytes of a received file. Raises `BadInput` beyond `limit`, `DeliveryError`."""
        query = {"phone_number_id": self._settings.phone_number_id}
        try:
            described = await self._get(quote(media_id, safe=""), query)
            size = number(described, "file_size")
            if size is not None and size > limit:
                raise UsageError(f"WhatsApp: the file has {size:.0f} bytes, more than {limit}")
            return await self._file(text(described, "url", 4096), limit)
        except Ambiguous as error:
            raise Transient(str(error)) from error

    async def _file(self, url: str, limit: int) -> bytes:
        if not self._may_fetch(url):
            raise Permanent("WhatsApp: the file's address is not one of Meta's")
        try:
            answer = await self._exchange("GET", url, None, _FILE, limit)
        except BadInput as error:
            raise UsageError(f"WhatsApp: the file has more than {limit} bytes") from error
        if answer.status != 200:
            raise GraphRefused(GraphFailure(answer.status, message="no file"))
        return answer.body

    async def _get(self, path: str, query: Mapping[str, str]) -> JsonObject:
        url = URL(f"{self._root}/{path}", encoded=True).with_query(query)
        return await self._call("GET", url, None, _REQUEST)

    async def _post(
        self, edge: str, body: "bytes | aiohttp.FormData", timeout: aiohttp.ClientTimeout
    ) -> JsonObject:
        url = f"{self._root}/{self._settings.phone_number_id}/{edge}"
        return await self._call("POST", url, body, timeout)

    async def _call(
        self,
        method: str,
        url: URL | str,
        body: "bytes | aiohttp.FormData | None",
        timeout: aiohttp.ClientTimeout,
    ) -> JsonObject:
        try:
            answer = await self._exchange(method, url, body, timeout, MAX_ANSWER)
        except BadInput as error:
            raise Ambiguous(f"WhatsApp: {error}") from error
        return _decoded(answer)

    async def _exchange(
        self,
        method: str,
        url: URL | str,
        body: "bytes | aiohttp.FormData | None",
        timeout: aiohttp.ClientTimeout,
        limit: int,
    ) -> _GraphAnswer:
        """One request. Raises `Transient`, `Ambiguous`, `Permanent`, and `BadInput` for an answer
        of more than `limit` bytes."""
        token = self._settings.access_token.get_secret_value()
        headers = {"Authorization": f"Bearer {token}"}
        if isinstance(body, bytes):
            headers["Content-Type"] = "application/json"
        try:
            address = URL(url)
            async with self._http().request(
                *(method, address),
                data=body,
                headers=headers,
                timeout=timeout,
                proxy=self._proxy(address),
                allow_redirects=False,
            ) as response:
                read = await read_body(response, limit, "the answer")
                return _GraphAnswer(response.status, response.headers, read)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise no_answer("WhatsApp", error, repeatable=False) from error
        except ValueError as error:  # an address or a header that HTTP cannot carry
            raise Permanent("WhatsApp: the request cannot be written") from error

    def _http(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=MAX_CONNECTIONS, keepalive_timeout=KEEPALIVE_SECONDS
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": "parley"},
            )
        return self._session

    def _proxy(self, url: URL) -> str | None:
        """The proxy of the environment for one of Meta's hosts; none for this machine."""
        host = url.host or ""
        if host not in self._proxies:
            self._proxies[host] = None if is_loopback(host) else proxy_of(str(url))
        return self._proxies[host]

    def _may_fetch(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            there = _host_and_port(url)
        except ValueError:
            return False
        if there == self._own_host and parts.scheme == urlsplit(self._settings.base_url).scheme:
            return True
        return parts.scheme == "https" and parts.hostname in MEDIA_HOSTS and there[1] == 443


def message_id_of(answer: JsonObject) -> str:
    """The id of the message just sent. Raises `Ambiguous` when the answer names none."""
    for message in items(answer, "messages"):
        if wamid := identifier(message, "id", 512):
            return wamid
    raise Ambiguous("WhatsApp: accepted, but the answer names no message")


def _decoded(response: _GraphAnswer) -> JsonObject:
    try:
        answer = json.loads(response.body) if response.body else {}
    except (ValueError, RecursionError):
        answer = None
    if response.status == 200 and isinstance(answer, dict) and "error" not in answer:
        return answer
    if response.status == 200:
        raise Ambiguous("WhatsApp: the answer cannot be read")
    error = mapping(as_mapping(answer), "error")
    raise GraphRefused(
        GraphFailure(
            status=response.status,
            code=integer(error, "code"),
            subcode=integer(error, "error_subcode"),
            message=text(error, "message", 300),
            details=text(mapping(error, "error_data"), "details", 300),
            retry_after=retry_after(response.headers),
        )
    )


def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
