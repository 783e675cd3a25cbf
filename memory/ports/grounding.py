"""Citations, their verification and relevance."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct


class CitationKind(StrEnum):
    """The kind of a cited source."""

    ADR = "adr"
    COMMIT = "commit"
    URL = "url"
    ISSUE = "issue"


class Citation(Struct, frozen=True):
    """A citation at `start` to `end` of its text.

    `id` is "ADR-003", the hash in lower case, the address, or the issue's number; `repository` is
    "owner/name" where the issue names it.
    """

    kind: CitationKind
    """The kind of the cited source."""
    id: str
    start: int
    end: int
    repository: str = ""

    @property
    def source_id(self) -> str:
        """The name in evidence: "ADR-003", "commit:a1b2c3d", an address, "owner/name#12"."""
        if self.kind is CitationKind.COMMIT:
            return f"commit:{self.id}"
        return f"{self.repository}#{self.id}" if self.kind is CitationKind.ISSUE else self.id


class Reason(StrEnum):
    """The reason why a citation is verified, or not."""

    EXISTS = "exists"
    MISSING = "missing"
    NOT_LISTED = "not_listed"
    FAILED = "failed"
    TOO_MANY = "too_many"
    IRRELEVANT = "irrelevant"


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome for one citation. `excerpt` is text of the cited source, if requested."""

    valid: bool
    """True if the source exists where the operator allows it."""
    reason: Reason
    """The reason for that."""
    excerpt: str = field(default="", repr=False)


class Checked(Struct, frozen=True):
    """A citation and its result."""

    citation: Citation
    verification: Verification
    """The result."""


VerifyCitation: TypeAlias = Callable[[Citation], Awaitable[Verification]]
"""Looks a citation up. Raises no error for a missing source; any error counts as failed."""

JudgeRelevance: TypeAlias = Callable[[str, str], Awaitable[bool]]
"""Takes a claim and material; True if the material states the claim. Neither is an instruction. Any
error counts as a no."""
