"""The checks of every REST request: its name, a pending fault, the token, the rate limit."""

import asyncio
import json
import math
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

from simulators.base import ApiCall, Fault
from simulators.discord.errors import (
    ENTITY_TOO_LARGE,
    INVALID_JSON,
    NOT_FOUND,
    UNAUTHORIZED,
    ApiError,
    invalid_form,
    refuse,
)
from simulators.discord.validate import MAX_FILE_BYTES, MAX_FILES
from simulators.discord.world import StoredFile
from simulators.local_server import cut_within, hang_up

API: Final = "/api/v10"
MAX_BUCKETS: Final = 1_000
BODY: Final = web.RequestKey("body", object)
"""The key of a request's JSON, for the record of calls."""
GOOGLE_FRONT_END: Final = {"Via": "1.1 google"}
"""Discord's answers pass Google's front end; clients tell its 429 from Cloudflare's by this."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Requests per route and channel: `limit` in every `window` seconds."""

    limit: int = 50
    window: float = 1.0


@dataclass(slots=True)
class _Bucket:
    remaining: int
    resets_at: float


@dataclass(slots=True)
class RateLimiter:
    """Fixed windows per route and major parameter, as Discord's headers describe them."""

    rule: RateLimit
    _buckets: "OrderedDict[str, _Bucket]" = field(default_factory=OrderedDict)

    def take(self, key: str) -> tuple[bool, dict[str, str]]:
        """Return True if the request is allowed, and the headers of the response."""
        now = time.time()
        bucket = self._buckets.get(key)
        if bucket is None or now >= bucket.resets_at:
            bucket = _Bucket(self.rule.limit, now + self.rule.window)
            self._buckets[key] = bucket
            while len(self._buckets) > MAX_BUCKETS:
                self._buckets.popitem(last=False)
        allowed = bucket.remaining > 0
        bucket.remaining -= 1 if allowed else 0
        after = max(0.001, bucket.resets_at - now)
        return allowed, {
            "X-RateLimit-Limit": str(self.rule.limit),
            "X-RateLimit-Remaining": str(bucket.remaining),
            "X-RateLimit-Reset": f"{bucket.resets_at:.3f}",
            "X-RateLimit-Reset-After": f"{after:.3f}",
            "X-RateLimit-Bucket": f"{abs(hash(key)):x}",
        }


def method_name(request: web.Request) -> str:
    """The request as faults and calls name it: `POST /channels/{id}/messages`."""
    resource = request.match_info.route.resource
    path = resource.canonical if resource is not None else request.path
    path = path.removeprefix(API)
    return f"{request.method} {re.sub(r'{(channel|message|app|guild|user)}', '{id}', path)}"


def rate_limit_key(request: web.Request) -> str:
    """Route and major parameter: channel, guild, webhook."""
    info = request.match_info
    major = info.get("channel") or info.get("guild") or info.get("token", "")
    return f"{method_name(request)}:{major}"


def json_answer(data: object, status: int = 200) -> web.Response:
    """A JSON answer with exactly the content type the client libraries insist on."""
    return web.Response(
        body=json.dumps(data).encode(), status=status, headers={"Content-Type": "application/json"}
    )


def too_many(retry_after: float, *, scope: str) -> web.Response:
    """A 429 in Discord's shape; `scope` is "user", "shared" or "global"."""
    answer = json_answer(
        {
            "message": "You are being rate limited.",
            "retry_after": retry_after,
            "global": scope == "global",
        },
        429,
    )
    answer.headers["Retry-After"] = str(math.ceil(retry_after))
    answer.headers["X-RateLimit-Scope"] = scope
    if scope == "global":
        answer.headers["X-RateLimit-Global"] = "true"
    return answer


