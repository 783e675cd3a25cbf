"""HTTP mode: events, commands and button presses arrive as signed requests on one path."""

import json
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias
from urllib.parse import parse_qsl

from adapters.shared.json_readers import JsonObject, text
from adapters.shared.signatures import verify_slack
from gateway.ports import AdapterContext, Liveness, WebhookRequest, WebhookResponse

Take: TypeAlias = Callable[[dict[str, object]], Awaitable[bool]]
"""Stores a delivery; True when it may be acknowledged."""

MAX_BODY: Final = 1_000_000
"""Bytes of a request; Slack's largest are interactive payloads of about 250 kB."""
MAX_FIELDS: Final = 100


class WebhookConnection:
    """One path of the public listener."""

    def __init__(self, context: AdapterContext, path: str, signing_secret: str, take: Take) -> None:
        self._routes = context.webhooks
        self._clock = context.clock
        self._path = path
        self._secret = signing_secret
        self._take = take

    async def open(self) -> None:
        """Serve the path. Raises `ConfigurationError` when it is taken."""
        self._routes.add(self._path, self.handle, max_body=MAX_BODY, proof="X-Slack-Signature")

    async def close(self) -> None:
        """Stop serving the path."""
        self._routes.remove(self._path)

    def alive(self) -> Liveness:
        """Always alive: requests arrive at the public listener."""
        return Liveness(True)

    async def handle(self, request: WebhookRequest) -> WebhookResponse:
        """Answer one request. Slack repeats a request that is answered with another status than
        200."""
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


def decode(body: bytes) -> JsonObject | None:
    """The JSON object or the form in a request's body; None for anything else.

    slack-bolt's own parser mistakes a slash command with the word "payload" in its text for an
    interactive payload.
    """
    try:
        if body.lstrip()[:1] == b"{":
            decoded = json.loads(body)
        else:
            form = body.decode("utf-8")
            decoded = dict(parse_qsl(form, keep_blank_values=True, max_num_fields=MAX_FIELDS))
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, dict) else None
