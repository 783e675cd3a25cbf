"""By day a property test tries a third of its cases."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.property_cases import NIGHT, cases


@pytest.fixture(autouse=True)
def profile() -> Iterator[None]:
    """Leave the profile of the run as it was."""
    chosen = settings.get_current_profile_name()
    yield
    settings.load_profile(chosen)


@pytest.mark.parametrize(("name", "found"), [("any load", [100, 10, 5]), (NIGHT, [300, 20, 5])])
def test_the_night_tries_all_cases(name: str, found: list[int]) -> None:
    settings.load_profile(name)
    assert [cases(count) for count in (300, 20, 5)] == found
