"""How many cases a property test tries."""

from typing import Final

from hypothesis import settings

NIGHT: Final = "night"
"""The profile of `make nightly`, which runs all property tests."""
_PART: Final = 3
_FEWEST: Final = 10


def cases(count: int) -> int:
    """This many at night, with new ones each time; a third of them by day, always the same."""
    if settings.get_current_profile_name() == NIGHT:
        return count
    return max(count // _PART, min(count, _FEWEST))
