"""Finds issues in the listed trackers, through their API."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from aiohttp.abc import AbstractResolver

from memory.grounding.pages import look
from memory.ports.grounding import Citation
from safety.http.addresses import Network
from safety.http.client import GuardedClient, OutboundPolicy
from safety.http.url_templates import check_template, fill, host_of

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


class Trackers:
    """Several trackers, which are asked in their order. `networks`: internal ones in which these
    may be."""

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
