"""A person can import some files an hour, and does not delay others."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.errors import BadInput
from memory.write import imports
from memory.write.imports import IMPORTS, WITHIN, ImportRateLimit

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def test_ten_imports_an_hour_are_allowed_in_a_sliding_window() -> None:
    taken = ImportRateLimit()
    for minute in range(IMPORTS):
        taken.take("ada", NOW + timedelta(minutes=minute))
    with pytest.raises(BadInput, match="within an hour"):
        taken.take("ada", NOW + WITHIN - timedelta(seconds=1))
    taken.take("bob", NOW)
    taken.take("ada", NOW + WITHIN)
    with pytest.raises(BadInput, match="within an hour"):
        taken.take("ada", NOW + WITHIN)


def test_the_number_of_remembered_people_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MAX_PEOPLE", 3)
    taken = ImportRateLimit()
    for number in range(10):
        taken.take(f"person {number}", NOW)
    assert len(taken._began) == 3
