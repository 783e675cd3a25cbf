"""Installs, describes and removes the hooks of a repository, in the folder in which git looks for
them.

An earlier hook stays in effect. A shell script gets the block after its first line. Anything else,
a program, a link, a file that git does not run, is kept beside our hook, which runs it in its
place.
"""

import os
import stat
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from gateway.errors import BadInput, UsageError
from memory.knowledge.hooks.script import (
    BEFORE,
    EVENTS,
    GONE,
    LOCK,
    LOG,
    REWRITTEN,
    SHEBANG,
    STATE,
    WAITING,
    HookCommand,
    added_lines,
    block,
    has_block,
    is_own,
    is_shell_script,
    own_hook,
    program_of,
    with_block,
    without_block,
)
from safety.process_group import kill_group

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
        raise UsageError(f"{folder} is no folder.")
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
        raise UsageError(NOT_HERE.format(hooks=hooks, scope=scope, folder=top))
    return HookFolder(top, git_dir, real, within_tree)


def _top(folder: Path, git_dir: Path) -> Path:
    """Return the work tree. Raises `BadInput` if the repository names a folder that is no work
    tree of its own (core.worktree): hooks there would not be its own either."""
    top = Path(_git(folder, "rev-parse", "--show-toplevel"))
    problem = UsageError(WORK_TREE.format(folder=folder, top=top))
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
        raise UsageError(SHARED.format(file=file))


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
        raise UsageError("git is not installed, or not on the PATH.") from None
    with git:
        try:
            output, errors = git.communicate(timeout=GIT_SECONDS)
        except subprocess.TimeoutExpired:
            raise UsageError(f"git did not answer within {GIT_SECONDS} seconds.") from None
        finally:
            kill_group(git.pid)  # with every process that it started
    if git.returncode:
        error = errors[:1_000].decode("utf-8", "replace").strip()
        raise UsageError(NO_REPOSITORY.format(folder=folder, error=error or "no message"))
    return os.fsdecode(output[:MAX_OUTPUT]).removesuffix("\n")


HookState = Literal[
    "installed",
    "installed, called by pre-commit",
    "other command",
    "program missing",
    "missing",
]
LEGACY: Final = ".legacy"
"""The end of the name under which `pre-commit install` keeps an earlier hook, and calls it."""
OLD: Final = ".old"
"""The same of lefthook, which does not call it."""
MAX_HOOK: Final = 1_000_000
"""Bytes of a hook that is read."""
MADE: Final = "made-hooks-folder"
STATE_FILES: Final = (WAITING, REWRITTEN, LOG, LOCK, MADE, GONE)
LINK: Final = (
    "{path} is a link: nothing is written or deleted through it. Delete it, and try again."
)
ORPHAN: Final = (
    "{before} is an earlier hook that was kept, but {hook} is gone. Rename it to {name}, or delete "
    "it, and try again."
)
SECOND: Final = (
    "{before} is an earlier hook that was kept, and {hook} is another one since. Put both into "
    "{hook}, delete the kept one, and try again."
)


class Installed(Struct, frozen=True):
    """The result for one hook. `kept` is true if an earlier hook stays in effect."""

    event: str
    path: Path
    kept: bool


def install(where: HookFolder, command: HookCommand) -> list[Installed]:
    """Install all hooks, or bring them up to date. Raises `BadInput`."""
    for event in EVENTS:
        _check(where.hooks / event, event)
    _check_state(command)
    command.state.mkdir(mode=0o700, exist_ok=True)
    (command.state / GONE).unlink(missing_ok=True)
    if not where.hooks.exists():
        where.hooks.mkdir(parents=True)
        (command.state / MADE).touch()
    return [_install(_place(where.hooks / event), event, command) for event in EVENTS]


def _check(path: Path, event: str) -> None:
    before = _before(path, event)
    if before.exists() and not os.path.lexists(path):
        raise UsageError(ORPHAN.format(before=before, hook=path.name, name=path.name))
    if path.is_dir():
        raise UsageError(f"{path} is a folder: no hook can be there.")
    if os.path.lexists(before) and os.path.lexists(path) and _is_put_aside(_text(path), path):
        raise UsageError(SECOND.format(before=before, hook=path.name))


def _check_state(command: HookCommand) -> None:
    """Raise `BadInput` for a link where the hooks write: a copied repository can contain one."""
    for path in (command.state, *(command.state / name for name in STATE_FILES)):
        if path.is_symlink():
            raise UsageError(LINK.format(path=path))


