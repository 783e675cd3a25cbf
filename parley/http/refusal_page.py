"""The body of a refused request to the local listener: a page for people, JSON for programs."""

import html
import json
from typing import Final

from msgspec import Struct

MAX_ACCEPT: Final = 1_000
"""Characters of an `Accept` header that are read; a browser sends about 150."""
MAX_TYPES: Final = 32
HTML: Final = ("text/html", "application/xhtml+xml")
JSON: Final = ("application/json", "application/*")

TITLES: Final = {
    "token_wrong": "This login link does not work",
    "token_missing": "This page needs a login link",
    "forwarded_without_token": "This page needs a login link",
}
OTHER_TITLE: Final = "This request was refused"
EXPLANATIONS: Final = {
    "token_wrong": (
        "A login link works once, for ten minutes, and ends with the program that printed it. This"
        " one was used already, is too old, or is incomplete."
    ),
    "token_missing": "This browser has not opened a login link, or its access has ended.",
    "forwarded_without_token": "A request that comes through a proxy needs a login link.",
}
NEW_LINK: Final = (
    "<h2>Get a new link</h2>\n"
    "<p>On the machine on which the assistant runs, in its folder, run this command, and open the"
    " link that it prints:</p>\n"
    "<pre>parley page</pre>\n"
    "<p>In a container: <code>docker compose exec parley parley page --config"
    " /config/parley.yaml</code>. If it is not your machine, ask the person who runs the"
    " assistant.</p>\n"
)
PAGE: Final = """\
<!doctype html>
<html lang="en">
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


class RefusalBody(Struct, frozen=True):
    """A body with its content type."""

    text: str
    content_type: str


def refusal_body(reason: str, advice: str, accept: str) -> RefusalBody:
    """Return the body of a refusal, as the `Accept` header prefers it: an HTML page that says how
    to get a new login link, or a JSON object with `error` and `advice`. Nothing of the request is
    repeated in it."""
    if not prefers_html(accept):
        return RefusalBody(json.dumps({"error": reason, "advice": advice}), "application/json")
    title = TITLES.get(reason, OTHER_TITLE)
    text = EXPLANATIONS.get(reason, advice)
    more = NEW_LINK if reason in TITLES else ""
    page = PAGE.format(title=html.escape(title), text=html.escape(text), more=more)
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
