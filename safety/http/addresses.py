"""Recognises public network addresses and unambiguous host names; address templates with
placeholders, such as https://api.example.org/issues/{number}."""

import re
from collections.abc import Collection, Iterable, Mapping
from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final, TypeAlias
from urllib.parse import quote, urlsplit

from msgspec import Struct

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

MAX_HOST: Final = 253
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\Z")
_NUMERIC: Final = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)\Z")


def _networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ip_network(text) for text in texts)


METADATA: Final = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192",
        "168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fe80::a9fe:a9fe",
    )
)  # fmt: skip
"""The metadata services of clouds, which give credentials: refused in every allowed network."""

_SPECIAL: Final = _networks(
    # IANA's IPv4 special-purpose registry: this network, private, shared (CGNAT), loopback,
    # link-local, protocol assignments, documentation, 6to4 relays, benchmarks, multicast, reserved.
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    # Within IPv6's global unicast space: protocol assignments (Teredo, benchmarks, ORCHID),
    # documentation, 6to4.
    "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)  # fmt: skip
_GLOBAL_IPV6: Final = IPv6Network("2000::/3")
"""The publicly routed space of IPv6; mapped, compatible and NAT64 addresses are outside of it."""


def is_public(address: Address) -> bool:
    """Return True for an address of the public internet."""
    if address in METADATA or (isinstance(address, IPv6Address) and address.scope_id):
        return False
    if isinstance(address, IPv6Address) and address not in _GLOBAL_IPV6:
        return False
    return not any(address in network for network in _SPECIAL)


def may_connect(address: Address, allowed: Iterable[Network]) -> bool:
    """Return True for a public address or one in a network that the operator named; never for a
    cloud's metadata service."""
    if address in METADATA:
        return False
    return is_public(address) or any(address in network for network in allowed)


def read_host(host: str) -> tuple[str, Address | None]:
    """Return a host in lower case without its final dot, and its address if it is one.

    `host` is as in a URL, an IPv6 address without brackets. Raises ValueError for ambiguous
    notations: octal, hexadecimal, short or decimal IPv4 addresses, zones, characters outside ASCII
    (write a name of another script as `xn--…`).
    """
    if not host.isascii():
        raise ValueError("holds characters outside ASCII; write the xn-- form")
    name = host.lower()
    if ":" in name:
        return _ipv6(name)
    name = name.removesuffix(".")
    if not 1 <= len(name) <= MAX_HOST:
        raise ValueError(f"is empty or longer than {MAX_HOST} characters")
    labels = name.split(".")
    if _NUMERIC.match(labels[-1]):
        try:
            return name, IPv4Address(name)
        except AddressValueError:
            raise ValueError("is an unusual notation of an IPv4 address") from None
    if not all(_LABEL.match(label) for label in labels):
        raise ValueError("is not a host name")
    return name, None


def _ipv6(text: str) -> tuple[str, Address]:
    try:
        address = IPv6Address(text)
    except AddressValueError:
        raise ValueError("is not an IPv6 address") from None
    if address.scope_id:
        raise ValueError("names a zone")
    return str(address), address


class AllowedHost(Struct, frozen=True):
    """An allowed host:

    `name` is exact, or with `below` any name under it. `port` is the only allowed one; None allows
    80 and 443.
    """

    name: str
    below: bool = False
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> "AllowedHost":
        """From "docs.example.org", "*.example.org", "10.1.2.3:8080" or "[fd00::1]:8080".

        Raises ValueError with what is wrong.
        """
        bracketed = re.fullmatch(r"\[([^\]]{1,60})\](?::([0-9]{1,5}))?", text)
        plain = re.fullmatch(r"(\*\.)?([^\s:/\[\]*@?#]{1,255})(?::([0-9]{1,5}))?", text)
        if bracketed:
            below, host, port = False, bracketed[1], bracketed[2]
        elif plain:
            below, host, port = bool(plain[1]), plain[2], plain[3]
        else:
            raise ValueError("should be a host such as docs.example.org or *.example.org")
        name, address = read_host(host)
        if below and (address is not None or "." not in name):
            raise ValueError("should have a domain after the star, such as *.example.org")
        if port is not None and not 1 <= int(port) <= 65_535:
            raise ValueError("names a port outside 1 to 65535")
        return cls(name, below, None if port is None else int(port))

    def covers(self, host: str, port: int) -> bool:
        """`host` as `read_host` gives it."""
        named = host.endswith(f".{self.name}") if self.below else host == self.name
        return named and (port in {80, 443} if self.port is None else port == self.port)


def is_loopback_name(name: str) -> bool:
    """True for localhost and loopback addresses, as they stand in a Host header or a setting."""
    if name.rstrip(".").lower() == "localhost":
        return True
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


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


def host_of(template: str) -> AllowedHost:
    """Return the rule for exactly its host and port. Raises ValueError for an unusual notation."""
    parts = urlsplit(template)
    host, _ = read_host(parts.hostname or "")
    return AllowedHost(host, port=parts.port)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return the address with each value in its place, quoted as one segment of the path."""
    return _PLACE.sub(lambda place: quote(values[place[1]], safe=""), template)
