"""Addresses as people may see them: without user, query and fragment, and in the path plain words
only. Keys of services often stand in their addresses.

A part of a path is judged by its form: a plain word is short, has letters of one case only, and can
be spoken; a version has at most three digits. Everything else is hidden. References to variables
(`${NAME}`) and placeholders (`{number}`) hold no secret and stay, as does the path of a file.
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

HIDDEN: Final = "…"
MAX_ADDRESS: Final = 2_000
_LEAST: Final = 12
"""Characters of a hidden part that a log is searched for: shorter ones are in other words."""
_FILE_SCHEMES: Final = frozenset({"sqlite", "file"})

_IN_TEXT: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s\"'<>`]{1,10000}")
_REFERENCE: Final = re.compile(r"\$\{[^{}\s]{1,200}\}|\{[A-Za-z_]{1,40}\}")
_ONE_HOST: Final = (
    r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._*-]{1,253}|\$\{[^{}\s]{1,200}\})?"
    r"(?::[0-9]{1,5}|:\$\{[^{}\s]{1,200}\})?"
)
_HOST: Final = re.compile(rf"{_ONE_HOST}(?:,{_ONE_HOST}){{0,9}}")
_SHORT_WORD: Final = re.compile(r"[A-Za-z]?[a-z]{1,4}")
"""Of a word such as `mcp`, which has no vowels."""
_WORD: Final = re.compile(
    r"(?![A-Za-z]{0,12}[^AEIOUYaeiouy]{5})(?![A-Za-z]{0,12}[AEIOUaeiou]{4})"
    r"(?=[A-Za-z]{0,12}[AEIOUYaeiouy])[A-Za-z][a-z]{1,11}"
)
_VERSION: Final = re.compile(r"v?[0-9]{1,3}|v[0-9](?:\.[0-9])?(?:alpha|beta)?[0-9]?")


def shown_address(address: str) -> str:
    """Return an address as people may see it, with `…` for what is hidden; a text without `://`
    is none, and stays."""
    if "://" not in address:
        return address
    scheme, _, rest = address.partition("://")
    rest, _, fragment = rest.partition("#")
    rest, _, query = rest.partition("?")
    place, slash, path = rest.partition("/")
    user, at, host = place.rpartition("@")
    if len(address) > MAX_ADDRESS or not _HOST.fullmatch(host):
        return f"{scheme}://{HIDDEN}"
    is_file = scheme.lower() in _FILE_SCHEMES
    parts = [part if is_file or _is_plain(part) else HIDDEN for part in path.split("/")]
    name, _, password = user.partition(":")
    is_open = bool(password) and _is_reference(password) and _is_plain(name)
    shown_user = user if is_open or _is_reference(user) else HIDDEN
    shown_query = query if all(map(_is_open, query.split("&"))) else HIDDEN
    return "".join(
        (
            f"{scheme}://{shown_user}{at}{host}{slash}{'/'.join(parts)}",
            f"?{shown_query}" if query else "",
            f"#{HIDDEN}" if fragment else "",
        )
    )


def with_shown_addresses(text: str) -> str:
    """Return a text with its addresses as people may see them."""
    return _IN_TEXT.sub(lambda match: shown_address(match[0]), text) if "://" in text else text


def without_secrets(text: str) -> str:
    """Return a text with its addresses as people may see them, and without recognised secrets."""
    from safety.secret_detection.detect import redact_secrets  # noqa: PLC0415 - slow to import

    return redact_secrets(with_shown_addresses(text)).text


def hidden_parts(address: str) -> Iterator[str]:
    """Yield the password of an address and what looks generated in it, as it is written and
    decoded: for the redaction of logs."""
    from safety.secret_detection.plausibility import looks_random  # noqa: PLC0415 - slow to import

    try:
        parts = urlsplit(address)
        password = parts.password or ""
    except ValueError:
        return
    if password:
        yield from {password, unquote(password)}
    others = [parts.username or "", parts.fragment]
    if parts.scheme.lower() not in _FILE_SCHEMES:
        others += parts.path.split("/")
    others += [pair.partition("=")[2] for pair in parts.query.split("&")]
    for text in others:
        if len(text) >= _LEAST and not _is_plain(text) and looks_random(unquote(text), _LEAST):
            yield from {text, unquote(text)}


def _is_reference(text: str) -> bool:
    return not text or bool(_REFERENCE.fullmatch(text))


def _is_open(pair: str) -> bool:
    """True for a parameter of a query whose value is a reference."""
    name, _, value = pair.partition("=")
    return _is_plain(name) and bool(value) and _is_reference(value)


def _is_plain(part: str) -> bool:
    forms = (_SHORT_WORD, _WORD, _VERSION)
    return _is_reference(part) or any(form.fullmatch(part) for form in forms)
