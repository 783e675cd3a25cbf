"""HTTP requests to hosts from external text, without access to internal networks.

The guard is at the connection itself: names are resolved by a resolver that refuses an answer with
any address that is not public, nothing is cached between check and use, and the address of every
socket is checked again. Redirects are followed here, and every hop is checked like the first
request. Proxies, cookies and credentials of the environment are not used.

For a host of the internal network an operator names the host in `hosts` *and* its network in
`allow_private`; neither alone is enough, and a cloud's metadata service is always refused.
"""

import asyncio
import re
import socket
from collections.abc import Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urljoin

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from msgspec import Struct
from yarl import URL

from safety.http.addresses import Address, AllowedHost, Network, may_connect, read_host
from safety.http.bounded_body import Undecodable, Unpacker

if TYPE_CHECKING:  # a type of the checker
    from _typeshed import WriteableBuffer

Method = Literal["GET", "HEAD", "POST"]

MAX_URL: Final = 2_048
MAX_ADDRESSES: Final = 16
MAX_HEADER: Final = 8_190
MAX_HEADERS: Final = 100
_CHUNK: Final = 16_384
_HEADS: Final = 131_072
"""Bytes of a response beside its body: status lines, headers, and what chunks cost."""
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_URL: Final = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<rest>[/?#].*)?", re.IGNORECASE | re.DOTALL
)
_AUTHORITY: Final = re.compile(
    r"(?:\[(?P<v6>[^\[\]:]*:[^\[\]]*)\]|(?P<name>[^:\[\]]+))(?::(?P<port>[0-9]{1,5}))?"
)
_UNSAFE: Final = re.compile(r"[\x00-\x20\x7f\\\ud800-\udfff]")

_NOT_PUBLIC: Final = "the host name resolves to an address that is not public"


class OutboundError(Exception):
    """A request was not made, or its response was refused. The text is safe for logs: it contains a
    host at most, never a path."""


class Forbidden(OutboundError):
    """The target is not allowed: scheme, host, port or address. No request was sent."""


class TooManyRedirects(OutboundError):
    """There were too many redirects."""


class TooLarge(OutboundError):
    """The response, or its decompressed form, is larger than allowed."""


class TimedOut(OutboundError):
    """No response within the total time, redirects included."""


class Unreachable(OutboundError):
    """Name resolution, connection, certificate or protocol failed."""


class OutboundPolicy(Struct, frozen=True):
    """Allowed hosts and limits.

    Without `hosts` no request is allowed. `timeout` is in seconds for a request with all its
    redirects; `max_bytes` limits the body as received and as decompressed.
    """

    hosts: tuple[AllowedHost, ...]
    allow_private: frozenset[Network] = frozenset()
    """Internal networks that may be reached; none by default."""
    timeout: float = 5.0
    max_bytes: int = 1_000_000
    max_redirects: int = 3
    """The largest number of redirects of one request."""


class GuardedAnswer(Struct, frozen=True):
    """A response. `headers` has names in lower case; `complete` is false for a cut body."""

    status: int
    """The status of the last response."""
    url: str
    """The address of that response, after redirects."""
    headers: Mapping[str, str]
    body: bytes
    complete: bool = True


class Target(Struct, frozen=True):
    """A URL that is allowed by its text."""

    url: URL
    """The address as it is requested."""
    host: str
    """The name or address of the host, in small letters."""
    port: int
    """The port, also where the address names none."""
    address: Address | None
    """The host as an address; None for a name."""

    @property
    def origin(self) -> tuple[str, str, int]:
        """The origin for which credentials are valid."""
        return self.url.scheme, self.host, self.port


def read_target(url: str, policy: OutboundPolicy) -> Target:
    """Parse a URL strictly. Raises `Forbidden` for an unusual or forbidden one."""
    match = _URL.fullmatch(url) if len(url) <= MAX_URL and not _UNSAFE.search(url) else None
    if match is None:
        raise Forbidden("not an http or https address without spaces, 2,048 characters at most")
    authority = _AUTHORITY.fullmatch(match["authority"])
    if authority is None:
        raise Forbidden("the address has no plain host (user names are not allowed)")
    try:
        host, address = read_host(authority["v6"] or authority["name"])
    except ValueError as error:
        raise Forbidden(f"the host {error}") from None
    scheme = match["scheme"].lower()
    port = int(authority["port"] or (443 if scheme == "https" else 80))
    if not any(rule.covers(host, port) for rule in policy.hosts):
        raise Forbidden(f"{host}:{port} is not one of the allowed hosts")
    if address is not None and not may_connect(address, policy.allow_private):
        raise Forbidden(f"{host} is not a public address")
    parsed = _canonical(scheme, host, port, match["rest"] or "/")
    return Target(parsed, host, port, address)


def _canonical(scheme: str, host: str, port: int, rest: str) -> URL:
    """Return the URL of the checked parts; refuses one in which the library reads another host."""
    shown = f"[{host}]" if ":" in host else host
    try:
        url = URL(f"{scheme}://{shown}:{port}{rest.partition('#')[0]}")
    except ValueError:
        raise Forbidden("the address is invalid") from None
    if (url.scheme, url.host, url.port, url.user) != (scheme, host, port, None):
        raise Forbidden("the address is ambiguous")
    return url


