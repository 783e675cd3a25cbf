"""Installs the skills in a repository, and removes them. A file that somebody changed stays."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from gateway.errors import BadInput
from memory.knowledge.skills.texts import FILE, Skill

DEFAULT: Final = ".claude/skills"
MAX_SKILL: Final = 100_000
"""Bytes of a file that is compared."""
SkillState = Literal["installed", "changed", "missing"]
LINK: Final = "{path} is a link: nothing is written through it. Name another folder: --directory."
OUTSIDE: Final = "{directory} leads out of {top}. Name a folder within it: --directory."
NOT_A_FOLDER: Final = "{path} is no folder."


@dataclass(frozen=True, slots=True)
class SkillFile:
    """The file of a skill in a repository, and its state."""

    skill: Skill
    path: Path
    state: SkillState


def skill_files(top: Path, directory: str, skills: tuple[Skill, ...]) -> list[SkillFile]:
    """Return the files below `top`, the folder of a repository. Raises `BadInput` for a folder
    outside, and for links on the way."""
    relative = Path(os.path.normpath(directory or DEFAULT))
    if relative.is_absolute() or ".." in relative.parts or "\0" in directory:
        raise BadInput(OUTSIDE.format(directory=directory, top=top))
    found = []
    for skill in skills:
        path = _checked(top, relative / skill.name / FILE)
        found.append(SkillFile(skill, path, _state(path, skill)))
    return found


def install(file: SkillFile, *, force: bool = False) -> bool:
    """Write a missing file, and with `force` a changed one; True if it was written."""
    if file.state == "installed" or (file.state == "changed" and not force):
        return False
    file.path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(file.path, flags, 0o644), "w", encoding="utf-8") as handle:
        handle.write(file.skill.text)
    return True


def remove(file: SkillFile, *, force: bool = False) -> bool:
    """Delete a file, a changed one only with `force`, and its folder if that is empty; True if it
    was deleted."""
    if file.state == "missing" or (file.state == "changed" and not force):
        return False
    file.path.unlink()
    if not any(file.path.parent.iterdir()):
        file.path.parent.rmdir()
    return True


def _checked(top: Path, relative: Path) -> Path:
    """Return a path below a folder; links and files on the way are refused."""
    path = top
    for part in relative.parts:
        path = path / part
        if path.is_symlink():
            raise BadInput(LINK.format(path=path))
        if part != relative.name and path.exists() and not path.is_dir():
            raise BadInput(NOT_A_FOLDER.format(path=path))
    if path.exists() and not path.is_file():
        raise BadInput(f"{path} is no file.")
    return path


def _state(path: Path, skill: Skill) -> SkillState:
    if not path.exists():
        return "missing"
    if path.stat().st_size > MAX_SKILL:
        return "changed"
    same = path.read_bytes() == skill.text.encode("utf-8")
    return "installed" if same else "changed"
