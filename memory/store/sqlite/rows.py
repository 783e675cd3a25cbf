"""Times as SQLite keeps them in the tables of people: as seconds since 1970."""

from datetime import UTC, datetime


def seconds(at: datetime | None) -> float | None:
    """A time as it is kept."""
    return None if at is None else at.timestamp()


def moment(at: float) -> datetime:
    """A kept time."""
    return datetime.fromtimestamp(at, UTC)
