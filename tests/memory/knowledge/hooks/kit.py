"""Real repositories with hooks, and a program that the hooks start."""

import os
import shlex
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory.knowledge.hooks.install import HookFolder, find_hooks, install, remove
from memory.knowledge.hooks.script import HookCommand

PATIENCE: Final = 20.0
AUTHOR: Final = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


def environment(**more: str) -> dict[str, str]:
    """The variables of a graphical client: a short PATH, and no configuration of the user."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_EDITOR": "true",
        "GIT_SEQUENCE_EDITOR": "true",
        **more,
    }


@dataclass
class Repository:
    """A repository, and the command that its hooks run."""

    folder: Path
    command: HookCommand
    runs: Path

    def git(self, *arguments: str, at: Path | None = None, **more: str) -> str:
        done = subprocess.run(
            ["git", *AUTHOR, *arguments],
            cwd=at or self.folder,
            env=environment(**more),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def commit(self, text: str = "x", *, at: Path | None = None, **more: str) -> str:
        (at or self.folder).joinpath("notes.md").write_text(text)
        self.git("add", "notes.md", at=at)
        return self.git("commit", "-m", text, at=at, **more)

    @property
    def where(self) -> HookFolder:
        return find_hooks(self.folder)

    def install(self) -> None:
        install(self.where, self.command)

    def remove(self) -> int:
        return remove(self.where, self.command)

    def hook(self, event: str = "post-commit") -> Path:
        return self.where.hooks / event

    def started(self) -> int:
        """The number of background processes that began."""
        return len(self.runs.read_text().splitlines()) if self.runs.exists() else 0

    def wait_for(self, count: int) -> int:
        until = time.monotonic() + PATIENCE
        while self.started() < count and time.monotonic() < until:
            time.sleep(0.01)
        return self.started()

    def settle(self) -> int:
        """Wait until no background process is left, and return how many began."""
        until = time.monotonic() + PATIENCE
        waiting = self.command.state / "waiting"
        while waiting.exists() and time.monotonic() < until:
            time.sleep(0.01)
        return self.started()


PROGRAM: Final = """#!/bin/sh
printf '%s\\0' "$PWD" "${{GIT_DIR-none}}" "${{GIT_INDEX_FILE-none}}" "$@" > {runs}.last
echo run >> {runs}
rm -f {waiting}
"""


def repository(folder: Path, *arguments: str) -> Repository:
    """A new repository in `folder`, beside which the program lies."""
    folder.mkdir(parents=True)
    program = folder.parent / "the program's own"
    runs = folder.parent / "runs"
    subprocess.run(
        ["git", "init", "-q", "-b", "main", "--template=", *arguments],
        cwd=folder, env=environment(), check=True,
    )  # fmt: skip
    git_dir = find_hooks(folder).git_dir
    command = HookCommand((str(program), "ingest", str(folder)), folder.parent, git_dir)
    waiting = shlex.quote(str(command.state / "waiting"))
    program.write_text(PROGRAM.format(waiting=waiting, runs=shlex.quote(str(runs))))
    program.chmod(0o755)
    return Repository(folder, command, runs)


def write_hook(path: Path, text: str | bytes, *, runs: bool = True) -> bytes:
    """Write a hook of somebody else, and return its bytes."""
    data = text.encode() if isinstance(text, str) else text
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o755 if runs else 0o644)
    return data


def listing(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Every file of a folder with its mode, and its bytes or the target of the link."""
    return {
        path.name: (
            path.lstat().st_mode,
            str(path.readlink()) if path.is_symlink() else path.read_bytes(),
        )
        for path in (folder.iterdir() if folder.exists() else ())
    }


def seconds_of(hook: Path, at: Path, times: int) -> float:
    """The shortest time of a hook, run as git runs it."""
    best = float("inf")
    for _ in range(times):
        begun = time.perf_counter()
        subprocess.run([os.fspath(hook)], cwd=at, env=environment(), check=True)
        best = min(best, time.perf_counter() - begun)
    return best
