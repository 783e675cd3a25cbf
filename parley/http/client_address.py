"""The address that a request comes from, also behind proxies. Pure."""

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_HOPS: Final = 20
"""Entries of `X-Forwarded-For` that are read, from the right."""
UNKNOWN: Final = "unknown"
"""The common limit of all senders that a proxy names by something other than an address."""
IPV6_SHARE: Final = 64
"""The bits of an IPv6 prefix of one customer of a provider (RFC 6177)."""


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return addresses and networks in CIDR notation. Raises `ValueError` for anything else."""
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


def is_one_of(host: str, networks: Iterable[Network]) -> bool:
    """Return True if `host` is an address in one of the networks."""
    address = _parsed(host)
    return address is not None and _is_in(address, networks)


def rate_limit_key(host: str) -> str:
    """Return the unit of a sender's limit: an IPv4 address, or the first 64 bits of an IPv6 one."""
    address = _parsed(host)
    return UNKNOWN if address is None else _key(address)


def forwarded_for(headers: Sequence[str], trusted: Sequence[Network]) -> str:
    """Return the sender that the nearest trusted proxy names: the rightmost hop that is not a
    trusted proxy.

    `headers` are the values of `X-Forwarded-For`, in order. Empty if there is none, or if every hop
    is a trusted proxy.
    """
    if not headers:
        return ""
    hops = ",".join(headers).rsplit(",", MAX_HOPS)[-MAX_HOPS:]
    for hop in reversed(hops):
        address = _parsed(_without_port(hop.strip()))
        if address is None:
            return UNKNOWN
        if not _is_in(address, trusted):
            return _key(address)
    return ""


def _key(address: Address) -> str:
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address.packed, IPV6_SHARE), strict=False))
    return str(address)


def _is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _parsed(host: str) -> Address | None:
    """Return an address, IPv4 in IPv6 as IPv4; None for anything else."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop
