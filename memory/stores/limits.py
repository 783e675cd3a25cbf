"""Limits of the stores, and checks of their arguments."""

from datetime import timedelta
from typing import Final

from gateway.errors import UsageError
from memory.model.record import Record, Scope
from memory.model.scope import AccessScope, may_change
from memory.ports.memories import Filter

MAX_LINKED: Final = 10
"""Linked identities of one person."""
MAX_PROJECTS: Final = 100
"""Stored projects of an identity; beyond that the one seen longest ago is dropped."""
MAX_TITLE: Final = 200
IDLE: Final = timedelta(minutes=30)
"""The idle time that ends a session."""
NOTED: Final = timedelta(minutes=1)
"""The precision of a session's last use, so that not every turn writes it."""
MAX_WAITING: Final = 100
"""Open reviews of one person."""
MAX_WAITING_IN_ALL: Final = 10_000
MAX_HISTORY: Final = 10_000
"""Decided reviews that stay stored; beyond that the oldest are dropped."""
MAX_VERSIONS: Final = 200
"""Stored versions of a document; beyond that the oldest are dropped."""


MAX_FOUND = 1_000


def check_writable(access: AccessScope, record: Record) -> None:
    """Raise `BadInput` unless the record is one that this reach may write."""
    if not may_change(access, record):
        raise UsageError(f"{record.scope.value} memory of this owner cannot be written from here")


def check_limit(filters: Filter) -> None:
    """Raise `BadInput` unless the limit is 1 to 1,000 memories."""
    if not 1 <= filters.limit <= MAX_FOUND:
        raise UsageError(f"limit must be 1 to {MAX_FOUND:,}, not {filters.limit}")


def check_turn(access: AccessScope, record: Record) -> None:
    """Raise `BadInput` unless the record is a turn of the caller's conversation."""
    check_writable(access, record)
    if not record.role or record.scope is not Scope.USER:
        raise UsageError(
            "a turn has a role, and belongs to the person who speaks with the assistant"
        )


def check_submitted(access: AccessScope, record: Record) -> None:
    """Raise `BadInput` unless the record was learned from the caller."""
    if record.tenant != access.tenant or record.provenance.person not in access.persons:
        raise UsageError("only a person's own statements wait for review")
