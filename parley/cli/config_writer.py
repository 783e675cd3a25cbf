"""Writes the files of `parley init`: a configuration without secrets, and `.env` with them."""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml
from dotenv import set_key

from gateway.errors import ConfigurationError
from parley.config.yaml_file import Value, parse_yaml

HEADER: Final = (
    "# Written by `parley init`. Every key: docs/configuration.md, config/parley.example.yaml.\n"
    "# The secrets are in the file .env beside this one, which only you can read.\n\n"
)


@dataclass(slots=True)
class Answers:
    """The values of the new configuration, and the secrets to which they refer."""

    values: dict[str, Value] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict, repr=False)

    def section(self, *steps: str) -> dict[str, Value]:
        """The section at a path, created when it is missing."""
        section = self.values
        for step in steps:
            below = section.setdefault(step, {})
            if not isinstance(below, dict):
                raise ConfigurationError(f"--set {'.'.join(steps)}: is a section, not a value.")
            section = below
        return section


def assigned(pairs: Iterable[str]) -> dict[str, Value]:
    """`--set model.max_tokens=500` as values; the part after = is read as YAML."""
    answers = Answers()
    for pair in pairs:
        path, equals, text = pair.partition("=")
        steps = path.strip().split(".")
        if not equals or not all(steps):
            raise ConfigurationError(f"--set {path}: write KEY=VALUE, such as assistant.name=Ada.")
        value = parse_yaml(f"value: {text}", f"--set {path}").values["value"]
        answers.section(*steps[:-1])[steps[-1]] = value
    return answers.values


def write(config: Path, answers: Answers) -> list[Path]:
    """Write the files, the secrets first; returns their paths. Raises `ConfigurationError`."""
    values = {key: value for key, value in answers.values.items() if value not in ({}, None)}
    text = HEADER + yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)
    secrets = config.parent / ".env"
    try:
        config.parent.mkdir(parents=True, exist_ok=True)
        if answers.secrets:
            _write_secrets(secrets, answers.secrets)
        _replace(config, text if values else HEADER)
    except OSError as error:
        raise ConfigurationError(f"{error.filename or config}: {error.strerror}.") from error
    return [config, secrets] if answers.secrets else [config]


def _write_secrets(path: Path, values: dict[str, str]) -> None:
    """Set these variables and keep other lines. Only the owner can ever read the file."""
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    path.chmod(0o600)
    for name, text in values.items():
        set_key(path, name, text, quote_mode="always", encoding="utf-8")
    path.chmod(0o600)


def _replace(path: Path, text: str) -> None:
    """Replace the file as a whole, or leave the old one unchanged."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".parley-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).chmod(0o644)  # it holds no secrets, and a container reads it as another user
    Path(name).replace(path)
