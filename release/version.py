"""`python -m release.version`: the version of `pyproject.toml`, the tag of the commit and the
changelog agree.

The version stands in `pyproject.toml`, so that a build needs neither git nor its history: from an
sdist, in a container, in a shallow clone. This check makes the tag follow it.
"""

import re
import sys
import tomllib
from collections.abc import Sequence
from typing import Final

from release.steps import ROOT, run

ENTRY: Final = re.compile(r"^## \[([^\]]+)\] - (\S+)$", re.MULTILINE)
DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
UNRELEASED: Final = "unreleased"


def project_version() -> str:
    """The version in `pyproject.toml`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["version"])


def problems(version: str, tags: Sequence[str], changelog: str) -> list[str]:
    """Return the versions that do not agree. `tags` are those of the commit that begin with `v`."""
    entries = dict(ENTRY.findall(changelog))
    messages = [
        f"The commit has the tag {tag}, but pyproject.toml has the version {version}."
        for tag in tags
        if tag != f"v{version}"
    ]
    date = entries.get(version)
    if date is None:
        messages.append(f"CHANGELOG.md has no entry `## [{version}] - DATE`.")
    elif tags and not DATE.fullmatch(date):
        messages.append(f"CHANGELOG.md has no date for {version}, which has a tag.")
    elif not tags and date != UNRELEASED and not DATE.fullmatch(date):
        messages.append(f"CHANGELOG.md: {date} is neither a date nor `{UNRELEASED}`.")
    return messages


def tags_of_commit() -> list[str]:
    """The version tags of the checked-out commit; none without git."""
    if not (ROOT / ".git").exists():
        return []
    return run(["git", "tag", "--points-at", "HEAD", "--list", "v*"]).split()


def problems_of_tree() -> list[str]:
    """Return the versions of this tree that do not agree. Raises `Failed` when git fails."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    return problems(project_version(), tags_of_commit(), changelog)


def main() -> int:
    """Print what does not agree; returns the exit status."""
    messages = problems_of_tree()
    sys.stdout.writelines(f"{problem}\n" for problem in messages)
    if not messages:
        tags = ", ".join(tags_of_commit()) or "without a tag"
        sys.stdout.write(f"Version {project_version()}, {tags}.\n")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
