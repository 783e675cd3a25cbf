"""Parses the host of a request strictly, for both listeners.

RFC 9112 section 3.2 requires exactly one Host in HTTP/1.1 and 400 for anything else; RFC 3986
section 3.2.2 defines the form of a host. Forms that browsers and libraries read differently (user
information, a second Host, an absolute request target, numbers that stand for an address) are
refused rather than interpreted, because the result decides if a request addresses this machine.
"""

import ipaddress
from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from safety.http.addresses import is_loopback_name

MAX_NAME: Final = 253
"""Characters of a host name (RFC 1035 section 2.3.4, without the dot at the end)."""
MAX_LABEL: Final = 63
MAX_PORT: Final = 65_535
_DIGITS: Final = frozenset("0123456789")
_LETTERS: Final = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyz-_")
_IPV6: Final = frozenset("0123456789abcdef:.")


class Host(Struct, frozen=True):
    """A requested host: `name` in lower case, without brackets; `port` is None if there is none."""

    name: str
    port: int | None = None


def read_host(text: str) -> Host | None:
    """Return the host of a Host header, None for anything that is not exactly one host with a
    port."""
    name, port = _split(text)
    if name is None or not (port is None or _is_port(port)):
        return None
    name = name.lower()
    if name.startswith("["):
        name = name[1:-1]
        valid = _is_ipv6(name)
    else:
        valid = _is_name(name)
    return Host(name, None if port is None else int(port)) if valid else None


def is_known_host(text: str, names: Collection[str], address: str) -> bool:
    """Return True if a Host header names this program: by a name of this machine, one of `names`
    (in lower case), or the address at which the connection arrived.

    A web page makes its visitor's browser call this program under a name of its own (DNS
    rebinding); an address cannot be rebound.
    """
    host = read_host(text)
    if host is None:
        return False
    return is_loopback_name(host.name) or host.name in names or _same_address(host.name, address)


def _same_address(name: str, address: str) -> bool:
    try:
        return _plain(name) == _plain(address)
    except ValueError:
        return False


def _plain(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def is_valid_host_request(target: str, hosts: Sequence[str], *, required: bool) -> bool:
    """Return True if a request has its target in the origin form (a path), and one host at most.

    `target` is the request target as received, `hosts` are all its Host headers; HTTP/1.1 has one
    (`required`), and HTTP/1.0 may have none.
    """
    if not target.startswith("/"):
        return False
    if not hosts:
        return not required
    return len(hosts) == 1 and read_host(hosts[0]) is not None


def _split(text: str) -> tuple[str | None, str | None]:
    """Return name and port as written; the port is None if there is none, the name if invalid."""
    if text.startswith("["):
        name, bracket, rest = text.partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            return None, None
        return f"{name}]", rest[1:] if rest else None
    name, colon, port = text.partition(":")
    return name, port if colon else None


def _is_port(text: str) -> bool:
    return 0 < len(text) <= 5 and _DIGITS.issuperset(text) and 0 < int(text) <= MAX_PORT


def _is_ipv6(text: str) -> bool:
    """Return an IPv6 address without a zone."""
    if not (text and _IPV6.issuperset(text)):
        return False
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _is_name(text: str) -> bool:
    """Return a host name or an IPv4 address in its usual form.

    Browsers read a name that ends in a number as an address (WHATWG URL, "ends in a number"), and a
    name that begins with an address of this machine only looks like one.
    """
    labels = text.split(".")
    if len(text) > MAX_NAME or not all(0 < len(one) <= MAX_LABEL for one in labels):
        return False
    if not all(_LETTERS.issuperset(one) for one in labels):
        return False
    if _DIGITS.issuperset(labels[-1]) or labels[-1].startswith("0x"):
        return _is_ipv4(text)
    begins = ".".join(labels[:4])
    return not (_is_ipv4(begins) and ipaddress.IPv4Address(begins).is_loopback)


def _is_ipv4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True
