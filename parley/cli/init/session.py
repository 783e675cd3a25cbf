"""The state of one run of `parley init`: the answers so far, and their way into the files."""

import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from gateway.platforms import Discovery
from parley.cli.chosen_configuration import DEFAULT_CONFIG, record
from parley.cli.init.files import Answers, keep_copy, secrets_path, write
from parley.cli.init.terminal import Terminal
from parley.config import Settings, SettingsError, from_mapping
from parley.config.yaml_file import Value

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,99})\}")


class Given(Struct, frozen=True):
    """The answers that the command line gives; empty or None: not given."""

    platforms: tuple[str, ...] = ()
    provider: str = ""
    model: str = ""
    base_url: str = ""
    who: str = ""
    budget: str = ""
    memory: bool | None = None
    name: str = ""
    persona: str | None = None
    yes: bool = False
    check: bool = True
    start: bool | None = None


@dataclass(slots=True)
class InitSession:
    """The options, the environment, and the answers so far. `secrets` are the variables that are
    new or changed; `prices` those of the chosen model, in dollars per million tokens."""

    terminal: Terminal
    config: Path
    given: Given
    env: Mapping[str, str]
    platforms: Discovery
    answers: Answers
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    done: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    left_to_do: list[str] = field(default_factory=list)
    off: list[str] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    copy: Path | None = None
    broken: bool = False
    prices: tuple[float, float] | None = None

    @property
    def assistant_name(self) -> str:
        """The assistant's name so far."""
        return self.given.name or str(self.answers.section("assistant").get("name", "Parley"))

    @property
    def option(self) -> str:
        """The option with which other commands find the configuration, with a space before it;
        empty for the default place."""
        return "" if self.config == DEFAULT_CONFIG else f" --config {shlex.quote(str(self.config))}"

    @property
    def env_file(self) -> Path:
        """The `.env` that holds the secrets."""
        return secrets_path(self.config)

    def say(self, text: str = "", indent: int = 0, hang: int = 0) -> None:
        """Print a paragraph."""
        self.terminal.say(text, indent, hang)

    def variables(self) -> dict[str, str]:
        """The variables that a start would see: new answers, the shell's own, the files' `.env`.
        New answers stand first: the shell of the next start may not have the old value."""
        return {**self.answers.secrets, **self.env, **self.secrets}

    def resolved(self, value: Value) -> str:
        """The text of a value that may be a reference to a variable; empty when that is unset."""
        match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if match is not None:
            return self.variables().get(match[1], "").strip()
        return "" if value is None else str(value)

    def overridden(self, *steps: str) -> str:
        """The value of a key that a `PARLEY_…` variable sets, which takes precedence over the file;
        empty without one."""
        name = f"PARLEY_{'__'.join(steps)}".upper()
        found = (text for key, text in self.variables().items() if key.upper() == name)
        return next(found, "").strip()

    def overrides_of(self, *steps: str) -> dict[str, str]:
        """The `PARLEY_…` variables of the keys of a section, by their names."""
        prefix = f"PARLEY_{'__'.join(steps)}__".upper()
        return {k: v for k, v in self.variables().items() if k.upper().startswith(prefix)}

    def keep_secret(self, section: dict[str, Value], key: str, name: str, text: str) -> None:
        """Refer to the variable `name` from the key of a section, and store its value."""
        section[key] = f"${{{name}}}"
        if self.answers.secrets.get(name) != text:
            self.secrets[name] = text
        if self.env.get(name, text).strip() != text:
            self.left_to_do.append(
                f"Unset {name} in your shell: its value there is different, and takes precedence"
                f" over {self.env_file}."
            )

    def validated(self) -> Settings:
        """The configuration so far. Raises `SettingsError`."""
        own = {k: v for k, v in self.variables().items() if not k.startswith("PARLEY_")}
        return from_mapping(self.answers.values, own, self.platforms)

    def save(self, done: str = "", *, final: bool = False) -> None:
        """Write what is answered so far; `done` names it. Before the end, answers that do not make
        a configuration yet are kept for later. Raises `ConfigurationError`."""
        if done:
            self.done.append(done)
            if done in self.open:
                self.open.remove(done)
        if self.given.yes and not final:
            return
        try:
            self.validated()
        except SettingsError:
            if final:
                raise
            return
        if not self.written and self.copy is None:
            self.copy = keep_copy(self.config, datetime.now().astimezone())
        for path in write(self.config, self.answers, self.secrets):
            if path not in self.written:
                self.written.append(path)
        record(self.config, self.env)


def complain(text: str) -> None:
    """Print a line on standard error."""
    sys.stderr.write(f"{text}\n")
