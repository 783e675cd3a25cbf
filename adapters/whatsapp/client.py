"""The Graph API over httpx2: each call is one request, never repeated, with typed errors."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

import httpx2

from adapters.shared.http import retry_after
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
from gateway.errors import Ambiguous, BadInput, Permanent, Transient

MEDIA_HOSTS: Final = frozenset({"graph.facebook.com", "lookaside.fbsbx.com"})
"""The hosts of Meta's files (Meta, "Media": media URLs are under lookaside.fbsbx.com)."""

MAX_ANSWER: Final = 1024 * 1024
"""Bytes of an answer other than a file."""

TIMEOUT: Final = httpx2.Timeout(30.0, connect=10.0, pool=10.0)


class GraphClient:
    """Requests on behalf of one business phone number."""

    def __init__(self, settings: WhatsAppSettings) -> None:
        self._settings = settings
        self._root = f"{settings.base_url}/{settings.api_version}"
        self._own_host = _host_and_port(settings.base_url)
        self._client: httpx2.AsyncClient | None = None

    async def close(self) -> None:
        """Close every connection; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def number(self, *, proven: bool = False) -> JsonObject:
        """Meta's description of the number. `proven` sends a proof of the app secret, which Meta
        refuses when it is not that of the token's app. Raises `GraphRefused`, `Transient`,
        `Ambiguous`."""
        query = {"fields": "id,display_phone_number,verified_name,quality_rating"}
        if proven:
            query["appsecret_proof"] = self._proof()
        url = httpx2.URL(f"{self._root}/{self._settings.phone_number_id}", params=query)
        return await self._request(httpx2.Request("GET", url))

    async def token(self) -> JsonObject:
        """Meta's description of the access token, in `data`. Raises `GraphRefused`, `Transient`,
        `Ambiguous`."""
        token = self._settings.access_token.get_secret_value()
        url = httpx2.URL(f"{self._root}/debug_token", params={"input_token": token})
        return await self._request(httpx2.Request("GET", url))

    async def numbers(self, account: str, limit: int) -> JsonObject:
        """The phone numbers of a WhatsApp account, in `data`. Raises `GraphRefused`, `Transient`,
        `Ambiguous`."""
        query = {"fields": "id,display_phone_number,verified_name", "limit": str(limit)}
        url = httpx2.URL(f"{self._root}/{quote(account, safe='')}/phone_numbers", params=query)
        return await self._request(httpx2.Request("GET", url))

    def _proof(self) -> str:
        """The access token signed with the app secret (Graph API, "Secure Graph API Calls")."""
        secret = self._settings.app_secret.get_secret_value().encode()
        token = self._settings.access_token.get_secret_value().encode()
        return hmac.new(secret, token, hashlib.sha256).hexdigest()

    async def post_message(self, body: Mapping[str, object]) -> JsonObject:
        """Post to `messages`. Raises `GraphRefused`, `Transient`, `Ambiguous`."""
        url = f"{self._root}/{self._settings.phone_number_id}/messages"
        return await self._request(httpx2.Request("POST", url, json=body))

    async def upload(self, name: str, mime: str, data: bytes) -> str:
        """Upload a file; returns its media id. An upload alone delivers nothing, so a lost answer
        is `Transient`.
        """
        request = httpx2.Request(
            "POST",
            f"{self._root}/{self._settings.phone_number_id}/media",
            data={"messaging_product": "whatsapp", "type": mime},
            files={"file": (name, data, mime)},
        )
        try:
            answer = await self._request(request)
        except Ambiguous as error:
            raise Transient(str(error)) from error
        media_id = identifier(answer, "id", 128)
        if not media_id:
            raise Permanent("WhatsApp: an upload was answered without a media id")
        return media_id

    async def download(self, media_id: str, limit: int) -> bytes:
        """The bytes of a received file. Raises `BadInput` beyond `limit`, `DeliveryError`."""
        url = (
            f"{self._root}/{quote(media_id, safe='')}"
            f"?phone_number_id={self._settings.phone_number_id}"
        )
        try:
            described = await self._request(httpx2.Request("GET", url))
            size = number(described, "file_size")
            if size is not None and size > limit:
                raise BadInput(f"WhatsApp: the file has {size:.0f} bytes, more than {limit}")
            return await self._bytes(text(described, "url", 4096), limit)
        except Ambiguous as error:
            raise Transient(str(error)) from error

    async def _bytes(self, url: str, limit: int) -> bytes:
        if not self._may_fetch(url):
            raise Permanent("WhatsApp: the file's address is not one of Meta's")
        pieces = bytearray()
        try:
            request = self._signed(httpx2.Request("GET", url))
            response = await self._http().send(request, stream=True)
            try:
                if response.status_code != 200:
                    raise GraphRefused(GraphFailure(response.status_code, message="no file"))
                async for piece in response.aiter_bytes():
                    pieces += piece
                    if len(pieces) > limit:
                        raise BadInput(f"WhatsApp: the file has more than {limit} bytes")
            finally:
                await response.aclose()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Transient(
                f"WhatsApp: the file did not arrive ({type(error).__name__})"
            ) from error
        return bytes(pieces)

    async def _request(self, request: httpx2.Request) -> JsonObject:
        try:
            response = await self._http().send(self._signed(request), stream=True)
            try:
                data = bytearray()
                async for piece in response.aiter_bytes():
                    data += piece
                    if len(data) > MAX_ANSWER:
                        raise Ambiguous(f"WhatsApp: the answer has more than {MAX_ANSWER} bytes")
            finally:
                await response.aclose()
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            raise Transient(f"WhatsApp cannot be reached ({type(error).__name__})") from error
        except httpx2.HTTPError as error:
            raise Ambiguous(f"WhatsApp did not answer ({type(error).__name__})") from error
        return _decoded(response, bytes(data))

    def _http(self) -> httpx2.AsyncClient:
        if self._client is None:
            local = is_loopback(urlsplit(self._settings.base_url).hostname or "")
            self._client = httpx2.AsyncClient(
                timeout=TIMEOUT,
                trust_env=not local,
                follow_redirects=False,
                limits=httpx2.Limits(max_connections=20, max_keepalive_connections=5),
            )
        return self._client

    def _signed(self, request: httpx2.Request) -> httpx2.Request:
        token = self._settings.access_token.get_secret_value()
        request.headers["Authorization"] = f"Bearer {token}"
        request.headers["User-Agent"] = "parley"
        # Without a timeout of its own, httpx2 would wait for a prepared request for ever.
        request.extensions.setdefault("timeout", TIMEOUT.as_dict())
        return request

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


def _decoded(response: httpx2.Response, data: bytes) -> JsonObject:
    try:
        answer = json.loads(data) if data else {}
    except (ValueError, RecursionError):
        answer = None
    if response.status_code == 200 and isinstance(answer, dict) and "error" not in answer:
        return answer
    if response.status_code == 200:
        raise Ambiguous("WhatsApp: the answer cannot be read")
    error = mapping(as_mapping(answer), "error")
    raise GraphRefused(
        GraphFailure(
            status=response.status_code,
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
