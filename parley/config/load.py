"""Loads the configuration from file, `.env`, environment and references, or lists every problem;
and the example configuration, with every key and its default."""

import copy
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from pydantic import ValidationError

from gateway.errors import ConfigurationError
from gateway.platforms import Discovery, discover
from parley.config import consistency
from parley.config.environment import Overlay, read_dotenv
from parley.config.explain import Explainer
from parley.config.problems import Path as KeyPath
from parley.config.problems import Problem, SettingsError
from parley.config.schema import typed
from parley.config.secrets import Resolver
from parley.config.settings import Settings, settings_model
from parley.config.yaml_file import Value, YamlDocument, read_yaml

DEFAULT_FOLDER: Final = Path("config")
"""The folder of `.env` when there is no configuration file."""
API_KEYS: Final = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}

LANGUAGES: Final = "languages"
"""The folder of catalogues beside the configuration file, where nothing else is configured."""
EXAMPLE: Final = "parley.example.yaml"


class Origin(Struct, frozen=True):
    """Where a value comes from: a line of the file, or a variable. `template` is a text of the file
    with references to secrets, as it stands there."""

    kind: Literal["file", "environment"]
    """The kind of the source."""
    place: str
    """The line of the file, or the name of the variable."""
    template: str = ""


Origins: TypeAlias = Mapping[KeyPath, Origin]


class Loaded(Struct, frozen=True):
    """A configuration with the origin of each value that is no default."""

    settings: Settings
    """The valid configuration."""
    origins: Origins
    """The origin of each value that is no default, by its path."""


def load(path: Path | None, env: Mapping[str, str], platforms: Discovery | None = None) -> Settings:
    """The configuration of the file at `path` (None: of the environment alone).

    Precedence, highest first: `PARLEY_…` variables of `env`, those of the file `.env` beside the
    configuration (without one: `config/.env`), the file itself, defaults. `platforms` may be
    configured; None takes the installed packages. Raises `SettingsError` with every problem.
    """
    return load_with_origins(path, env, platforms).settings


def load_with_origins(
    path: Path | None, env: Mapping[str, str], platforms: Discovery | None = None
) -> Loaded:
    """The configuration as `load` reads it, with the origins of its values."""
    document = YamlDocument({}) if path is None else read_yaml(path)
    folder = DEFAULT_FOLDER if path is None else path.parent
    dotenv = read_dotenv(folder / ".env")
    known = discover() if platforms is None else platforms
    return _settings(document, {**dotenv, **env}, folder, known, str(path or ""))


def from_mapping(
    values: Mapping[str, object],
    env: Mapping[str, str] | None = None,
    platforms: Discovery | None = None,
) -> Settings:
    """The configuration of a file with these values, for the demo and for tests."""
    document = YamlDocument(json.loads(json.dumps(values)))
    return _settings(document, env or {}, Path(), platforms or discover(), "").settings


def _settings(
    document: YamlDocument, env: Mapping[str, str], folder: Path, platforms: Discovery, name: str
) -> Loaded:
    model = settings_model(platforms.manifests)
    origins = {p: f"{name} line {line}" for p, line in document.lines.items()} if name else {}
    resolver = Resolver(env, folder, origins)
    resolved = {key: resolver.resolve(value, (key,)) for key, value in document.values.items()}
    overlay = Overlay(model, resolved)
    overlay.apply(env)
    problems = resolver.problems + overlay.problems
    values = _with_api_keys(typed(overlay.values, model), env)
    _place_languages(values, folder)
    explainer = Explainer(model, values, {**origins, **overlay.origins}, platforms.problems)
    known = {p.path for p in problems}
    try:
        settings = model.model_validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        more = [
            problem
            for problem in explainer.explain(error)
            if problem.path not in known and not _follows(problem, problems)
        ]
        accounts = consistency.valid_accounts(values, platforms.manifests)
        raise SettingsError(problems + more + consistency.missing_values(accounts)) from None
    problems += consistency.problems_of(settings, platforms.manifests)
    if problems:
        raise SettingsError(problems)
    return Loaded(settings, _origins(origins, overlay.origins, resolver.templates))


def _origins(
    lines: Mapping[KeyPath, str],
    variables: Mapping[KeyPath, str],
    templates: Mapping[KeyPath, str],
) -> Origins:
    return {
        **{path: Origin("file", place, templates.get(path, "")) for path, place in lines.items()},
        **{path: Origin("environment", variable) for path, variable in variables.items()},
    }


def _follows(problem: Problem, others: Sequence[Problem]) -> bool:
    """Return True if a section lacks a key of which another problem is already listed."""
    return any(
        section == problem.path and f"needs {key} " in f"{problem.text} "
        for section, _, key in (other.path.rpartition(".") for other in others)
    )


def _with_api_keys(values: Value, env: Mapping[str, str]) -> Value:
    """The values with the defaults of models: the conventional variable as `api_key`, `anthropic`
    as the provider where there is a key."""
    values = copy.deepcopy(values)
    main = values.setdefault("model", {}) if isinstance(values, dict) else None
    if not isinstance(main, dict):
        return values
    fallbacks = main.get("fallbacks")
    for choice in (main, *(fallbacks if isinstance(fallbacks, list) else ())):
        if not isinstance(choice, dict):
            continue
        provider = choice.get("provider", "anthropic" if choice is main else "")
        variable = API_KEYS.get(provider) if isinstance(provider, str) else None
        missing = choice.get("api_key") is None and not choice.get("auth_token")
        if missing and variable and env.get(variable, "").strip():
            choice["api_key"] = env[variable]
        if choice.get("api_key") or choice.get("auth_token"):
            choice.setdefault("provider", "anthropic")
    return values


def _place_languages(values: Value, folder: Path) -> None:
    """Make the folder of catalogues one that is relative to the configuration file."""
    section = values.setdefault("languages", {}) if isinstance(values, dict) else None
    if not isinstance(section, dict):
        return
    named = section.get("folder", LANGUAGES)
    if isinstance(named, str) and (named != LANGUAGES or (folder / named).is_dir()):
        section["folder"] = str(folder / named)


def example_text() -> str:
    """Return the example, from the installed package or, in a checkout, from `config/`.

    Raises `ConfigurationError` when the installation lacks it.
    """
    checkout = Path(__file__).resolve().parents[2] / "config" / EXAMPLE
    for file in (files(__package__) / EXAMPLE, checkout):
        if file.is_file():
            return file.read_text(encoding="utf-8")
    raise ConfigurationError(f"This installation has no {EXAMPLE}. Install Parley again.")
