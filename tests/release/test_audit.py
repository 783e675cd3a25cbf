"""`make audit`: the locks that it reads, and its report from the output of pip-audit."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from release.audit import NO_ADVISORIES, describe, locks, problem_in
from release.steps import ROOT

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


def test_every_lock_of_the_repository_is_audited() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.lock"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert locks(ROOT) == sorted(listed.stdout.split())


def test_every_library_of_an_extra_is_in_a_lock_that_is_audited() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    locked = {
        name
        for lock in locks(ROOT)
        for name in re.findall(r"^([a-z0-9-]+)==", (ROOT / lock).read_text("utf-8"), re.MULTILINE)
    }
    for extra, requirements in project["optional-dependencies"].items():
        expected = {re.split(r"[\[<>=!~ ]", each)[0].lower() for each in requirements}
        assert expected <= locked, extra


def test_a_folder_without_locks_has_none(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").touch()
    assert locks(tmp_path) == []
