"""`make audit`: asks OSV (osv.dev) for known vulnerabilities of every locked version, by pip-audit.

Exit status: 0 none is known, 1 at least one is known, 2 pip-audit failed, 3 the advisories cannot
be reached.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from release.steps import ROOT, SECONDS, UVX

PIP_AUDIT: Final = "pip-audit==2.10.1"
FAILED: Final = 2
UNREACHABLE: Final = 3
NO_ADVISORIES: Final = "The advisories at osv.dev, or pip-audit itself, cannot be reached."
NO_CONNECTION: Final = ("ConnectionError", "Could not connect", "Timeout", "Failed to fetch")
"""In the errors of pip-audit and of uvx."""


def main() -> int:
    """Audit every lock; returns the exit status."""
    status = 0
    names = locks(ROOT)
    if not names:
        sys.stdout.write(f"{ROOT} has no lock file, so nothing was checked.\n")
        return FAILED
    for lock in names:
        report, problem = _audit(lock)
        if report is None:
            sys.stdout.write(f"{lock}: not checked. {problem}\n")
            return UNREACHABLE if problem == NO_ADVISORIES else FAILED
        findings = list(describe(report))
        status = 1 if findings else status
        count = len(report["dependencies"])
        sys.stdout.write(f"{lock}: {count} versions, {len(findings)} known vulnerabilities\n")
        sys.stdout.writelines(f"  {line}\n" for line in findings)
    return status


def locks(folder: Path) -> list[str]:
    """All lock files of a source tree, relative to it, those of the extras included."""
    return sorted(str(path.relative_to(folder)) for path in folder.glob("requirements/*.lock"))


def describe(report: dict[str, Any]) -> Iterator[str]:
    """A line for each flaw in a report of pip-audit."""
    for dependency in report["dependencies"]:
        for flaw in dependency.get("vulns", ()):
            fixed = ", ".join(flaw["fix_versions"]) or "no version yet"
            yield f"{dependency['name']} {dependency['version']}: {flaw['id']}, fixed in {fixed}"


def _audit(lock: str) -> tuple[dict[str, Any] | None, str]:
    """The report about one lock, or None and the reason."""
    command: list[str | Path] = [
        *(UVX, "--quiet", PIP_AUDIT, "--requirement", ROOT / lock, "--require-hashes"),
        *("--disable-pip", "--flaw-service", "osv", "--format", "json"),
        *("--progress-spinner", "off"),
    ]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return None, NO_ADVISORIES
    try:
        report: dict[str, Any] = json.loads(ended.stdout)
    except ValueError:
        return None, problem_in(ended.stderr)
    return report, ""


def problem_in(errors: str) -> str:
    """The reason why there is no report, from the error output of uvx and pip-audit."""
    if any(sign in errors for sign in NO_CONNECTION):
        return NO_ADVISORIES
    return (errors.strip().splitlines() or ["pip-audit printed nothing."])[-1][:300]


if __name__ == "__main__":
    sys.exit(main())
