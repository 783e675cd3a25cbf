"""Finds the folder with the hooks of a repository, as git itself does."""

import os
import subprocess
from pathlib import Path
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput
from memory.git.process_group import kill_group

GIT_SECONDS: Final = 10
MAX_OUTPUT: Final = 100_000
NO_REPOSITORY: Final = "{folder} is not in a git repository, or git does not trust it: {error}"
WORK_TREE: Final = (
    "{folder} names {top} as its work tree (core.worktree), which is not one of its own. Remove "
    "the setting: `git -C {folder} config --unset core.worktree`."
)
SHARED: Final = (
    "{file} names another folder for the branches and hooks of this repository, as only the work "
    "trees of `git worktree` have it. Delete that file."
)
NOT_HERE: Final = (
    "git takes the hooks of this repository from {hooks} (core.hooksPath, {scope}), which is "
    "outside it: a hook there would run in other repositories too. Give the repository hooks of "
    "its own, `git -C {folder} config core.hooksPath .git/hooks`, or run "
    "`parley knowledge ingest {folder}` from a hook in that folder."
)


class HookFolder(Struct, frozen=True):
    """The folders of one repository, all absolute. `git_dir` is shared by all work trees;
    `in_work_tree`: git shows changes of the hooks as changes of the repository, unless they are
    ignored."""

    folder: Path
    git_dir: Path
    hooks: Path
    in_work_tree: bool = False


def find_hooks(folder: Path) -> HookFolder:
    """Return the folders. Raises `BadInput` without a repository, and if its hooks are outside."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder.")
    git_dir = Path(_git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    _refuse_shared(Path(_git(folder, "rev-parse", "--absolute-git-dir")), git_dir)
    hooks = Path(_git(folder, "rev-parse", "--path-format=absolute", "--git-path", "hooks"))
    bare = _git(folder, "rev-parse", "--is-bare-repository") == "true"
    top = folder if bare else _top(folder, git_dir)
    real = hooks.resolve()
    within_git = real.is_relative_to(git_dir.resolve())
    within_tree = not within_git and not bare and real.is_relative_to(top.resolve())
    if not (within_git or within_tree):
        scope = _scope_of_hooks_path(folder)
        raise BadInput(NOT_HERE.format(hooks=hooks, scope=scope, folder=top))
    return HookFolder(top, git_dir, real, within_tree)


def _top(folder: Path, git_dir: Path) -> Path:
    """Return the work tree. Raises `BadInput` if the repository names a folder that is no work
    tree of its own (core.worktree): hooks there would not be its own either."""
    top = Path(_git(folder, "rev-parse", "--show-toplevel"))
    problem = BadInput(WORK_TREE.format(folder=folder, top=top))
    if not os.path.lexists(top / ".git"):
        raise problem
    if Path(_git(top, "rev-parse", "--path-format=absolute", "--git-common-dir")) != git_dir:
        raise problem
    return top


def _refuse_shared(git_dir: Path, common_dir: Path) -> None:
    """Raise `BadInput` for a repository that takes its branches and hooks from another one and is
    none of its work trees: hooks would be written there."""
    file = git_dir / "commondir"
    if os.path.lexists(file) and git_dir.parent.parent.resolve() != common_dir.resolve():
        raise BadInput(SHARED.format(file=file))


def _scope_of_hooks_path(folder: Path) -> str:
    try:
        answer = _git(folder, "config", "--show-scope", "--get", "core.hooksPath")
    except BadInput:
        return "a link"
    return f"{answer.partition(chr(9))[0]} configuration"


def _git(folder: Path, *arguments: str) -> str:
    """Return the output of git without the last line feed. Raises `BadInput`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        git = subprocess.Popen(  # noqa: S603 - no shell, and fixed arguments
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the git of the user's PATH
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise BadInput("git is not installed, or not on the PATH.") from None
    with git:
        try:
            output, errors = git.communicate(timeout=GIT_SECONDS)
        except subprocess.TimeoutExpired:
            raise BadInput(f"git did not answer within {GIT_SECONDS} seconds.") from None
        finally:
            kill_group(git.pid)  # with every process that it started
    if git.returncode:
        error = errors[:1_000].decode("utf-8", "replace").strip()
        raise BadInput(NO_REPOSITORY.format(folder=folder, error=error or "no message"))
    return os.fsdecode(output[:MAX_OUTPUT]).removesuffix("\n")
