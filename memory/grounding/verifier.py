"""Verifies citations, only in places that the operator listed.

These are pages of `hosts`, commits and decision records of local `repositories`, and issues of
`trackers`. Nothing else is requested, because an address can carry data out. A failed or slow check
counts as not verified, so the claim goes to review.

With `grounding.verify_claim_relevance` the source also has to support the claim. If most content
words of the claim are missing in the source, it does not. Otherwise the model decides, if one is
configured.
"""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final

from aiohttp.abc import AbstractResolver
from msgspec import Struct

from gateway.immutable import replace
from memory.git.errors import NotARepository
from memory.git.repository import FOLDER, GitRepository, TreeEntry, is_file, opened_repository
from memory.grounding.web_sources import CitedPages, IssueTrackers, Tracker
from memory.ports.grounding import (
    Checked,
    Citation,
    CitationKind,
    JudgeRelevance,
    Reason,
    Verification,
    VerifyCitation,
)
from safety.http.addresses import AllowedHost, Network

MAX_EXCERPT: Final = 20_000
"""Bytes."""
MAX_RECORD: Final = 1024 * 1024
"""Bytes of a decision record; a larger one has no excerpt."""

_HASH: Final = re.compile(r"[0-9a-f]{7,40}")
_ADR_ID: Final = re.compile(r"ADR-([0-9]{1,5})")
_ADR_FILE: Final = re.compile(
    r"(?:adr[-_ ]?)?([0-9]{1,5})(?:[-_. ].{0,200})?\.(?:md|markdown|adoc|rst|txt)", re.IGNORECASE
)
_BASES: Final = ("", "docs", "doc", "docs/architecture", "doc/architecture", "architecture")
_ADR_FOLDERS: Final = re.compile(r"adrs?[\w-]{0,40}|decisions|decision-records", re.IGNORECASE)


class Repositories:
    """Git repositories, which are searched in their order. One that cannot be read has nothing."""

    def __init__(self, folders: Sequence[Path], *, excerpts: bool = False) -> None:
        self._folders = tuple(folders)
        self._excerpts = excerpts

    def __bool__(self) -> bool:
        return bool(self._folders)

    async def commit(self, hexadecimal: str) -> str | None:
        """Return the commit's text ("" without excerpts); None if no repository has it, or several
        have it under this abbreviation. Raises `GitError` if git is missing, too slow or fails."""
        if not _HASH.fullmatch(hexadecimal):
            return None
        async with aclosing(self._opened()) as repositories:
            async for git in repositories:
                text = await git.commit_text(hexadecimal)
                if text is not None:
                    message = text.partition(b"\n\n")[2][:MAX_EXCERPT]
                    return message.decode("utf-8", "replace") if self._excerpts else ""
        return None

    async def decision_record(self, adr_id: str) -> str | None:
        """Return the record's text ("" without excerpts) for "ADR-003"; None if there is no such
        file. Raises `GitError` if git is missing, too slow or fails.

        It is a file such as docs/adrs/ADR-003-storage.md or doc/adr/0003-storage.md in the commit
        that is checked out. What is not committed proves nothing.
        """
        match = _ADR_ID.fullmatch(adr_id)
        if match is None:
            return None
        async with aclosing(self._opened()) as repositories:
            async for git in repositories:
                for entry in await _decision_records(git):
                    name = _ADR_FILE.fullmatch(_name(entry))
                    if name and int(name[1]) == int(match[1]):
                        return await _beginning(git, entry) if self._excerpts else ""
        return None

    async def _opened(self) -> AsyncGenerator[GitRepository, None]:
        for folder in self._folders:
            try:
                async with opened_repository(folder) as git:
                    yield git
            except NotARepository:
                continue


async def _decision_records(git: GitRepository) -> list[TreeEntry]:
    """Return the files in the folders of decision records of the checked out commit."""
    commit = (await git.head()).commit
    if not commit:
        return []
    inside = [
        *await git.entries(commit),
        *await git.entries(commit, *(f"{base}/" for base in _BASES if base)),
    ]
    folders = [
        f"{entry.path.decode()}/"
        for entry in inside
        if entry.mode == FOLDER and entry.path.isascii() and _ADR_FOLDERS.fullmatch(_name(entry))
    ]
    if not folders:
        return []
    return [entry for entry in await git.entries(commit, *folders) if is_file(entry)]


async def _beginning(git: GitRepository, entry: TreeEntry) -> str:
    content = await git.small_blob(entry.id, MAX_RECORD) or b""
    return content[:MAX_EXCERPT].decode("utf-8", "replace")


def _name(entry: TreeEntry) -> str:
    return entry.path.rpartition(b"/")[2].decode("utf-8", "replace")


MAX_VERIFIED: Final = 5
"""Citations of one text that are verified."""
SECONDS: Final = 5.0
"""Seconds for all citations of one text together."""
KEPT_VALID: Final = 600.0
KEPT_INVALID: Final = 60.0
"""Seconds for which a result is cached."""
MAX_KEPT: Final = 500


async def verify_all(
    citations: Sequence[Citation], verify: VerifyCitation, *, seconds: float = SECONDS
) -> tuple[Checked, ...]:
    """Verify the first `MAX_VERIFIED` citations in parallel, within `seconds` in total."""
    looked, rest = citations[:MAX_VERIFIED], citations[MAX_VERIFIED:]
    tasks = [asyncio.ensure_future(verify(citation)) for citation in looked]
    try:
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
    finally:
        for task in tasks:
            task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    checked = [
        Checked(c, o if isinstance(o, Verification) else Verification(False, Reason.FAILED))
        for c, o in zip(looked, outcomes, strict=True)
    ]
    return (*checked, *(Checked(c, Verification(False, Reason.TOO_MANY)) for c in rest))


