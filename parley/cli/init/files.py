"""The files of `parley init`: a configuration without secrets, and `.env` with them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import yaml

from gateway.errors import BadInput, ConfigurationError
from parley.cli.file_writing import make_folder, replace_file
from parley.config import Settings
from parley.config.environment import read_dotenv
from parley.config.schema import at, shapes
from parley.config.yaml_file import Value, parse_yaml, read_yaml

HEADER: Final = (
    "# Written by `parley init`. `parley docs reference/configuration` explains every key.\n"
    "# The secrets are in the file .env: ${NAME} refers to its line NAME=...\n\n"
)
MAX_COPIES: Final = 100
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:@%+=,-]+")
"""Values that `.env` readers of shells, containers and systemd take alike without quotes."""


@dataclass(slots=True)
class Answers:
    """The values of the configuration, and the secrets to which they refer."""

    values: dict[str, Value] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict, repr=False)

    def section(self, *steps: str) -> dict[str, Value]:
        """The section at a path, created when it is missing."""
        section = self.values
        for step in steps:
            below = section.setdefault(step, {})
            if below is None:
                below = section[step] = {}
            if not isinstance(below, dict):
                raise ConfigurationError(f"{'.'.join(steps)}: is a section, not a value.")
            section = below
        return section

    def merge(self, values: Mapping[str, Value]) -> None:
        """Set these values; other keys of a section stay."""
        _merge(self.values, values, ())


def _merge(into: dict[str, Value], values: Mapping[str, Value], path: tuple[str, ...]) -> None:
    for key, value in values.items():
        below = into.get(key)
        if not isinstance(value, dict):
            into[key] = value
            continue
        if below is None:
            below = into[key] = {}
        if not isinstance(below, dict):
            raise ConfigurationError(f"{'.'.join((*path, key))}: is a value, not a section.")
        _merge(below, value, (*path, key))


def read(config: Path) -> Answers:
    """The values of an existing file, and the variables of its `.env`; empty where there are none.
    Raises `SettingsError` for a file that cannot be read."""
    values = read_yaml(config).values if config.exists() else {}
    return Answers(values, read_dotenv(secrets_path(config)))


def assigned(pairs: Iterable[str], model: type[Settings]) -> dict[str, Value]:
    """`--set model.max_tokens=500` as values; the part after = is read as YAML. Raises `BadInput`
    for a secret, which every user of the machine could see in the list of processes."""
    answers = Answers()
    for pair in pairs:
        path, equals, text = pair.partition("=")
        steps = tuple(path.strip().split("."))
        if not equals or not all(steps):
            raise ConfigurationError(f"--set {path}: write KEY=VALUE, such as assistant.name=Ada.")
        if _is_secret(model, steps) and not text.strip().startswith("${"):
            raise BadInput(
                f"--set {path}: is a secret, and other users of this machine can see a command"
                " line. Set its environment variable, or use --secrets-stdin."
            )
        value = parse_yaml(f"value: {text}", f"--set {path}").values["value"]
        answers.section(*steps[:-1])[steps[-1]] = value
    return answers.values


def _is_secret(model: type[Settings], steps: tuple[str, ...]) -> bool:
    return any(getattr(shape, "__name__", "") == "SecretStr" for shape in shapes(at(model, steps)))


def secrets_path(config: Path) -> Path:
    """The `.env` beside the configuration, where every part of Parley looks for it."""
    return config.parent / ".env"


def write(config: Path, answers: Answers, changed: Mapping[str, str]) -> list[Path]:
    """Write the secrets in `changed`, then the configuration; returns the written files. A file
    that another one replaces is copied first. Raises `ConfigurationError`."""
    values = {key: value for key, value in answers.values.items() if value not in ({}, None)}
    text = HEADER
    if values:
        text += yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)
    secrets = secrets_path(config)
    try:
        make_folder(config.parent)
        if changed:
            replace_file(secrets, _with_lines(secrets, changed), 0o600)
        replace_file(config, text, 0o644)
    except OSError as error:
        raise ConfigurationError(f"{error.filename or config}: {error.strerror}.") from error
    return [config, secrets] if changed else [config]


def keep_copy(config: Path, now: datetime) -> Path | None:
    """Copy an existing configuration beside itself; returns the copy's path. Raises
    `ConfigurationError`."""
    if not config.exists():
        return None
    stem = f"{config.name}.{now:%Y-%m-%d}"
    names = (stem, *(f"{stem}.{number}" for number in range(2, MAX_COPIES)))
    free = next((n for n in names if not config.with_name(n).exists()), "")
    if not free:
        text = f"{config.parent} has {MAX_COPIES} copies of today. Delete some: {stem}*."
        raise ConfigurationError(text)
    try:
        replace_file(config.with_name(free), config.read_text("utf-8"), 0o600)
    except OSError as error:
        raise ConfigurationError(f"{config.with_name(free)}: {error.strerror}.") from error
    return config.with_name(free)


def _with_lines(path: Path, values: Mapping[str, str]) -> str:
    """The text of `.env` with these variables set; other lines stay as they are."""
    from dotenv.parser import parse_stream  # noqa: PLC0415 - only where a file is written

    left, lines = dict(values), []
    if path.exists():
        with path.open(encoding="utf-8") as file:
            for line in parse_stream(file):
                if line.key is not None and line.key in values:
                    text = left.pop(line.key, "")
                    lines.append(_line(line.key, text) if text else "")
                else:
                    lines.append(line.original.string)
    whole = "".join(lines)
    if whole and not whole.endswith("\n"):
        whole += "\n"
    return whole + "".join(_line(name, text) for name, text in left.items())


def _line(name: str, text: str) -> str:
    if _PLAIN.fullmatch(text):
        return f"{name}={text}\n"
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"{name}='{quoted}'\n"
