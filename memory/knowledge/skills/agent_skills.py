"""The skills as they are installed and served, and their installation in a repository. A file that
somebody changed stays."""

import os
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

import yaml
from msgspec import Struct

from gateway.errors import UsageError

PACKAGE: Final = "memory.knowledge.skills"
NAMES: Final = ("session-init", "session-save")
FILE: Final = "SKILL.md"
FENCE: Final = "---\n"
TITLES: Final = {"session-init": "Start of a session", "session-save": "End of a session"}
WHEN_TO_USE: Final = "Use it "
"""The beginning of the sentence of a description that says when an agent uses the skill."""
NEXT: Final = "\ncompatibility:"
"""The field after the description."""
ON_REQUEST: Final = "Use it only when the\n  user asks for it by its name."


class Skill(Struct, frozen=True):
    """A skill: the whole file, and its parts. `on_request` is the file for repositories whose
    agents do not discover skills by themselves."""

    name: str
    title: str
    description: str
    body: str
    text: str
    on_request: str


def read_skills() -> tuple[Skill, ...]:
    """Return the skills that come with the program."""
    return tuple(skill_of(name, _text(name)) for name in NAMES)


def skill_of(name: str, text: str) -> Skill:
    """Return the skill of a file."""
    _, front, body = text.split(FENCE, 2)
    description = str(yaml.safe_load(front)["description"])
    before, _, rest = text.partition(WHEN_TO_USE)
    on_request = f"{before}{ON_REQUEST}{NEXT}{rest.partition(NEXT)[2]}"
    return Skill(name, TITLES[name], description, body.lstrip("\n"), text, on_request)


def _text(name: str) -> str:
    return files(PACKAGE).joinpath(name, FILE).read_text("utf-8")


DEFAULT: Final = ".claude/skills"
MAX_SKILL: Final = 100_000
"""Bytes of a file that is compared."""
SkillState = Literal["installed", "outdated", "changed", "missing"]
"""An outdated file is the one for the other value of `skills.auto_discover`."""
GIT: Final = ".git"
IN_GIT: Final = (
    "{directory} is in the folder of git, where agents look for no skills. Name another folder: "
    "--directory."
)
LINK: Final = "{path} is a link, and nothing is read or written through links. {advice}"
ANOTHER: Final = "Name another folder: --directory."
OUTSIDE: Final = "{directory} leads out of {top}. Name a folder within it: --directory."
NOT_A_FOLDER: Final = "{path} is no folder."


class SkillFile(Struct, frozen=True):
    """The file of a skill in a repository, its text and its state."""

    text: str
    path: Path
    state: SkillState


def skill_files(
    top: Path, directory: str, skills: tuple[Skill, ...], *, discovered: bool = True
) -> list[SkillFile]:
    """Return the files below `top`, the folder of a repository; not `discovered`: those that agents
    use only on request. Raises `BadInput` for a folder outside or of git, and for links on the way.
    """
    if not top.is_dir():
        raise UsageError(NOT_A_FOLDER.format(path=top))
    relative = Path(os.path.normpath(directory or DEFAULT))
    if relative.is_absolute() or ".." in relative.parts or "\0" in directory:
        raise UsageError(OUTSIDE.format(directory=directory, top=top))
    if GIT in (part.lower() for part in relative.parts):
        raise UsageError(IN_GIT.format(directory=directory))
    found = []
    for skill in skills:
        path = checked(top, relative / skill.name / FILE, ANOTHER)
        texts = (skill.text, skill.on_request) if discovered else (skill.on_request, skill.text)
        found.append(SkillFile(texts[0], path, _state(path, *texts)))
    return found


def install(file: SkillFile, *, force: bool = False) -> bool:
    """Write a missing or outdated file, and with `force` a changed one; True if it was written."""
    if file.state == "installed" or (file.state == "changed" and not force):
        return False
    file.path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(file.path, flags, 0o644), "w", encoding="utf-8") as handle:
        handle.write(file.text)
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


def checked(top: Path, relative: Path, advice: str) -> Path:
    """Return the path of a file below a folder. Raises `BadInput` for links, with the advice, for
    files in the place of folders, and for a folder in the place of the file."""
    path = top
    for place, part in enumerate(relative.parts, 1):
        path = path / part
        if path.is_symlink():
            raise UsageError(LINK.format(path=path, advice=advice))
        if place < len(relative.parts) and path.exists() and not path.is_dir():
            raise UsageError(NOT_A_FOLDER.format(path=path))
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is no file.")
    return path


def _state(path: Path, wanted: str, other: str) -> SkillState:
    if not path.exists():
        return "missing"
    if path.stat().st_size > MAX_SKILL:
        return "changed"
    content = path.read_bytes()
    if content == wanted.encode():
        return "installed"
    return "outdated" if content == other.encode() else "changed"