class GuardedResolver(AbstractResolver):
    """A resolver that refuses an answer if any address in it is forbidden."""

    def __init__(self, inner: AbstractResolver, allowed: frozenset[Network]) -> None:
        self._inner = inner
        self._allowed = allowed

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve a host. Raises `Forbidden`, and OSError for an unknown name."""
        results = (await self._inner.resolve(host, port, family))[:MAX_ADDRESSES]
        for result in results:
            _check_address(result["host"], self._allowed)
        return results

    async def close(self) -> None:
        """Do nothing: the creator of the inner resolver closes it."""


class GuardedClient:
    """Sends requests under a policy. It keeps no connection and needs no closing."""

    def __init__(self, policy: OutboundPolicy, *, resolver: AbstractResolver | None = None) -> None:
        self._policy = policy
        self._resolver = resolver

    async def request(
        self,
        method: Method,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int | None = None,
        cut: bool = False,
    ) -> GuardedAnswer:
        """Send a request and follow redirects; a redirect of a POST is refused.

        With `cut` a response body that is too large is cut instead of refused. `headers` are sent
        to the origin of `url` only, not to redirects. Raises `OutboundError`.
        """
        most = self._policy.max_bytes if max_bytes is None else max_bytes
        try:
            async with asyncio.timeout(self._policy.timeout), self._session(most) as session:
                return await self._follow(session, method, url, headers or {}, body, most, cut)
        except TimeoutError:
            raise TimedOut(f"no answer within {self._policy.timeout:g} seconds") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if isinstance(getattr(error, "os_error", None), _Refused):
                raise Forbidden(_NOT_PUBLIC) from None
            raise Unreachable(type(error).__name__) from error

    async def _follow(
        self,
        session: aiohttp.ClientSession,
        method: Method,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        most: int,
        cut: bool,
    ) -> GuardedAnswer:
        first = target = read_target(url, self._policy)
        for _ in range(self._policy.max_redirects + 1):
            own = headers if target.origin == first.origin else {}
            async with session.request(
                method, target.url, headers=own, data=body, allow_redirects=False
            ) as response:
                onward = response.headers.get("Location")
                if response.status not in _REDIRECTS or onward is None:
                    return await _answer(response, most, cut)
            if method == "POST":
                raise Forbidden("a redirect of a POST request")
            target = self._redirected(target, onward)
        raise TooManyRedirects(f"more than {self._policy.max_redirects} redirects")

    def _redirected(self, target: Target, location: str) -> Target:
        if len(location) > MAX_URL or _UNSAFE.search(location):
            raise Forbidden("a redirect to an invalid address")
        onward = read_target(urljoin(str(target.url), location), self._policy)
        if (target.url.scheme, onward.url.scheme) == ("https", "http"):
            raise Forbidden("a redirect from https to http")
        return onward

    def _session(self, most: int) -> aiohttp.ClientSession:
        allowed = self._policy.allow_private
        connector = aiohttp.TCPConnector(
            resolver=GuardedResolver(self._resolver or aiohttp.ThreadedResolver(), allowed),
            socket_factory=lambda info: _guarded_socket(info, allowed, 2 * most + _HEADS),
            use_dns_cache=False,
            force_close=True,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept-Encoding": "gzip, deflate", "User-Agent": "Parley"},
            auto_decompress=False,
            trust_env=False,
            max_line_size=MAX_HEADER,
            max_field_size=MAX_HEADER,
            max_headers=MAX_HEADERS,
        )


class _BoundedSocket(socket.socket):
    """A socket that gives a response in parts, and `left` bytes of it. Without that, the library
    reads interim responses (100 Continue) without an end, thousands of them at once."""

    left = 0

    def recv(self, bufsize: int, flags: int = 0) -> bytes:
        data = super().recv(min(bufsize, self._room()), flags)
        self.left -= len(data)
        return data

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        size = min(nbytes or memoryview(buffer).nbytes, self._room())
        taken = super().recv_into(buffer, size, flags)
        self.left -= taken
        return taken

    def _room(self) -> int:
        if self.left <= 0:
            raise OSError("the response is too long")
        return min(_CHUNK, self.left)


def _guarded_socket(
    info: aiohttp.AddrInfoType, allowed: frozenset[Network], most: int
) -> socket.socket:
    """Check the address of a new connection, whatever its source. It receives `most` bytes."""
    family, kind, protocol, _, place = info
    try:
        _check_address(str(place[0]), allowed)
    except Forbidden:
        raise _Refused(_NOT_PUBLIC) from None
    made = _BoundedSocket(family, kind, protocol)
    made.left = most
    return made


class _Refused(OSError):
    """A failed connection as the library expects it from a socket."""


def _check_address(text: str, allowed: frozenset[Network]) -> None:
    try:
        address = ip_address(text)
    except ValueError:
        raise Forbidden("the host name resolves to an invalid address") from None
    if not may_connect(address, allowed):
        raise Forbidden(_NOT_PUBLIC)


async def _answer(response: aiohttp.ClientResponse, most: int, cut: bool) -> GuardedAnswer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    body, complete = b"", True
    if response.method != "HEAD":
        body, complete = await _body(response, headers.get("content-encoding", ""), most)
    if not complete and not cut:
        raise TooLarge(f"the answer is larger than {most} bytes")
    return GuardedAnswer(response.status, str(response.url), headers, body, complete)


async def _body(response: aiohttp.ClientResponse, encoding: str, most: int) -> tuple[bytes, bool]:
    """Return at most `most` decompressed bytes, and True if that is all."""
    taken, body = 0, bytearray()
    try:
        unpacker = Unpacker(encoding)
        async for chunk in response.content.iter_chunked(_CHUNK):
            taken += len(chunk)
            body += unpacker.feed(chunk, most + 1 - len(body))
            if taken > most or len(body) > most:
                return bytes(body[:most]), False
    except Undecodable as error:
        raise Unreachable(str(error)) from None
    if taken and not unpacker.complete:
        raise Unreachable("the answer ended early")
    return bytes(body), True
