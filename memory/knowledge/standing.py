"""The branches of a repository in the index, beside those of git.

Imports no library, for `parley.cli.knowledge.quick_status`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from memory.git.errors import NotARepository
from memory.git.location import locate
from memory.git.refs import head, tips
from memory.knowledge.model import BranchState, Repository

MAX_TOLD: Final = 5
"""Repositories that one answer names as older."""
SHOWN: Final = 12
"""Characters of a commit."""
OLDER: Final = (
    "The index of the repository {name} is at {indexed}, and the repository at {latest}: what "
    "changed since is not found here, or found as it was. Say so in the answer."
)


class Standing(Struct, frozen=True):
    """A branch in the index beside the branch in git. `commit` is "" if git has none."""

    state: BranchState
    commit: str

    @property
    def text(self) -> str:
        """Fresh, or what is missing."""
        if not self.commit:
            return "gone"
        if self.state.target:
            return "interrupted"
        return "fresh" if self.state.commit == self.commit else "stale"


def standings(repository: Repository, states: Sequence[BranchState]) -> tuple[list[Standing], str]:
    """The branches beside those of git, and the reason for which git cannot be read."""
    try:
        location = locate(Path(repository.folder))
        commits = tips(location, [state.name for state in states])
        checked_out = head(location).commit
    except NotARepository as error:
        return [Standing(state, "") for state in states], str(error)
    return [
        Standing(state, checked_out if state.followed else commits[state.name]) for state in states
    ], ""


def older_than_git(
    repositories: Sequence[tuple[Repository, Sequence[BranchState]]],
) -> list[str]:
    """A sentence for each repository whose index is older than git, `MAX_TOLD` at most. Names of
    branches are text of others, and are not in it. Reads files: not on an event loop."""
    told: list[str] = []
    for repository, states in repositories:
        behind = [one for one in standings(repository, states)[0] if one.text == "stale"]
        if behind and len(told) < MAX_TOLD:
            indexed, latest = behind[0].state.commit[:SHOWN], behind[0].commit[:SHOWN]
            indexed = indexed or "no commit yet"
            told.append(OLDER.format(name=repository.name, indexed=indexed, latest=latest))
    return told