class Front:
    """The middleware in front of every handler."""

    def __init__(
        self,
        *,
        take_fault: Callable[[str], Fault | None],
        record: Callable[[ApiCall], None],
        token: Callable[[], str],
        limiter: RateLimiter,
    ) -> None:
        self._take_fault = take_fault
        self._record = record
        self._token = token
        self._limiter = limiter

    @web.middleware
    async def serve(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Serve one request."""
        if not request.path.startswith(API):
            return await handler(request)
        name = method_name(request)
        at = asyncio.get_running_loop().time()
        fault = self._take_fault(name)
        answer = await self._with_fault(request, handler, fault)
        if not answer.prepared:
            answer.headers.update(GOOGLE_FRONT_END)
        self._record(ApiCall(name, await logged_body(request), answer.status, at))
        return answer

    async def _with_fault(
        self, request: web.Request, handler: Handler, fault: Fault | None
    ) -> web.StreamResponse:
        if fault is None:
            return await self._serve(request, handler)
        if fault.kind == "rate_limit":
            return too_many(fault.retry_after, scope="global" if fault.method == "*" else "user")
        if fault.kind == "server_error":
            return json_answer({"message": "500: Internal Server Error", "code": 0}, 500)
        if fault.kind == "slow":
            await asyncio.sleep(fault.delay)
            return await self._serve(request, handler)
        await request.read()
        if fault.kind == "drop_within":
            return await cut_within(request, await self._serve(request, handler))
        if fault.kind == "drop_after":
            await self._serve(request, handler)
        return hang_up(request)

    async def _serve(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        allowed, headers = self._limiter.take(rate_limit_key(request))
        if not allowed:
            answer: web.StreamResponse = too_many(
                float(headers["X-RateLimit-Reset-After"]), scope="user"
            )
        else:
            answer = await self._answer(request, handler)
        answer.headers.update(headers)
        return answer

    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            self._check_token(request)
            return await handler(request)
        except ApiError as error:
            return json_answer(error.body(), error.status)
        except web.HTTPNotFound:
            return json_answer(refuse(NOT_FOUND).body(), 404)
        except web.HTTPMethodNotAllowed:
            return json_answer({"message": "405: Method Not Allowed", "code": 0}, 405)

    def _check_token(self, request: web.Request) -> None:
        by_interaction_token = request.path.startswith((f"{API}/webhooks/", f"{API}/interactions/"))
        if by_interaction_token or request.path == f"{API}/gateway":
            return
        if request.headers.get("Authorization") != f"Bot {self._token()}":
            raise refuse(UNAUTHORIZED)


async def logged_body(request: web.Request) -> Mapping[str, object]:
    """The JSON of a request as it is remembered; empty where there is none."""
    body = request.get(BODY)
    return body if isinstance(body, dict) else {}


async def read_json(request: web.Request) -> object:
    """The JSON body. Raises `ApiError`."""
    raw = await request.read()
    if not raw:
        return {}
    try:
        body = json.loads(raw)
    except ValueError:
        raise refuse(INVALID_JSON) from None
    request[BODY] = body
    return body


async def read_object(request: web.Request) -> dict[str, object]:
    """The JSON body, which has to be an object. Raises `ApiError`."""
    body = await read_json(request)
    if not isinstance(body, dict):
        raise invalid_form("_", "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
    return body


async def read_message(
    request: web.Request, next_id: Callable[[], str]
) -> tuple[dict[str, object], tuple[StoredFile, ...]]:
    """A message's body and files, sent as JSON or as multipart. Raises `ApiError`."""
    if not request.content_type.startswith("multipart/"):
        return await read_object(request), ()
    body: dict[str, object] = {}
    files: list[StoredFile] = []
    form = await request.post()
    for name, value in form.items():
        if name == "payload_json":
            body = _payload_json(value)
        elif isinstance(value, web.FileField) and re.fullmatch(r"files\[\d+\]", name):
            data = value.file.read()
            if len(data) > MAX_FILE_BYTES or len(files) >= MAX_FILES:
                raise refuse(ENTITY_TOO_LARGE)
            files.append(StoredFile(next_id(), value.filename, value.content_type, data))
        else:
            raise invalid_form(name, "BASE_TYPE_UNKNOWN", "Unknown form field")
    request[BODY] = body
    return body, tuple(files)


def _payload_json(value: object) -> dict[str, object]:
    try:
        body = json.loads(value) if isinstance(value, str | bytes | bytearray) else None
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise refuse(INVALID_JSON)
    return body
