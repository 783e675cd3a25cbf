"""On texts made to be slow, a pattern's time grows with the text."""

import re
from typing import Final

import pytest

from redos.calls import Use
from redos.pumping import TooSlowError, growth
from tests.patterns.exceptions import EXEMPT, NEVER_OUTSIDE, PENDING
from tests.patterns.finding import Found, found_patterns

MOST: Final = 300
"""Times as long that a text of 100,000 characters may take as one of 1,000."""


def problem_of(found: Found) -> str:
    try:
        factor, pump = growth(found.pattern, found.flags, found.use, limit=MOST)
    except TooSlowError:
        return f"{found.place}: more than five seconds"
    return f"{found.place}: {factor:.0f} times on {pump!r}" if factor > MOST else ""


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "package", ["db", "safety", "gateway", "adapters", "memory", "parley", "libraries"]
)
def test_time_grows_with_the_text(package: str) -> None:
    exempt = {each.file for each in EXEMPT} | PENDING
    slow = [
        problem_of(result)
        for result in found_patterns()
        if (result.package == package if result.own else package == "libraries")
        and result.file not in exempt
        and result.package not in NEVER_OUTSIDE
    ]
    assert [each for each in slow if each] == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    "pattern", [r"[ \t]*\0", r"(?:[^\W_]|[\u0900-\u0dff])+!", r"a*a*b", r"<[^>]*>"]
)
def test_a_slow_pattern_is_detected_without_hanging(pattern: str) -> None:
    result = Found("here:1", pattern, int(re.DOTALL), Use(searched=True, whole=False), own=True)
    assert problem_of(result) != ""
