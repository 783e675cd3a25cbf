"""Builds the sdist and the wheel, and checks their files. `make package` writes both to `dist/`."""

import hashlib
import os
import shutil
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from release.steps import ROOT, UV, Failed, require, run

PACKAGES: Final = ("adapters", "db", "gateway", "memory", "parley", "safety", "simulators")
DOCS: Final = "docs"
PACKAGED_DOCS: Final = "parley/documentation/pages"
"""The folder of the pages in the wheel."""
EXAMPLE: Final = "config/parley.example.yaml"
PACKAGED_EXAMPLE: Final = "parley/config/parley.example.yaml"
IN_SDIST: Final = {
    *(".gitignore", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"),
    *("CHANGELOG.md", "requirements/runtime.lock", EXAMPLE),
}
"""Files of the sdist beside the packages. Hatchling always adds the first five."""
EPOCH: Final = "1577836800"
"""SOURCE_DATE_EPOCH of a build outside git, 2020-01-01."""


@dataclass(frozen=True, slots=True)
class Built:
    """The two files of a build."""

    sdist: Path
    wheel: Path


def build(source: Path, target: Path) -> Built:
    """Build both files from a source tree, each directly. Raises `Failed`."""
    for kind in ("--sdist", "--wheel"):
        _uv_build(kind, source, target)
    return Built(_only(target, "*.tar.gz"), _only(target, "*.whl"))


def build_wheel(sdist: Path, target: Path) -> Path:
    """Build the wheel from an sdist, as an installer does. Raises `Failed`."""
    _uv_build("--wheel", sdist, target)
    return _only(target, "*.whl")


def digest(file: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def commit_time() -> str:
    """The value of SOURCE_DATE_EPOCH: the given one, or the time of the commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    if not (ROOT / ".git").exists():
        return EPOCH
    return run(["git", "log", "-1", "--format=%ct"]).strip()


def source_files() -> set[str]:
    """The files of the packages and of the documentation in this tree: those that git knows, or
    all without git."""
    if (ROOT / ".git").exists():
        return set(run(["git", "ls-files", "--", *PACKAGES, DOCS]).split("\n")) - {""}
    folders = (*PACKAGES, DOCS)
    files = (file for name in folders for file in (ROOT / name).rglob("*") if file.is_file())
    return {str(file.relative_to(ROOT)) for file in files if "__pycache__" not in file.parts}


def copy_tree(target: Path) -> None:
    """Copy the files that a build reads to another folder, with other times and permissions."""
    for name in (*source_files(), *(IN_SDIST - {"PKG-INFO"})):
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy)
        copy.chmod(0o600)


def check_wheel(wheel: Path) -> int:
    """Raises `Failed` unless a wheel holds the packages and the example, and nothing else; returns
    the number of its files."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    _compare(wheel.name, names, packaged_files())
    return len(names)


def packaged_files() -> set[str]:
    """The files of a wheel."""
    moved = {
        f"{PACKAGED_DOCS}{name.removeprefix(DOCS)}" if name.startswith(f"{DOCS}/") else name
        for name in source_files()
    }
    return moved | {PACKAGED_EXAMPLE}


def check_sdist(sdist: Path) -> int:
    """The same of an sdist."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    _compare(sdist.name, names, source_files() | IN_SDIST)
    return len(names)


def _compare(archive: str, packed: set[str], expected: set[str]) -> None:
    for names, problem in ((packed - expected, "has"), (expected - packed, "lacks")):
        require(not names, f"{archive} {problem} {', '.join(sorted(names)[:10])}")


def _uv_build(kind: str, source: Path, target: Path) -> None:
    locked = ("--build-constraints", ROOT / "requirements/build.lock", "--require-hashes")
    env = {**os.environ, "SOURCE_DATE_EPOCH": commit_time()}
    run([UV, "build", "--quiet", kind, *locked, "--out-dir", target, source], env=env)


def _only(folder: Path, pattern: str) -> Path:
    matches = list(folder.glob(pattern))
    if len(matches) != 1:
        raise Failed(f"{folder} has {len(matches)} files {pattern}, expected one")
    return matches[0]


def main() -> int:
    """Build both files; returns the exit status."""
    target = ROOT / "dist"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="parley-build-") as folder:
        try:
            built = build(ROOT, Path(folder))
            check_wheel(built.wheel)
            check_sdist(built.sdist)
        except Failed as problem:
            sys.stdout.write(f"{problem}\n")
            return 1
        for file in (built.sdist, built.wheel):
            shutil.copyfile(file, target / file.name)
            sys.stdout.write(f"{digest(file)}  dist/{file.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
