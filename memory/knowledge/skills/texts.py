"""The skills, as they are installed and served."""

from importlib.resources import files
from typing import Final

import yaml
from msgspec import Struct

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
