"""The report of `make audit`, from the output of pip-audit."""

import pytest

from release.audit import NO_ADVISORIES, describe, problem_in

REPORT = {
    "dependencies": [
        {"name": "fine", "version": "1.0", "vulns": []},
        {
            "name": "broken",
            "version": "2.0",
            "vulns": [
                {"id": "PYSEC-1", "fix_versions": ["2.1", "3.0"]},
                {"id": "PYSEC-2", "fix_versions": []},
            ],
        },
        {"name": "unknown", "skip_reason": "not on the index"},
    ]
}


def test_each_vulnerability_is_a_line_with_the_version_that_corrects_it() -> None:
    assert list(describe(REPORT)) == [
        "broken 2.0: PYSEC-1, fixed in 2.1, 3.0",
        "broken 2.0: PYSEC-2, fixed in no version yet",
    ]


@pytest.mark.parametrize(
    "errors",
    [
        "Traceback …\nrequests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.osv.dev'…",
        "ERROR:pip_audit._cli:Could not connect to OSV's vulnerability feed",
        "error: Failed to fetch: `https://index.example/simple/pip-audit/`",
    ],
)
def test_advisories_that_cannot_be_reached_are_no_other_failure(errors: str) -> None:
    assert problem_in(errors) == NO_ADVISORIES


def test_another_failure_keeps_its_last_line() -> None:
    assert problem_in("Traceback\nValueError: a lock without hashes") == (
        "ValueError: a lock without hashes"
    )
    assert problem_in("") == "pip-audit printed nothing."
