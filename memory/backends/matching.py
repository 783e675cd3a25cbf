"""Filters and ranks the memories of a backend, as the stores do it in SQL."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

from memory.model.record import Record
from memory.model.scope import AccessScope, sees
from memory.ports.memories import Filter, Match
from memory.stores.word_ranking import ranked
from memory.text.terms import index_terms, query_terms

CACHED: Final = 5_000
"""Texts whose words are cached."""


def fits(record: Record, access: AccessScope, filters: Filter, now: datetime) -> bool:
    """True if a memory is visible and passes a filter, apart from its text, `after_id` and
    limit."""
    provenance = record.provenance
    return (
        sees(access, record)
        and not _ended(record.expires_at, now)
        and (filters.superseded or record.current)
        and (not filters.own_only or is_own(record, access))
        and (not filters.kinds or record.kind in filters.kinds)
        and (not filters.tiers or record.tier in filters.tiers)
        and (not filters.scopes or record.scope in filters.scopes)
        and (not filters.sources or provenance.source in filters.sources)
        and (not filters.trusts or provenance.trust in filters.trusts)
        and filters.turns is not True
        and set(filters.tags) <= set(record.tags)
        and (filters.since is None or provenance.at >= filters.since)
        and (filters.until is None or provenance.at < filters.until)
        and (filters.during is None or record.is_during(*filters.during))
        and (filters.at is None or _is_true_at(record, filters.at))
    )


def holds(record: Record, access: AccessScope, now: datetime) -> bool:
    """True if a memory is visible and still true."""
    return (
        sees(access, record)
        and record.current
        and not _ended(record.expires_at, now)
        and not _ended(record.true_until, now)
        and not _ended(record.evidence.valid_until, now)
    )


def is_own(record: Record, access: AccessScope) -> bool:
    """True for the person's own memory, learned in any place."""
    return record.scope.value == "user" and record.provenance.person in access.persons


def by_words(records: Sequence[Record], text: str, *, unfinished: bool = False) -> list[Match]:
    """Return the memories with a word of a text, best first; `records` are newest first. The score
    is the weighted share of the asked words."""
    terms = query_terms(text, unfinished=unfinished)
    words = [f" {_words(record.content, record.tags)} " for record in records]
    masks: dict[int, int] = {}
    counts = [0] * len(terms)
    for place, padded in enumerate(words):
        mask = 0
        for number, term in enumerate(terms):
            if term.stands_in(padded):
                mask |= 1 << number
                counts[number] += 1
        if mask:
            masks[-place] = mask
    return [Match(records[-number], score) for number, score in ranked(masks, counts)]


def _is_true_at(record: Record, at: datetime) -> bool:
    return (
        (record.true_from is None or record.true_from <= at)
        and not _ended(record.true_until, at)
        and not _ended(record.evidence.valid_until, at)
    )


def _ended(until: datetime | None, now: datetime) -> bool:
    return until is not None and until <= now


@lru_cache(CACHED)
def _words(content: str, tags: tuple[str, ...]) -> str:
    return index_terms(content, *tags)
