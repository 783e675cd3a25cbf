"""Every pattern that reads external text takes linear time in its use.

Those that stand in the program as they are, by day; those that are computed and those of the
libraries, for which a process imports and uses everything, at night.
"""

from collections.abc import Iterable

import pytest

from redos.ambiguity import Refusal, analyze
from tests.patterns.exceptions import EXEMPT, NEVER_OUTSIDE, PENDING, Exempt
from tests.patterns.finding import (
    Found,
    found_patterns,
    unseen_calls,
    unusual_imports,
    written_patterns,
)
from tests.patterns.recorder import PACKAGES

pytestmark = [pytest.mark.timeout(900), pytest.mark.xdist_group("patterns")]
SUPPORTED = (
    *("markdown_it", "discord", "aiohttp", "starlette", "h11"),
    *("html", "email", "urllib", "http"),
)
"""Libraries of which patterns must have been found, or the recording is broken."""


def refused(found: Found) -> Refusal | None:
    return analyze(found.pattern, found.flags, found.use)


def exempt(found: Found) -> list[Exempt]:
    text = found.pattern if isinstance(found.pattern, str) else found.pattern.decode("latin-1")
    return [each for each in EXEMPT if found.file == each.file and text.startswith(each.begins)]


def description(found: Found, refusal: Refusal) -> str:
    return (
        f"{found.place}: {refusal.reason}\n  pattern {found.pattern!r:.300}\n"
        f"  slow on {refusal.prefix!r} + {refusal.pump!r} * n + {refusal.suffix!r}"
    )


def complaints(found: Iterable[Found]) -> str:
    return "\n".join(
        description(result, refusal)
        for result in found
        if result.file not in PENDING and not exempt(result)
        if (refusal := refused(result)) is not None
    )


def test_no_pattern_is_compiled_by_an_unusual_name() -> None:
    assert unusual_imports() == []


@pytest.mark.parametrize("package", PACKAGES)
def test_patterns_that_stand_in_the_program_are_linear(package: str) -> None:
    found = [result for result in written_patterns() if result.package == package]
    assert found
    assert complaints(found) == ""


@pytest.mark.nightly
def test_no_call_compiles_a_pattern_that_the_check_does_not_see() -> None:
    assert unseen_calls() == []


@pytest.mark.nightly
@pytest.mark.parametrize("package", PACKAGES)
def test_patterns_that_the_program_computes_are_linear(package: str) -> None:
    found = [result for result in found_patterns() if result.package == package]
    assert found
    assert complaints(found) == ""


@pytest.mark.nightly
def test_patterns_of_libraries_are_linear_where_they_read_external_text() -> None:
    packages = {result.package for result in found_patterns() if not result.own}
    assert packages.issuperset(SUPPORTED)
    assert (
        complaints(
            result
            for result in found_patterns()
            if not result.own and result.package not in NEVER_OUTSIDE
        )
        == ""
    )


@pytest.mark.nightly
def test_every_exception_is_necessary() -> None:
    needed = {
        each
        for result in found_patterns()
        for each in exempt(result)
        if refused(result) is not None
    }
    assert set(EXEMPT) - needed == set()
