"""Checks the shape of what a memory backend returns."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypeGuard, get_args

from gateway.ports.memory_backend import (
    MAX_DETAILS,
    MAX_MESSAGES,
    MAX_NAME,
    MAX_STATEMENT_ID,
    MAX_TAG,
    MAX_TAGS,
    Statement,
    StatementScope,
)
from memory.model.record import ID_PREFIX, Kind

MAX_TEXT: Final = 100_000
"""Characters of a text that is read before it is cut; a longer one is dropped."""

_ID: Final = re.compile(rf"{ID_PREFIX}[A-Za-z0-9_-]+")
_KINDS: Final = frozenset(kind.value for kind in Kind)
_SCOPES: Final = frozenset(get_args(StatementScope))


def is_valid(value: object) -> TypeGuard[Statement]:
    """True for a statement whose every field has the documented type and size."""
    if type(value) is not Statement:
        return False
    names = (value.tenant, value.person, value.project, value.room, value.channel)
    return (
        all(_is_text(name, MAX_NAME) for name in (*names, value.source, value.replaced_by))
        and _is_text(value.id, MAX_STATEMENT_ID)
        and _ID.fullmatch(value.id) is not None
        and _is_text(value.text, MAX_TEXT)
        and _is_text(value.kind, MAX_NAME)
        and value.kind in _KINDS
        and _is_text(value.scope, MAX_NAME)
        and value.scope in _SCOPES
        and _is_time(value.at)
        and (value.expires_at is None or _is_time(value.expires_at))
        and _are_texts(value.tags, MAX_TAGS, MAX_TAG)
        and _are_texts(value.messages, MAX_MESSAGES, MAX_NAME)
        and _is_flag(value.confirmed)
        and _are_details(value.details)
    )


def _is_text(value: object, longest: int) -> bool:
    return isinstance(value, str) and len(value) <= longest


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_time(value: object) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _are_texts(value: object, most: int, longest: int) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) <= most
        and all(_is_text(one, longest) for one in value)
    )


def _are_details(value: object) -> bool:
    if not isinstance(value, Mapping) or len(value) > MAX_MESSAGES:
        return False
    texts = [text for pair in value.items() for text in pair]
    return all(isinstance(text, str) for text in texts) and sum(map(len, texts)) <= MAX_DETAILS
