"""Appointments for tests."""

from datetime import UTC, datetime
from typing import Any

from gateway.appointments.appointment import Appointment
from gateway.message import Place
from gateway.people import Audience

ADA, BOB = "test:main:ada", "test:main:bob"
NOW = datetime(2026, 11, 30, 7, 0, tzinfo=UTC)
"""Monday, 08:00 in Zurich."""
NINE = datetime.fromisoformat("2026-11-30T09:00")
DIRECT = Place("test", "main", "d-ada", Audience.DIRECT)
ROOM = Place("test", "main", "room", Audience.PRIVATE_ROOM, "w1")


def appointment(number: int = 0, **changes: Any) -> Appointment:
    """A reminder of Ada in her direct conversation, today at nine in Zurich."""
    fields: dict[str, Any] = {
        "id": f"{number:016x}",
        "tenant": "default",
        "person": ADA,
        "name": "Ada",
        "kind": "reminder",
        "place": DIRECT,
        "words": "call the printer",
        "first": NINE,
        "zone": "Europe/Zurich",
        "due": NINE,
        "made_at": NOW,
    }
    return Appointment(**fields | changes)
