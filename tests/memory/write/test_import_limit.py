"""A person imports some files an hour and no more; nobody is held up by others."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.errors import BadInput
from memory.write import imports
from memory.write.imports import IMPORTS, WITHIN, ImportRateLimit

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def test_ten_an_hour_and_then_one_as_each_is_an_hour_old() -> None:
    taken = ImportRateLimit()
    for minute in range(IMPORTS):
        taken.take("ada", NOW + timedelta(minutes=minute))
    with pytest.raises(BadInput, match="within an hour"):
        taken.take("ada", NOW + WITHIN - timedelta(seconds=1))
    taken.take("bob", NOW)
    taken.take("ada", NOW + WITHIN)
    with pytest.raises(BadInput, match="within an hour"):
        taken.take("ada", NOW + WITHIN)


def test_it_remembers_a_bounded_number_of_people(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MAX_PEOPLE", 3)
    taken = ImportRateLimit()
    for number in range(10):
        taken.take(f"person {number}", NOW)
    assert len(taken._began) == 3
