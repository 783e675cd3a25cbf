"""Real git repositories for tests, made by the git of this machine."""

import hashlib
import os
import subprocess
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_AUTHOR_DATE": "2026-11-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-11-01T00:00:00Z",
}


@dataclass(frozen=True)
class TestRepository:
    """A repository in a folder."""

    __test__ = False

    folder: Path

    def git(self, *arguments: str, content: bytes | None = None) -> str:
        """The output of a command in the folder, without the last line end."""
        done = subprocess.run(
            ("git", "-C", str(self.folder), *arguments),
            input=content,
            capture_output=True,
            env=ENVIRONMENT,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files of the work tree."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(
        self, files: Mapping[str, str | bytes] | None = None, message: str = "Change"
    ) -> str:
        """Write files, commit everything, and return the commit."""
        self.write(files or {})
        self.git("add", "-A", "-f", ".")
        self.git("commit", "--quiet", "--allow-empty", "--no-verify", "-m", message)
        return self.git("rev-parse", "HEAD")

    def blob(self, content: bytes) -> str:
        """Store a blob, and return its id."""
        return self.git("hash-object", "-w", "--stdin", content=content)

    def raw_object(self, kind: str, content: bytes) -> str:
        """Store an object that git itself would refuse to make, and return its id."""
        data = f"{kind} {len(content)}".encode() + b"\0" + content
        name = hashlib.sha1(data).hexdigest()
        file = self.folder / ".git" / "objects" / name[:2] / name[2:]
        file.parent.mkdir(exist_ok=True)
        if not file.exists():
            file.write_bytes(zlib.compress(data))
        return name

    def raw_tree(self, *entries: tuple[str, bytes, str]) -> str:
        """Store a tree of (mode, name, id), in this order and unchecked."""
        parts = (
            mode.encode() + b" " + name + b"\0" + bytes.fromhex(id_) for mode, name, id_ in entries
        )
        return self.raw_object("tree", b"".join(parts))

    def commit_tree(self, tree: str) -> str:
        """Commit a tree on the checked out branch, without a look at the work tree."""
        commit = self.git("commit-tree", tree, "-m", "Crafted")
        self.git("update-ref", "HEAD", commit)
        return commit


def new_repository(folder: Path, *options: str) -> TestRepository:
    """An empty repository with the branch main."""
    folder.mkdir(parents=True, exist_ok=True)
    made = TestRepository(folder)
    made.git("init", "--quiet", "--initial-branch=main", *options)
    return made