class GroundingSources(Struct, frozen=True):
    """The listed places. `networks` are internal networks in which listed hosts may be."""

    hosts: tuple[AllowedHost, ...] = ()
    repositories: tuple[Path, ...] = ()
    trackers: tuple[Tracker, ...] = ()
    networks: frozenset[Network] = frozenset()


class ConfiguredVerifier:
    """Verifies citations in the configured places, with a cache.

    `excerpts`: also fetch text of the sources, for `keep_relevant`.
    """

    def __init__(
        self,
        sources: GroundingSources,
        *,
        excerpts: bool = False,
        resolver: AbstractResolver | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._repositories = Repositories(sources.repositories, excerpts=excerpts)
        self._trackers = IssueTrackers(
            sources.trackers, sources.networks, excerpts=excerpts, resolver=resolver
        )
        self._pages = CitedPages(
            sources.hosts, sources.networks, excerpts=excerpts, resolver=resolver
        )
        self._now = now
        self._kept: OrderedDict[tuple[str, ...], tuple[float, Verification]] = OrderedDict()

    async def verify(self, citation: Citation) -> Verification:
        """Raises `OutboundError`, OSError or TimeoutError when it cannot be found out."""
        key = (citation.kind, citation.id, citation.repository)
        until, kept = self._kept.get(key, (0.0, None))
        if kept is not None and self._now() < until:
            return kept
        if not self._is_listed(citation):
            return Verification(False, Reason.NOT_LISTED)
        excerpt = await self._look_up(citation)
        if excerpt is None:
            outcome = Verification(False, Reason.MISSING)
        else:
            outcome = Verification(True, Reason.EXISTS, excerpt)
        self._keep(key, outcome)
        return outcome

    def _is_listed(self, citation: Citation) -> bool:
        if citation.kind is CitationKind.URL:
            return self._pages.lists(citation.id)
        if citation.kind is CitationKind.ISSUE:
            return bool(self._trackers.urls(citation))
        return bool(self._repositories)

    async def _look_up(self, citation: Citation) -> str | None:
        match citation.kind:
            case CitationKind.URL:
                return await self._pages.page(citation.id)
            case CitationKind.COMMIT:
                return await self._repositories.commit(citation.id)
            case CitationKind.ADR:
                return await self._repositories.decision_record(citation.id)
            case CitationKind.ISSUE:
                return await self._trackers.issue(citation)

    def _keep(self, key: tuple[str, ...], outcome: Verification) -> None:
        seconds = KEPT_VALID if outcome.valid else KEPT_INVALID
        self._kept[key] = (self._now() + seconds, outcome)
        self._kept.move_to_end(key)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)


SHARED: Final = 0.5
"""The share of a claim's content words that must occur in the cited text."""
MAX_MATERIAL: Final = 4_000
"""Characters of the cited text that a model reads."""

_WORD: Final = re.compile(r"[^\W_]{3,}")
_EMPTY: Final = frozenset(
    ("the", "and", "for", "with", "that", "this", "these", "those", "from", "into", "our", "your",
     "their", "its", "per", "see", "are", "was", "were", "has", "have", "had", "not", "but", "all",
     "any", "can", "will", "use", "uses", "used", "using", "when", "which", "who", "they", "you",
     "adr", "commit", "issue", "fixed", "http", "https", "www",
     "der", "die", "das", "und", "ist", "les", "des", "est", "los", "las", "una", "que")
)  # fmt: skip


def shared_words(claim: str, material: str) -> float:
    """Return the share of the claim's content words that occur in the material, 0 to 1; 1 without
    any."""
    words = _content(claim)
    return len(words & _content(material)) / len(words) if words else 1.0


def _content(text: str) -> frozenset[str]:
    """Return words by their first six letters, so that "stored" and "storage" match."""
    return frozenset(w[:6] for w in _WORD.findall(text.casefold()) if w not in _EMPTY)


async def keep_relevant(
    content: str, checked: Sequence[Checked], judge: JudgeRelevance | None = None
) -> tuple[Checked, ...]:
    """The same, with valid citations made invalid where they are unrelated to the claim."""
    claim = _without([c.citation for c in checked], content)
    return tuple([await _judged(claim, one, judge) for one in checked])


def _without(citations: Sequence[Citation], content: str) -> str:
    for citation in sorted(citations, key=lambda citation: citation.start, reverse=True):
        content = f"{content[: citation.start]} {content[citation.end :]}"
    return content


async def _judged(claim: str, one: Checked, judge: JudgeRelevance | None) -> Checked:
    if not one.verification.valid:
        return one
    material = one.verification.excerpt
    if shared_words(claim, material) < SHARED:
        return replace(one, verification=Verification(False, Reason.IRRELEVANT))
    try:
        relevant = judge is None or await judge(claim, material[:MAX_MATERIAL])
    except Exception:  # noqa: BLE001 - any failure of a model leaves the claim unverified
        return replace(one, verification=Verification(False, Reason.FAILED))
    return one if relevant else replace(one, verification=Verification(False, Reason.IRRELEVANT))
