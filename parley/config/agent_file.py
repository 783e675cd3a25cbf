"""Reads `.agent/config.yaml`, in which a repository says what of it is ingested.

The file comes from a commit, so anybody who commits there writes it: it can narrow and widen what
is read of this repository, within the limits of the operator, and nothing else.
"""

import json
from pathlib import PurePosixPath
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationError

from gateway.settings import Section
from memory.knowledge.reading.globs import BadPattern, Glob
from memory.knowledge.reading.rules import (
    CODE,
    CODE_EXCLUDE,
    EXCLUDE,
    FILE_KB,
    GENERATED,
    HARD_FILE_KB,
    INCLUDE,
    KB,
    Rules,
)
from parley.config.explain import Explainer
from parley.config.problems import Problem, SettingsError
from parley.config.schema import typed
from parley.config.yaml_file import parse_yaml

NAME: Final = ".agent/config.yaml"
MAX_PATTERNS: Final = 200


def _pattern(value: str) -> str:
    try:
        Glob(value)
    except BadPattern as error:
        raise ValueError(f"is not usable: {error}") from None
    return value


def _inside(value: str) -> str:
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or not value.isprintable():
        raise ValueError('should be a folder of the repository, without ".."')
    if ".git" in (part.lower() for part in path.parts):
        raise ValueError("should be no folder of git")
    return value


Pattern = Annotated[str, AfterValidator(_pattern)]
Patterns = Annotated[tuple[Pattern, ...], Field(max_length=MAX_PATTERNS)]


class Ingestion(Section):
    """The files of a repository that are read."""

    include: Patterns = INCLUDE
    """Patterns of documents."""
    exclude: Patterns | None = None
    """Patterns that are never read; replaces the default."""
    code: Patterns = CODE
    """Patterns of source code and configuration; an empty list reads none."""
    max_file_size_kb: int = Field(default=FILE_KB, ge=1)
    """Larger files are skipped. At most 10,240; a larger number counts as that."""
    skip_binary: bool = True
    """Skip files with NUL bytes."""


class Skills(Section):
    """The skills of a repository."""

    directory: Annotated[str, AfterValidator(_inside)] = Field(
        default=".claude/skills", min_length=1, max_length=200
    )
    """The folder of the skills."""
    auto_discover: bool = True
    """Agents use the skills by themselves; if false, only if a person asks for one by its name."""


class AgentFile(Section):
    """The whole file."""

    ingestion: Ingestion = Ingestion()
    """The section `ingestion`: the files that are read."""
    skills: Skills = Skills()
    """The section `skills`: the skills for coding agents."""

    def rules(self, most_kb: int = HARD_FILE_KB) -> Rules:
        """Return what is read. `most_kb` is the operator's limit of a file."""
        own = self.ingestion
        size = min(own.max_file_size_kb, most_kb, HARD_FILE_KB)
        exclude = EXCLUDE if own.exclude is None else own.exclude
        code_exclude = CODE_EXCLUDE if own.exclude is None else (*own.exclude, *GENERATED)
        return Rules(
            include=_globs(own.include),
            code=_globs(own.code),
            exclude=_globs(exclude),
            code_exclude=_globs(code_exclude),
            max_file_bytes=size * KB,
            skip_binary=own.skip_binary,
        )


def read_agent_file(content: bytes | None) -> AgentFile:
    """Return the file with this content, the defaults without one. Raises `SettingsError` with
    every problem, its line and its key."""
    if content is None:
        return AgentFile()
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise SettingsError([Problem(NAME, "is not UTF-8 text.")]) from None
    document = parse_yaml(text, NAME)
    origins = {path: f"{NAME} line {line}" for path, line in document.lines.items()}
    values = typed(document.values, AgentFile)
    try:
        return AgentFile.model_validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        raise SettingsError(Explainer(AgentFile, values, origins, ()).explain(error)) from None


def _globs(patterns: tuple[str, ...]) -> tuple[Glob, ...]:
    return tuple(Glob(pattern) for pattern in patterns)
