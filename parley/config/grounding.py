"""The keys of `grounding`: where the assistant may look up what a claim cites."""

from ipaddress import ip_network
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, StringConstraints, model_validator

from parley.config.sections import Name, Section
from safety.http.addresses import HostRule
from safety.http.url_templates import check_template

PLACES: Final = (frozenset({"number"}), frozenset({"number", "owner", "repo"}))
WORDS: Final = 0.92
MEANING: Final = 0.95
"""Similarities from which two memories are one (sources 004)."""


def _host(value: str) -> str:
    HostRule.parse(value)
    return value


def _network(value: str) -> str:
    ip_network(value)
    return value


def _tracker(value: str) -> str:
    check_template(value, PLACES)
    return value


Host = Annotated[str, AfterValidator(_host)]
NetworkText = Annotated[str, AfterValidator(_network)]
TrackerUrl = Annotated[str, AfterValidator(_tracker)]
Folder = Annotated[str, StringConstraints(min_length=1, max_length=4_096)]


class Grounding(Section):
    """Which claims of the assistant are remembered without asking: those whose citations are found
    here. Nothing that is not listed is ever asked for."""

    hosts: tuple[Host, ...] = Field(default=(), max_length=100)
    """Hosts whose pages may be looked up: `docs.example.org`, or `*.example.org` for all below;
    with another port than 80 and 443 as `docs.example.org:8443`."""
    repositories: tuple[Folder, ...] = Field(default=(), max_length=20)
    """Folders of git repositories on this machine, for commits and for decision records such as
    `docs/adr/ADR-003-storage.md`. Commits need `git` on the path."""
    trackers: dict[Name, TrackerUrl] = Field(default={}, max_length=20)
    """By a name of your choice, where an issue is asked for:
    `https://api.github.com/repos/acme/app/issues/{number}` for `#12`, or with `{owner}` and
    `{repo}` for `acme/app#12`."""
    tracker_tokens: dict[Name, SecretStr] = Field(default={}, max_length=20)
    """By the name of a tracker: a token that is sent to it, over https only."""
    networks: tuple[NetworkText, ...] = Field(default=(), max_length=20)
    """Internal networks, such as `10.1.0.0/16`, in which listed hosts and trackers may be; others
    have to be on the public internet."""
    verify_claim_relevance: bool = False
    """Read what is cited, and send a claim to review that shares too few words with it."""
    relevance_judge: Literal["words", "model"] = "words"
    """With `verify_claim_relevance`: whether words alone decide, or the model is asked as well,
    once for each citation that shares enough words. Such calls cost money and count to no
    budget."""
    dedup_method: Literal["jaccard", "vector"] = "jaccard"
    """How repetitions are found: by their words, or with an embedding model also by meaning."""
    dedup_threshold: float | None = Field(default=None, ge=0.8, le=1)
    """Similarity from which two memories are one; empty takes 0.92 for `jaccard`, 0.95 for
    `vector`."""
    auto_approve_ai_synthesis: bool = False
    """Remember also what the assistant concludes itself and cites nothing for, without review."""

    @property
    def word_threshold(self) -> float:
        """The share of common words from which two memories are one; always looked at."""
        chosen = self.dedup_threshold if self.dedup_method == "jaccard" else None
        return WORDS if chosen is None else chosen

    @property
    def meaning_threshold(self) -> float | None:
        """The cosine from which they are, None where meaning is not looked at."""
        if self.dedup_method == "jaccard":
            return None
        return MEANING if self.dedup_threshold is None else self.dedup_threshold

    @model_validator(mode="after")
    def _tokens_fit(self) -> Self:
        for name in self.tracker_tokens:
            if name not in self.trackers:
                raise ValueError(f"tracker_tokens has {name}, which is not among trackers")
            if not self.trackers[name].startswith("https:"):
                raise ValueError(f"trackers.{name} needs https, because it has a token")
        return self
