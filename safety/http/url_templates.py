"""Address templates with placeholders, such as https://api.example.org/issues/{number}."""

import re
from collections.abc import Collection, Mapping
from typing import Final
from urllib.parse import quote, urlsplit

from safety.http.addresses import HostRule, read_host

MAX_TEMPLATE: Final = 1_000
_PLACE: Final = re.compile(r"\{([^{}]*)\}")


def check_template(template: str, allowed: Collection[frozenset[str]]) -> None:
    """Raise ValueError unless it is an http address with one of the `allowed` sets of placeholders,
    all of them after its host."""
    parts = urlsplit(template)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        raise ValueError("should be an address that begins with https:// (or http://)")
    if len(template) > MAX_TEMPLATE:
        raise ValueError(f"is longer than {MAX_TEMPLATE} characters")
    if _PLACE.search(parts.netloc):
        raise ValueError("has a placeholder in its host; only the path may have them")
    if set(_PLACE.findall(template)) not in allowed:
        ways = " or ".join(", ".join(f"{{{name}}}" for name in sorted(way)) for way in allowed)
        raise ValueError(f"should hold {ways}, and no other placeholder")
    host_of(template)


def host_of(template: str) -> HostRule:
    """Return the rule for exactly its host and port. Raises ValueError for an unusual notation."""
    parts = urlsplit(template)
    host, _ = read_host(parts.hostname or "")
    return HostRule(host, port=parts.port)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return the address with each value in its place, quoted as one segment of the path."""
    return _PLACE.sub(lambda place: quote(values[place[1]], safe=""), template)
