"""`PARLEY_SECTION__KEY`: every value of the configuration, from the environment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from gateway.text import Unconverted
from parley.config.problems import Path as KeyPath
from parley.config.problems import Problem, SettingsError, dotted, suggestion
from parley.config.schema import Shape, child, is_name, item_of, mapping_of, section_of
from parley.config.secrets import ReferencedText
from parley.config.yaml_file import MAX_BYTES, Value

PREFIX: Final = "PARLEY_"
MAX_STEPS: Final = 12


def read_dotenv(path: Path) -> dict[str, str]:
    """The variables of a `.env` file; none when there is no file. Raises `SettingsError`."""
    from dotenv.parser import parse_stream  # noqa: PLC0415 -- mostly there is no .env

    try:
        if not path.is_file():
            return {}
        if path.stat().st_size > MAX_BYTES:
            reason = f"{path} is larger than {MAX_BYTES // 1024} KiB."
            raise SettingsError([Problem("", reason)])
        with path.open(encoding="utf-8") as file:
            lines = list(parse_stream(file))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SettingsError([Problem("", f"{path} cannot be read: {reason}.")]) from None
    broken = [line.original.line for line in lines if line.error]
    if broken:
        text = "is not NAME=value."
        advice = "Put quotes around a value with spaces, and # before a comment."
        raise SettingsError(Problem(f"{path} line {n}", text, advice) for n in broken)
    return {line.key: line.value for line in lines if line.key and line.value is not None}


class Overlay:
    """Applies variables over the values of the file; `origins` has the variable of each value."""

    def __init__(self, model: type[BaseModel], values: dict[str, Value]) -> None:
        self.values = values
        self.origins: dict[KeyPath, str] = {}
        self.problems: list[Problem] = []
        self._model = model

    def apply(self, env: Mapping[str, str]) -> None:
        """Apply every variable that has the form of a key; a section before its keys."""
        variables = [
            (name, name[len(PREFIX) :].split("__")) for name in env if name.startswith(PREFIX)
        ]
        for name, steps in sorted(variables, key=lambda pair: (len(pair[1]), pair[0])):
            if len(steps) == 1 and steps[0].lower() not in self._model.model_fields:
                continue  # not the shape of a key: a container platform may set PARLEY_PORT
            if not env[name].strip():
                self._problem(name, "is set but empty.", "Unset it, or give it a value.")
            elif len(steps) > MAX_STEPS or not all(steps):
                self._problem(name, "does not name a key.", "Write PARLEY_SECTION__KEY.")
            else:
                self._set(name, steps, ReferencedText(env[name]))

    def _problem(self, name: str, text: str, advice: Unconverted) -> None:
        self.problems.append(Problem(name, text, advice))

    def _set(self, name: str, steps: list[str], text: ReferencedText) -> None:
        shape: Shape | None = self._model
        parent: Value = self.values
        path: KeyPath = ()
        for position, raw in enumerate(steps):
            step = self._step(name, raw, shape, parent, path)
            if step is None:
                return
            shape, path = child(shape, step), (*path, step)
            if position == len(steps) - 1:
                _put(parent, step, text)
                self.origins[path] = name
                return
            parent = self._enter(parent, step, shape)

    def _step(
        self, name: str, raw: str, shape: Shape | None, parent: Value, path: KeyPath
    ) -> str | int | None:
        """The key of one part of a variable's name; None after a problem."""
        section, mapping = section_of(shape), mapping_of(shape)
        if section is not None:
            if raw.lower() in section.model_fields:
                return raw.lower()
            advice = suggestion(raw, section.model_fields)
            self._problem(name, f"names an unknown key under {dotted(path) or 'PARLEY_'}.", advice)
            return None
        if mapping is not None:
            present = {key.lower(): key for key in parent} if isinstance(parent, dict) else {}
            return present.get(raw.lower(), raw.lower() if is_name(mapping[0]) else raw)
        if item_of(shape) is not None and isinstance(parent, list) and raw.isdecimal():
            if int(raw[:6]) <= len(parent):
                return int(raw[:6])
            self._problem(name, f"is beyond the end of {dotted(path)}.", "The first one is 0.")
            return None
        self._problem(name, f"is too deep: {dotted(path)} has no keys below it.", "")
        return None

    def _enter(self, parent: Value, step: str | int, shape: Shape | None) -> Value:
        """The value at `step`, created when it is missing."""
        empty: Value = [] if item_of(shape) is not None else {}
        if not (section_of(shape) or mapping_of(shape) or item_of(shape)):
            return None
        if isinstance(parent, dict) and isinstance(step, str):
            child_value = parent.get(step)
            if not isinstance(child_value, dict | list):
                parent[step] = child_value = empty
            return child_value
        if isinstance(parent, list) and isinstance(step, int):
            if step == len(parent):
                parent.append(empty)
            return parent[step]
        return empty


def _put(parent: Value, step: str | int, text: ReferencedText) -> None:
    if isinstance(parent, dict) and isinstance(step, str):
        parent[step] = text
    elif isinstance(parent, list) and isinstance(step, int):
        parent[step : step + 1] = [text]
