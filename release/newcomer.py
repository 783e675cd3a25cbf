"""`make newcomer`: does what a new user types until the demo has answered, and prints its cost.

`python -m release.newcomer [clone] [uvx]`. Every way starts with empty caches and an empty folder.
Input is closed: a command that asks a question fails.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from release.build import build
from release.counting_proxy import CountingProxy
from release.steps import ROOT, UV, Failed, shown

MINUTES: Final = 15
"""The time limit of one command."""
PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one way to the first answer. `downloaded` is None behind a proxy of the user."""

    commands: Sequence[str]
    downloaded: int | None
    installed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Way:
    """One way: its commands in a folder, and the folders that hold what it installed."""

    title: str
    commands: Sequence[Sequence[str | Path]]
    cwd: Sequence[Path]
    installed: Sequence[Path]


def clone(folder: Path) -> Way:
    """A clean clone of this repository's commit, and `make demo`."""
    tree = folder / "parley"
    return Way(
        "clean clone",
        (
            ("git", "clone", "--quiet", f"file://{ROOT}", tree),
            ("make", "demo", "ARGS=--once"),
        ),
        (folder, tree),
        (tree,),
    )


def uvx(folder: Path) -> Way:
    """The wheel with `uvx`, which is installed already."""
    wheel = build(ROOT, folder / "dist").wheel
    (folder / "empty").mkdir()
    return Way(
        "wheel with uvx",
        (("uvx", "--from", wheel, "parley", "demo", "--once"),),
        (folder / "empty",),
        (folder / "uv-cache",),
    )


WAYS: Final[Mapping[str, Callable[[Path], Way]]] = {"clone": clone, "uvx": uvx}


def main(names: Sequence[str]) -> int:
    """Go the named ways, or all; returns the exit status."""
    unknown = [name for name in names if name not in WAYS]
    if unknown:
        sys.stderr.write(f"Unknown: {', '.join(unknown)}. Known: {', '.join(WAYS)}.\n")
        return 2
    for name in names or WAYS:
        with tempfile.TemporaryDirectory(prefix="parley-newcomer-") as folder:
            try:
                way = WAYS[name](Path(folder))
                cost = go(way, Path(folder))
            except Failed as problem:
                sys.stdout.write(f"{name}: {problem}\n")
                return 1
        sys.stdout.write(report(way.title, cost))
    return 0


def go(way: Way, folder: Path) -> Cost:
    """Run the commands of one way. Raises `Failed`."""
    with CountingProxy() as proxy:
        env, counted = _environment(folder, proxy.url)
        started = time.monotonic()
        for command, cwd in zip(way.commands, way.cwd, strict=True):
            _run(command, cwd, env)
        seconds = time.monotonic() - started
    commands = [shown(command).replace(f"{folder}/", "") for command in way.commands]
    installed = sum(map(_size, way.installed))
    return Cost(commands, proxy.received if counted else None, installed, seconds)


def report(title: str, cost: Cost) -> str:
    """The cost of one way as text."""
    downloaded = "not counted, a proxy is set" if cost.downloaded is None else _mb(cost.downloaded)
    return "\n".join(
        [
            f"{title}:",
            *(f"  $ {command}" for command in cost.commands),
            f"  commands typed   {len(cost.commands)}",
            "  questions asked  0 (input is closed)",
            f"  downloaded       {downloaded}",
            f"  on the disk      {_mb(cost.installed)}",
            f"  seconds          {cost.seconds:.0f}",
            "",
        ]
    )


def _environment(folder: Path, proxy: str) -> tuple[dict[str, str], bool]:
    """The environment with empty caches, and whether downloads go through the counting proxy."""
    kept = {name: value for name, value in os.environ.items() if "API_KEY" not in name}
    env = {
        **kept,
        "PATH": f"{UV.parent}:{kept['PATH']}",
        "UV_CACHE_DIR": str(folder / "uv-cache"),
        "PIP_CACHE_DIR": str(folder / "pip-cache"),
        "COLUMNS": "100",
    }
    if any(name in env or name.lower() in env for name in PROXIES):
        return env, False
    return {**env, **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), proxy)}, True


def _run(command: Sequence[str | Path], cwd: Path, env: Mapping[str, str]) -> None:
    ended = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60 * MINUTES,
        check=False,
    )
    if ended.returncode != 0:
        raise Failed(f"{shown(command)} ended with {ended.returncode}:\n{ended.stderr[-3000:]}")


def _size(folder: Path) -> int:
    """Bytes on the disk; a file with several names counts once."""
    sizes = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            status = path.stat()
            sizes[status.st_dev, status.st_ino] = status.st_size
    return sum(sizes.values())


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