def _install(path: Path, event: str, command: HookCommand) -> Installed:
    text, before = _text(path), _before(path, event)
    if text is None and not os.path.lexists(path):
        _write(path, own_hook(event, command, kept=False))
        return Installed(event, path, kept=False)
    if text is not None and is_own(text):
        kept = os.path.lexists(before)
        _write(path, own_hook(event, command, kept=kept) + added_lines(text, event))
        return Installed(event, path, kept=kept)
    if text is not None and has_block(text):
        _write(path, with_block(without_block(text), event, command), _mode(path))
    elif _is_put_aside(text, path):
        path.rename(before)
        _write(path, own_hook(event, command, kept=True))
    elif text is not None:
        _write(path, with_block(text, event, command), _mode(path))
    return Installed(event, path, kept=True)


def _is_put_aside(text: bytes | None, path: Path) -> bool:
    """True for a hook of somebody else that is no shell script which git runs."""
    return text is None or not (has_block(text) or (is_shell_script(text) and _runs(path)))


def remove(where: HookFolder, command: HookCommand) -> int:
    """Remove all hooks and their state, and restore what was there before; return the number of
    hooks that were installed. Raises `BadInput`."""
    _check_state(command)
    removed = 0
    for event in EVENTS:
        path = where.hooks / event
        removed += _remove(path, event)
        for ending in (LEGACY, OLD):
            _remove(path.with_name(path.name + ending), event)
    made = (command.state / MADE).exists()
    for name in STATE_FILES:
        (command.state / name).unlink(missing_ok=True)
    with suppress(OSError):
        command.state.rmdir()
    if made:
        with suppress(OSError):
            where.hooks.rmdir()
    return removed


def _remove(path: Path, event: str) -> bool:
    text, before = _text(path), _before(path, event)
    if text is None or not has_block(text):
        return False
    if not is_own(text):
        _write(path, without_block(text), _mode(path))
        return True
    added = added_lines(text, event)
    if added:
        _write(path, SHEBANG + added, _mode(path))
    elif os.path.lexists(before):
        before.replace(path)
    else:
        path.unlink()
    return True


def states(where: HookFolder, command: HookCommand) -> dict[str, HookState]:
    """Return the state of each hook."""
    return {event: _state(where.hooks / event, event, command) for event in EVENTS}


def lost_hooks(folder: Path, git_dir: Path) -> list[str]:
    """Return the hooks that were installed and do not run any more: a tool such as husky wrote
    hooks of its own, or named another folder for them, or the program is gone that they start.
    Empty where none were installed."""
    state = git_dir / STATE
    if state.is_symlink() or not state.is_dir():
        return []
    try:
        hooks = find_hooks(folder).hooks
    except BadInput:  # they are not in the folder that git uses now
        return list(EVENTS)
    paths = {event: hooks / event for event in EVENTS}
    return [event for event, path in paths.items() if not _is_called(path) or _is_idle(path)]


def _is_called(path: Path) -> bool:
    text = _text(path)
    return (text is not None and has_block(text) and _runs(path)) or _place(path) != path


def _is_idle(path: Path) -> bool:
    """True for a hook whose program is gone."""
    text = _text(_place(path))
    program = None if text is None else program_of(text)
    return program is not None and not _runs(program)


def _state(path: Path, event: str, command: HookCommand) -> HookState:
    if not _is_called(path):
        return "missing"
    if _is_idle(path):
        return "program missing"
    if _place(path) != path:
        return "installed, called by pre-commit"
    return "installed" if block(event, command) in (_text(path) or b"") else "other command"


def _place(path: Path) -> Path:
    """Return the place of our hook: beside the one of pre-commit if that keeps and calls ours."""
    text, legacy = _text(path), path.with_name(path.name + LEGACY)
    kept = _text(legacy)
    called = text is not None and not has_block(text) and b"pre-commit" in text
    return legacy if called and kept is not None and has_block(kept) else path


def _before(path: Path, event: str) -> Path:
    return path.with_name(event + BEFORE)


def _text(path: Path) -> bytes | None:
    """Return a hook's text; None if it is no regular file, or too large for a script."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_HOOK:
            return None
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _runs(path: Path) -> bool:
    return os.access(path, os.X_OK)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _write(path: Path, text: bytes, mode: int = 0o755) -> None:
    """Replace a file at once, without following a link."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".parley-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise
