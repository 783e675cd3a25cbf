"""`parley skills`: the Agent Skills for coding sessions."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from memory.knowledge.ingest.ingester import CONFIGURATION, MAX_CONFIGURATION
from memory.knowledge.skills.agent_skills import (
    SkillFile,
    checked,
    install,
    read_skills,
    remove,
    skill_files,
)
from parley.cli.terminal import print_text
from parley.config.agent_file import Skills, read_agent_file

Folder = Annotated[
    Path, typer.Argument(metavar="[REPO]", help="The folder of a repository. Default: this one.")
]
Directory = Annotated[
    str,
    typer.Option(
        help="The folder of the skills in it. Default: skills.directory of .agent/config.yaml, or "
        ".claude/skills."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Also files that somebody changed.")]
COMMITTED: Final = "Replace the link by what it leads to."
CHANGED: Final = "{path} was changed and stays as it is; --force {what} it.\n"


def install_skills(repo: Folder = Path(), directory: Directory = "", force: Force = False) -> int:
    """Write session-init and session-save into a repository; 1 if a changed file stays."""
    left = 0
    for file in _files(repo, directory):
        if install(file, force=force):
            print_text(f"{file.path}: written\n")
        elif file.state == "installed":
            print_text(f"{file.path}: up to date\n")
        else:
            left += 1
            print_text(CHANGED.format(path=file.path, what="replaces"), sys.stderr)
    return int(left > 0)


def remove_skills(repo: Folder = Path(), directory: Directory = "", force: Force = False) -> int:
    """Delete session-init and session-save from a repository; 1 if a changed file stays."""
    left = 0
    for file in _files(repo, directory):
        if remove(file, force=force):
            print_text(f"{file.path}: deleted\n")
        elif file.state == "missing":
            print_text(f"{file.path}: not there\n")
        else:
            left += 1
            print_text(CHANGED.format(path=file.path, what="deletes"), sys.stderr)
    return int(left > 0)


def show_skills(repo: Folder = Path(), directory: Directory = "") -> int:
    """Show which skills are installed in a repository; 1 if one is missing."""
    files = _files(repo, directory)
    for file in files:
        print_text(f"{file.path}: {file.state}\n")
    return int(any(file.state == "missing" for file in files))


def _files(repo: Path, directory: str) -> list[SkillFile]:
    top = repo.expanduser().absolute()
    configured = _configured(top)
    folder = directory or configured.directory
    return skill_files(top, folder, read_skills(), discovered=configured.auto_discover)


def _configured(top: Path) -> Skills:
    """The settings in the work tree of the repository."""
    path = checked(top, Path(CONFIGURATION), COMMITTED)
    if not path.is_file() or path.stat().st_size > MAX_CONFIGURATION:
        return Skills()
    return read_agent_file(path.read_bytes()).skills
