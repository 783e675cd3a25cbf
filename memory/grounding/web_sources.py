"""Finds cited sources on the web: pages of listed hosts, and issues in listed trackers, through
their API."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aiohttp.abc import AbstractResolver

from memory.ports.grounding import Citation
from safety.http.addresses import AllowedHost, Network, check_template, fill, host_of
from safety.http.client import Forbidden, GuardedClient, OutboundPolicy, read_target

MAX_PAGE: Final = 65_536
"""Bytes of a page that are read at most."""
_NO_HEAD: Final = frozenset({405, 501})
MAX_SCRIPT: Final = 20_000
"""Maximum characters of a script or style sheet that is removed completely."""
_TAG: Final = re.compile(r"<[^<>]{0,2000}>")
_OPENS: Final = re.compile(r"<(?:script|style)\b")
_CLOSES: Final = re.compile(r"</(?:script|style)\s*>")


class CitedPages:
    """Addresses under `hosts`. `networks`: internal ones in which these may be."""

    def __init__(
        self,
        hosts: tuple[AllowedHost, ...],
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


TRACKER_PLACES: Final = (frozenset({"number"}), frozenset({"number", "owner", "repo"}))
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_NUMBER: Final = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Tracker:
    """An issue tracker. `template` is an address with `{number}`, and with `{owner}` and `{repo}`
    if it serves several repositories.

    A template without them answers "#12", "GH-12", and "acme/app#12" if it contains /acme/app/; one
    with them answers "acme/app#12" only. `token` is sent as a bearer token over https. Raises
    `ValueError` with the problem.
    """

    template: str
    token: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        check_template(self.template, TRACKER_PLACES)
        if self.token and not self.template.startswith("https:"):
            raise ValueError("needs https for its token")

    def url(self, citation: Citation) -> str | None:
        """Return the address of the issue; None if it is not in this tracker."""
        owner, _, repo = citation.repository.partition("/")
        wild = "{owner}" in self.template
        if citation.repository and not (_NAME.fullmatch(owner) and _NAME.fullmatch(repo)):
            return None
        if not _NUMBER.fullmatch(citation.id) or (wild and not citation.repository):
            return None
        if citation.repository and not wild and f"/{owner}/{repo}/" not in self.template:
            return None
        return fill(self.template, {"owner": owner, "repo": repo, "number": citation.id})


class IssueTrackers:
    """Several trackers, which are requested in their order. `networks`: internal networks in which
    they may be."""

    def __init__(
        self,
        trackers: Sequence[Tracker],
        networks: frozenset[Network] = frozenset(),
        *,
        excerpts: bool = False,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self._trackers = [
            (
                tracker,
                GuardedClient(
                    OutboundPolicy((host_of(tracker.template),), networks), resolver=resolver
                ),
            )
            for tracker in trackers
        ]
        self._excerpts = excerpts

    def urls(self, citation: Citation) -> list[str]:
        """Return the addresses of an issue in all trackers."""
        return [url for tracker, _ in self._trackers if (url := tracker.url(citation))]

    async def issue(self, citation: Citation) -> str | None:
        """Return the issue's text ("" without excerpts); None if no tracker has it. Raises
        `OutboundError`."""
        for tracker, client in self._trackers:
            url = tracker.url(citation)
            headers = {"Authorization": f"Bearer {tracker.token}"} if tracker.token else {}
            text = await look(client, url, headers, excerpts=self._excerpts) if url else None
            if text is not None:
                return text
        return None
