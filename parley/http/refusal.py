"""The responses of the local listener to refused requests, each with its reason and advice."""

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response
from starlette.types import Scope

from parley.http.asgi import exchange_of, headers_of
from parley.http.refusal_page import refusal_body

ADVICE: Final[Mapping[str, str]] = {
    "token_missing": "Open the login link that `parley run` prints, or send server.token as "
    "Authorization: Bearer.",
    "token_wrong": "The token or login link is wrong, used or too old.",
    "forwarded_without_token": "Requests through a proxy need server.token.",
    "bad_host": "Send a path, and this host in one Host header.",
    "strange_host": "Use the host name localhost, or set server.token.",
    "unknown_host": "This host is not known. Use the host name localhost, or let the operator of "
    "the program add this one to server.hosts, or set console.url.",
    "too_many_requests": "Too many requests from this address at once; try again.",
    "compressed": "Send the body without Content-Encoding.",
    "too_large": "The body is too large.",
    "strange_origin": "Requests from pages of other sites are refused. A proxy must pass the "
    "Host header on.",
    "not_found": "This path does not exist.",
    "method_not_allowed": "This path does not accept this method.",
    "malformed": "The request is not valid HTTP/1.1.",
    "head_too_large": "The headers of the request are too large, or too many.",
    "failed": "An internal error occurred; the log has the details.",
}


def refusal(
    scope: Scope, status: int, reason: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response of a refusal, whose reason is audited where its status is."""
    exchange_of(scope).reason = reason
    accept = headers_of(scope).get("accept", "")
    body = refusal_body(reason, ADVICE.get(reason, ""), accept)
    fields = {"Content-Type": f"{body.content_type}; charset=utf-8"}
    if status == 401:
        fields["WWW-Authenticate"] = "Bearer"
    return Response(body.text, status, {**fields, **(headers or {})})
