"""The responses of the local listener to refused requests, each with its reason and advice."""

import json
from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from starlette.responses import Response
from starlette.types import Scope

from gateway.languages.html_pages import words
from gateway.text import ENGLISH, Language, Text, text, verbatim
from parley.http.asgi import exchange_of, headers_of

MAX_ACCEPT: Final = 1_000
"""Characters of an `Accept` header that are read; a browser sends about 150."""
MAX_TYPES: Final = 32
HTML: Final = ("text/html", "application/xhtml+xml")
JSON: Final = ("application/json", "application/*")

TITLES: Final = {
    "token_wrong": text("This login link does not work"),
    "token_missing": text("This page needs a login link"),
    "forwarded_without_token": text("This page needs a login link"),
}
NO_PAGE: Final = text("There is no page at this address")
OTHER_TITLE: Final = text("This request was refused")
EXPLANATIONS: Final = {
    "token_wrong": text(
        "A login link works once, for ten minutes, and ends with the program that printed it. This"
        " one was used already, is too old, or is incomplete."
    ),
    "token_missing": text("This browser has not opened a login link, or its access has ended."),
    "forwarded_without_token": text("A request that comes through a proxy needs a login link."),
}
NEW_LINK: Final = text("Get a new link")
ON_THE_MACHINE: Final = text(
    "On the machine on which the assistant runs, in its folder, run this command, and open the link"
    " that it prints:"
)
IN_A_CONTAINER: Final = text(
    "In a container: `docker compose exec parley parley page --config /config/parley.yaml`. If it"
    " is not your machine, ask the person who runs the assistant."
)
PAGE: Final = """\
<!doctype html>
<html lang="{language}" dir="{direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{text}</p>
{more}</main>
</body>
</html>
"""
MORE: Final = """\
<h2>{title}</h2>
<p>{machine}</p>
<pre dir="ltr">parley page</pre>
<p>{container}</p>
"""


class RefusalBody(Struct, frozen=True):
    """A body with its content type."""

    text: str
    content_type: str


def refusal_body(
    reason: str, advice: Text, accept: str, language: Language = ENGLISH
) -> RefusalBody:
    """Return the body of a refusal, as the `Accept` header prefers it: an HTML page in a language
    that says how to get a new login link, or a JSON object with `error` and `advice`. Nothing of
    the request is repeated in it."""
    if not prefers_html(accept):
        body = json.dumps({"error": reason, "advice": advice.english})
        return RefusalBody(body, "application/json")
    title = NO_PAGE if reason == "not_found" else TITLES.get(reason, OTHER_TITLE)
    more = MORE.format(
        title=words(language, NEW_LINK),
        machine=words(language, ON_THE_MACHINE),
        container=words(language, IN_A_CONTAINER),
    )
    page = PAGE.format(
        language=language.tag,
        direction=language.direction,
        title=words(language, title),
        text=words(language, EXPLANATIONS.get(reason, advice)),
        more=more if reason in TITLES else "",
    )
    return RefusalBody(page, "text/html")


def prefers_html(accept: str) -> bool:
    """Return True if HTML is named, and no JSON with the same or a higher weight (RFC 9110 section
    12.5.1): browsers name it, programs mostly send `*/*`."""
    weights: dict[str, float] = {}
    for part in accept[:MAX_ACCEPT].lower().split(",")[:MAX_TYPES]:
        name, *parameters = (piece.strip() for piece in part.split(";"))
        weights[name] = max(weights.get(name, 0.0), _weight(parameters))
    page = max(weights.get(name, 0.0) for name in HTML)
    data = max(weights.get(name, 0.0) for name in JSON)
    return page > data


def _weight(parameters: list[str]) -> float:
    """The weight `q` of a media range, 1 without one, 0 for one that is not a number from 0 to
    1."""
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                weight = float(value[:8])
            except ValueError:
                return 0.0
            return weight if 0.0 <= weight <= 1.0 else 0.0
    return 1.0


NOTHING: Final = verbatim("")
ADVICE: Final[Mapping[str, Text]] = {
    "token_missing": text(
        "Open the login link that `parley run` prints, or send server.token as Authorization:"
        " Bearer."
    ),
    "token_wrong": text("The token or login link is wrong, used or too old."),
    "forwarded_without_token": text("Requests through a proxy need server.token."),
    "bad_host": text("Send a path, and this host in one Host header."),
    "strange_host": text("Use the host name localhost, or set server.token."),
    "unknown_host": text(
        "This host is not known. Use the host name localhost, or let the operator of the program"
        " add this one to server.hosts, or set console.url."
    ),
    "too_many_requests": text("Too many requests from this address at once; try again."),
    "compressed": text("Send the body without Content-Encoding."),
    "too_large": text("The body is too large."),
    "strange_origin": text(
        "Requests from pages of other sites are refused. A proxy must pass the Host header on."
    ),
    "not_found": text("This path does not exist. The path / leads to the console."),
    "method_not_allowed": text("This path does not accept this method."),
    "malformed": text("The request is not valid HTTP/1.1."),
    "head_too_large": text("The headers of the request are too large, or too many."),
    "failed": text("An internal error occurred; the log has the details."),
}


def refusal(
    scope: Scope, status: int, reason: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response of a refusal, whose reason is audited where its status is."""
    exchange, given = exchange_of(scope), headers_of(scope)
    exchange.reason = reason
    language = exchange.language_of(given.get("accept-language", ""))
    body = refusal_body(reason, ADVICE.get(reason, NOTHING), given.get("accept", ""), language)
    fields = {
        "Content-Type": f"{body.content_type}; charset=utf-8",
        "Vary": "Accept, Accept-Language",
    }
    if status == 401:
        fields["WWW-Authenticate"] = "Bearer"
    return Response(body.text, status, {**fields, **(headers or {})})
