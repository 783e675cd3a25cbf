"""Makes a repository with a long history by `git fast-import`: many modules of generated code and
documents, which change commit by commit."""

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ENVIRONMENT: Final = {
    "PATH": os.environ.get("PATH", os.defpath),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
}
VERBS: Final = (
    *("load", "store", "check", "send", "read", "merge"),
    *("split", "count", "find", "close", "open", "parse"),
)
NOUNS: Final = (
    *("order", "invoice", "user", "cart", "price", "stock"),
    *("report", "queue", "event", "token", "session", "page"),
)
WHO: Final = b"Ada <ada@example.com>"


def make_history(folder: Path, commits: int, files: int) -> None:
    """Make a repository with this number of commits; about `files` files are there at the end."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    stream = b"".join(_commits(commits, files, random.Random(1)))
    subprocess.run(
        ("git", "fast-import", "--quiet"), cwd=folder, input=stream, env=ENVIRONMENT, check=True
    )
    git(folder, "reset", "--hard", "--quiet")


def git(folder: Path, *arguments: str) -> str:
    """The output of a command in a folder."""
    done = subprocess.run(
        ("git", *arguments), cwd=folder, env=ENVIRONMENT, check=True, capture_output=True
    )
    return done.stdout.decode().strip()


def _commits(commits: int, files: int, chance: random.Random) -> Iterator[bytes]:
    for number in range(commits):
        message = f"Change {number}".encode()
        yield b"commit refs/heads/main\n"
        yield b"committer %s %d +0000\n" % (WHO, 1_700_000_000 + number * 60)
        yield b"data %d\n%s\n" % (len(message), message)
        # Each commit adds files until all are there, and changes an earlier one.
        added = range(number * files // commits, (number + 1) * files // commits)
        for place in (*added, chance.randrange(max(1, added.stop))):
            path, content = _file(place, number, chance)
            data = content.encode()
            yield b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data)


def _file(place: int, revision: int, chance: random.Random) -> tuple[str, str]:
    """A path, and a content of some 2 to 8 kB."""
    if place % 10 == 0:
        lines = [f"# {place}: {chance.choice(NOUNS)}", ""]
        for part in range(chance.randrange(4, 12)):
            words = " ".join(chance.choice(VERBS + NOUNS) for _ in range(60))
            lines += [f"## Part {part} of {revision}", "", words, ""]
        return f"docs/{place % 7}/page-{place}.md", "\n".join(lines)
    lines = [f'"""Module {place}, revision {revision}."""', "", "import os", ""]
    for part in range(chance.randrange(6, 20)):
        verb, noun = chance.choice(VERBS), chance.choice(NOUNS)
        lines += [
            f"def {verb}_{noun}_{part}({noun}: str, limit: int = {part}) -> str:",
            f'    """{verb.title()} the {noun} of revision {revision}."""',
            f"    {verb}s = [{noun} for _ in range(limit)]",
            f"    if len({verb}s) > {chance.randrange(1_000)}:",
            f'        raise ValueError("too many: {noun}")',
            f"    return os.sep.join({verb}s)",
            "",
            "",
        ]
    return f"src/p{place % 23}/m{place % 7}/{_name(place)}.py", "\n".join(lines)


def _name(place: int) -> str:
    """The name of a module, the same for the same place."""
    return f"{VERBS[place % len(VERBS)]}_{NOUNS[place // 7 % len(NOUNS)]}_{place}"
