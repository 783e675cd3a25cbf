"""Secrets of a configuration: references to them in its values, and a list of all of them."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import BaseModel, SecretStr

from parley.config.problems import Path as KeyPath
from parley.config.problems import Problem, closest, dotted
from parley.config.yaml_file import Value
from safety.http.shown_address import hidden_parts

MAX_SECRET_FILE: Final = 64 * 1024
_REFERENCE: Final = re.compile(r"\$\$\{|\$\{([^{}]*)\}")
_VARIABLE: Final = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")


class ReferencedText(str):
    """Text from the environment or a file, which is converted to the type of its key."""

    __slots__ = ()


class Resolver:
    """Replaces `${NAME}` and `${file:PATH}` in values; one that cannot be replaced is a problem."""

    def __init__(
        self, env: Mapping[str, str], folder: Path, origins: Mapping[KeyPath, str]
    ) -> None:
        """Relative paths begin at `folder`; `origins` has the line of each value."""
        self._env = env
        self._folder = folder
        self._origins = origins
        self.problems: list[Problem] = []
        self.templates: dict[KeyPath, str] = {}
        """The texts with references, as the file has them."""

    def resolve(self, value: Value, path: KeyPath) -> Value:
        """The value with its references replaced. `$${` stands for a plain `${`."""
        if isinstance(value, dict):
            return {k: self.resolve(v, (*path, k)) for k, v in value.items()}
        if isinstance(value, list):
            return [self.resolve(v, (*path, n)) for n, v in enumerate(value)]
        if not isinstance(value, str) or "${" not in value:
            return value
        self.templates[path] = value
        return ReferencedText(_REFERENCE.sub(lambda match: self._text(match, path), value))

    def _text(self, match: re.Match[str], path: KeyPath) -> str:
        name = match[1]
        if name is None:
            return "${"
        if name.startswith("file:"):
            text, trouble, advice = self._file(name.removeprefix("file:").strip())
        else:
            text, trouble, advice = self._variable(name.strip())
        if trouble:
            self.problems.append(Problem(dotted(path), trouble, advice, self._origin(path)))
        return text

    def _origin(self, path: KeyPath) -> str:
        """The line of a value, or of the nearest value that contains it."""
        while path and path not in self._origins:
            path = path[:-1]
        return self._origins.get(path, "")

    def _variable(self, name: str) -> tuple[str, str, str]:
        if not _VARIABLE.match(name):
            return (
                "",
                "has a ${…} that is neither ${NAME} nor ${file:PATH}.",
                "Write $${ for a literal ${.",
            )
        text = self._env.get(name)
        if text is None:
            near = closest(name, self._env)
            advice = f"Set it, or put {name}=… into the file .env beside the configuration."
            if near:
                advice += f' Did you mean "{near}"?'
            return "", f"refers to ${{{name}}}, which is not set.", advice
        if not text.strip():
            return "", f"refers to ${{{name}}}, which is set but empty.", "Give it its value."
        return text, "", ""

    def _file(self, name: str) -> tuple[str, str, str]:
        path = self._folder / name
        problem = f"refers to the file {name}, which"
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_SECRET_FILE + 1)
            text = raw.decode("utf-8").strip("\r\n")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            return "", f"{problem} cannot be read: {reason}.", "Check its path and permissions."
        if len(raw) > MAX_SECRET_FILE:
            return "", f"{problem} is larger than {MAX_SECRET_FILE // 1024} KiB.", ""
        if not text.strip():
            return "", f"{problem} is empty.", "Write the value into it."
        return text, "", ""


def secret_values(settings: object) -> Iterator[str]:
    """All secrets of a section and those in its addresses, for the redaction of logs."""
    if isinstance(settings, SecretStr):
        yield settings.get_secret_value()
    elif isinstance(settings, BaseModel):
        for name in type(settings).model_fields:
            yield from secret_values(getattr(settings, name))
    elif isinstance(settings, Mapping):
        for value in settings.values():
            yield from secret_values(value)
    elif isinstance(settings, tuple | list):
        for value in settings:
            yield from secret_values(value)
    elif isinstance(settings, str) and "://" in settings:
        yield from hidden_parts(settings)
