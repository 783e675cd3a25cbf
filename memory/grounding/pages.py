"""Pages of listed hosts: their existence and their text."""

import html
import re
from collections.abc import Iterator, Mapping
from typing import Final

from aiohttp.abc import AbstractResolver

from safety.http.addresses import HostRule, Network
from safety.http.client import Forbidden, GuardedClient, OutboundPolicy, read_target

MAX_PAGE: Final = 65_536
"""Bytes of a page that are read at most."""
_NO_HEAD: Final = frozenset({405, 501})
MAX_SCRIPT: Final = 20_000
"""Characters of a script or style sheet that is removed whole."""
_TAG: Final = re.compile(r"<[^<>]{0,2000}>")
_OPENS: Final = re.compile(r"<(?:script|style)\b")
_CLOSES: Final = re.compile(r"</(?:script|style)\s*>")


class Pages:
    """Addresses under `hosts`. `networks`: internal ones in which these may be."""

    def __init__(
        self,
        hosts: tuple[HostRule, ...],
        networks: frozenset[Network] = frozenset(),
        *,
        excerpts: bool = False,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self._policy = OutboundPolicy(hosts, allow_private=networks)
        self._client = GuardedClient(self._policy, resolver=resolver)
        self._excerpts = excerpts

    def lists(self, url: str) -> bool:
        """True if the address is on a listed host."""
        try:
            read_target(url, self._policy)
        except Forbidden:
            return False
        return True

    async def page(self, url: str) -> str | None:
        """See `look`."""
        return await look(self._client, url, excerpts=self._excerpts)


async def look(
    client: GuardedClient, url: str, headers: Mapping[str, str] | None = None, *, excerpts: bool
) -> str | None:
    """The text of what answers with 200 ("" without `excerpts`), None for any other answer.

    Asks with HEAD, and with GET where text is wanted or HEAD is not offered. Raises
    `OutboundError`.
    """
    if not excerpts:
        answer = await client.request("HEAD", url, headers=headers)
        if answer.status not in _NO_HEAD:
            return "" if answer.status == 200 else None
    answer = await client.request("GET", url, headers=headers, max_bytes=MAX_PAGE, cut=True)
    if answer.status != 200:
        return None
    return as_text(answer.body.decode("utf-8", "replace")) if excerpts else ""


def as_text(page: str) -> str:
    """Return a page without its markup."""
    plain = " ".join(_TAG.sub(" ", part) for part in _outside_scripts(page))
    return " ".join(html.unescape(plain).split())


def _outside_scripts(page: str) -> Iterator[str]:
    """Yield the parts of a page between its scripts and style sheets."""
    done = 0
    closing = _CLOSES.search(page)
    for opening in _OPENS.finditer(page):
        while closing is not None and closing.start() < opening.end():
            closing = _CLOSES.search(page, closing.end())
        if closing is None:
            break
        if opening.start() >= done and closing.start() - opening.end() <= MAX_SCRIPT:
            yield page[done : opening.start()]
            done = closing.end()
    yield page[done:]
