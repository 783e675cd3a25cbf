"""The version, the tag of a commit and the changelog have to agree."""

import pytest

from release.version import problems, problems_of_tree

DATED = "# Changelog\n\n## [1.2.0] - 2026-12-01\n\ntext\n\n## [1.1.0] - 2026-06-01\n"
OPEN = DATED.replace("2026-12-01", "unreleased")


def test_a_tagged_release_and_a_version_in_work_are_accepted() -> None:
    assert problems("1.2.0", ["v1.2.0"], DATED) == []
    assert problems("1.2.0", [], OPEN) == []
    assert problems("1.2.0", [], DATED) == []


@pytest.mark.parametrize(
    ("version", "tags", "changelog", "problem"),
    [
        ("1.2.0", ["v1.2.1"], DATED, "The commit has the tag v1.2.1, but pyproject.toml has"),
        ("1.2.0", ["v1.2.0"], OPEN, "no date for 1.2.0"),
        ("1.3.0", [], DATED, "no entry `## [1.3.0] - DATE`"),
        ("1.2.0", [], DATED.replace("2026-12-01", "soon"), "soon is neither"),
    ],
)
def test_a_difference_is_named(version: str, tags: list[str], changelog: str, problem: str) -> None:
    (result,) = problems(version, tags, changelog)
    assert problem in result


def test_this_tree_agrees() -> None:
    assert problems_of_tree() == []
