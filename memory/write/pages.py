"""Pages of listed hosts: whether they are there, and what stands on them."""

import html
import re
from collections.abc import Mapping
from typing import Final

from aiohttp.abc import AbstractResolver

from safety.addresses import HostRule, Network
from safety.outbound import Forbidden, GuardedClient, OutboundPolicy, read_target

MAX_PAGE: Final = 65_536
"""Bytes of a page that are read at most."""
_NO_HEAD: Final = frozenset({405, 501})
_MARKUP: Final = re.compile(
    r"<(?:script|style)\b.{0,20000}?</(?:script|style)\s*>|<[^<>]{0,2000}>", re.DOTALL
)


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
        """Whether it may be asked at all."""
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
    """A page without its markup."""
    return " ".join(html.unescape(_MARKUP.sub(" ", page)).split())
