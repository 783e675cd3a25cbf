"""HTTP mode: events, commands and presses arrive as signed requests on one path."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias
from urllib.parse import parse_qsl

from adapters.shared.signatures import verify_slack
from adapters.slack.json_readers import Raw, text
from gateway.ports import Clock, WebhookRequest, WebhookResponse, WebhookRoutes

Take: TypeAlias = Callable[[dict[str, object]], Awaitable[bool]]

MAX_BODY: Final = 1_000_000
"""Bytes of a request; Slack's largest are interactive payloads of about 250 kB."""

MAX_FIELDS: Final = 100


class HttpConnection:
    """One path of the public listener."""

    def __init__(
        self, routes: WebhookRoutes, path: str, signing_secret: str, clock: Clock, take: Take
    ) -> None:
        self._routes = routes
        self._path = path
        self._secret = signing_secret
        self._clock = clock
        self._take = take
        self._closed = asyncio.Event()

    async def open(self) -> None:
        """Listen on the path. Raises `ConfigurationError` when it is taken."""
        self._routes.add(self._path, self.handle, max_body=MAX_BODY, proof="X-Slack-Signature")

    async def wait_closed(self) -> None:
        """Return after `close`."""
        await self._closed.wait()

    async def close(self) -> None:
        """Stop listening."""
        self._routes.remove(self._path)
        self._closed.set()

    async def handle(self, request: WebhookRequest) -> WebhookResponse:
        """Answer one request; anything but 200 makes Slack send it again."""
        if request.method != "POST":
            return WebhookResponse(405)
        if len(request.body) > MAX_BODY:
            return WebhookResponse(413)
        genuine = verify_slack(
            request.body,
            request.headers.get("x-slack-request-timestamp", ""),
            request.headers.get("x-slack-signature", ""),
            self._secret,
            self._clock.now().timestamp(),
        )
        if not genuine:
            return WebhookResponse(401)
        body = decode(request.body)
        if body is None:
            return WebhookResponse(400)
        if body.get("type") == "url_verification":
            return WebhookResponse(body=text(body, "challenge", 500))
        if body.get("ssl_check") == "1":
            return WebhookResponse()
        return WebhookResponse(200 if await self._take(dict(body)) else 503)


def decode(body: bytes) -> Raw | None:
    """The JSON object or the form in a request's body; None for anything else.

    Not left to slack-bolt: it takes a slash command that has the word "payload" in its text for
    an interactive payload, and loses it.
    """
    try:
        if body.lstrip()[:1] == b"{":
            decoded = json.loads(body)
        else:
            pairs = parse_qsl(
                body.decode("utf-8"), keep_blank_values=True, max_num_fields=MAX_FIELDS
            )
            decoded = dict(pairs)
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, dict) else None
