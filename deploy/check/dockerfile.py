"""Reads the instructions of a Dockerfile, as far as this repository's one uses them."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from deploy.check.steps import CheckFailed

VARIABLE: Final = re.compile(r"\$\{(\w+)\}|\$(\w+)")
KNOWN: Final = (
    *("FROM", "ARG", "ENV", "LABEL", "RUN", "COPY", "WORKDIR", "USER"),
    *("VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"),
)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; `text` is everything behind its name, on one line."""

    name: str
    text: str


@dataclass(slots=True)
class Stage:
    """A stage: the image or the stage that it begins with, and its instructions."""

    name: str
    base: str
    steps: list[Instruction] = field(default_factory=list)


def read_stages(path: Path) -> tuple[dict[str, Stage], str]:
    """The stages by name, and the name of the last one, which a build without a target makes.

    Raises `CheckFailed` for an instruction that is not known.
    """
    arguments: dict[str, str] = {}
    stages: dict[str, Stage] = {}
    current = ""
    for name, text in _instructions(path.read_text("utf-8")):
        if name not in KNOWN:
            raise CheckFailed(f"{path.name}: {name} is not played")
        if name == "FROM":
            words = substituted(text, arguments).split()
            current = words[2] if len(words) == 3 else f"stage-{len(stages)}"
            stages[current] = Stage(current, words[0])
        elif not stages:
            key, _, value = text.partition("=")
            arguments[key] = value
        else:
            stages[current].steps.append(Instruction(name, text))
    return stages, current


def _instructions(text: str) -> list[tuple[str, str]]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ")
    instructions = (line.split(None, 1) for line in whole.splitlines() if line.strip())
    return [(words[0].upper(), " ".join(words[1].split())) for words in instructions]


def substituted(text: str, values: Mapping[str, str]) -> str:
    """The text with its variables replaced; an unknown one is empty, as in a build."""
    return VARIABLE.sub(lambda match: values.get(match[1] or match[2], ""), text)


def pairs(text: str) -> dict[str, str]:
    """`A=b C="d e"` of ENV and LABEL."""
    return dict(word.split("=", 1) for word in shlex.split(text))


def words(text: str) -> list[str]:
    """The exec form of ENTRYPOINT, CMD and HEALTHCHECK. Raises `CheckFailed` for the shell form."""
    _, bracket, rest = text.partition("[")
    if not bracket:
        raise CheckFailed(f"write {text} as a list: a shell would receive the signals")
    arguments: list[str] = json.loads(f"[{rest}")
    return arguments
