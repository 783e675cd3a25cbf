"""The second question of `parley init`: the language model."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput, ConfigurationError
from gateway.llm.anthropic.provider import DEFAULT_MODEL
from gateway.llm.prices import price_of
from parley.cli.init.anthropic_model import KEY as ANTHROPIC_KEY
from parley.cli.init.anthropic_model import MISSING_KEY, set_up_anthropic
from parley.cli.init.credential_format import OPENAI, OPENROUTER, CredentialFormat
from parley.cli.init.model_questions import (
    KEEP,
    SKIP,
    ask_for_key,
    ask_for_model_name,
    few,
    note_unchecked,
)
from parley.cli.init.model_server import (
    ServedModel,
    ServerProblem,
    is_local,
    models_of,
    server_address,
)
from parley.cli.init.session import InitSession
from parley.cli.init.terminal import MAX_TRIES, MenuOption, Stopped, one_of
from parley.config.yaml_file import Value

TITLE: Final = "model"
LOCAL_WINDOW: Final = 8_192
"""Tokens that are assumed of a model on one's own machine when the server does not say."""
DEFAULT_WINDOW: Final = 200_000
DEFAULT_TOKENS: Final = 4_096


class Preset(Struct, frozen=True):
    """A service or a server with OpenAI's interface. `start` says how to start a server that does
    not run, `fill` how it gets a model."""

    title: str
    hint: str
    address: str = ""
    variable: str = "OPENAI_API_KEY"
    format: CredentialFormat | None = None
    start: str = "Start the server, or correct the address."
    fill: str = "Load a model into it."


PRESETS: Final[Mapping[str, Preset]] = {
    "openai": Preset(
        "OpenAI", "needs an API key", "https://api.openai.com/v1", format=OPENAI,
        start="Check the network.",
    ),
    "openrouter": Preset(
        "OpenRouter", "models of many makers; needs an API key", "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY", OPENROUTER, start="Check the network.",
    ),
    "ollama": Preset(
        "Ollama", "on your own machine, without a key", "http://127.0.0.1:11434/v1",
        "OLLAMA_API_KEY",
        start="Start it with `ollama serve` (https://ollama.com/download installs it).",
        fill="Fetch one, for example `ollama pull llama3.2`.",
    ),
    "vllm": Preset(
        "vLLM", "on your own machine", "http://127.0.0.1:8000/v1", "VLLM_API_KEY",
        start="Start it with `vllm serve MODEL`.",
        fill="Start it with `vllm serve MODEL`.",
    ),
    "other": Preset(
        "another server", "with OpenAI's interface: write its address, http://127.0.0.1:1234/v1",
        variable="MODEL_API_KEY",
    ),
}  # fmt: skip
ANOTHER_ADDRESS: Final = (
    "  Press Enter to ask again, write another address, keep to store the values for later, or skip"
    " for another model"
)
NO_MODEL: Final = (
    "set up a model: correct what is reported above, and run `parley init{option}` again; until"
    " then no language model is set up"
)
OPTIONS: Final = (
    MenuOption("anthropic", "Anthropic", "Claude; needs an API key"),
    *(MenuOption(key, preset.title, preset.hint) for key, preset in PRESETS.items()),
    MenuOption("offline", "no model", "fixed answers, to try the other features"),
)


def ask_for_model(session: InitSession) -> None:
    """Choose and check a model. Raises `Stopped`, `ConfigurationError` for unusable options."""
    provider, address = _provider(session)
    for _ in range(MAX_TRIES):
        if provider == "offline":
            session.answers.values["model"] = {"provider": "offline"}
            is_chosen = True
        elif provider == "anthropic":
            is_chosen = set_up_anthropic(session)
        else:
            is_chosen = _set_up_compatible(session, PRESETS[provider], address)
        if is_chosen:
            session.save(TITLE)
            return
        if session.given.yes:
            session.broken = True
            session.left_to_do.append(NO_MODEL.format(option=session.option))
            return
        provider, address = session.terminal.choose("Model", OPTIONS, "offline", choice_of)
    raise Stopped("No model could be set up.")


def model_name(session: InitSession) -> str:
    """The name of the model that answers."""
    section = session.answers.section("model")
    default = DEFAULT_MODEL if section.get("provider") == "anthropic" else ""
    return str(section.get("name") or default)


def choice_of(text: str) -> tuple[str, str]:
    """The key of an option, and the address of a server where one is typed instead. Raises
    `BadInput`."""
    if not {":", "/"} & set(text):
        return one_of(text, OPTIONS), ""
    address = server_address(text)
    known = (key for key, preset in PRESETS.items() if preset.address == address)
    return next(known, "other"), address


def _provider(session: InitSession) -> tuple[str, str]:
    """The key of an option; with it an address that was typed instead, otherwise empty."""
    keys = [option.key for option in OPTIONS]
    given, present = session.given.provider, _present(session)
    if given and given not in keys:
        raise ConfigurationError(f"--provider {given}: write one of {', '.join(keys)}.")
    if given or session.given.yes:
        has_key = session.env.get(ANTHROPIC_KEY, "").strip()
        return given or present or ("anthropic" if has_key else "offline"), ""
    session.say()
    session.say("2. Which language model writes the answers?")
    return session.terminal.choose("Model", OPTIONS, present or "anthropic", choice_of)


def _present(session: InitSession) -> str:
    """The choice that the existing configuration has made; empty for none."""
    section = session.answers.section("model")
    provider, address = str(section.get("provider", "")), section.get("base_url")
    if provider == "openai":
        default = PRESETS["openai"].address
        known = (key for key, each in PRESETS.items() if each.address == (address or default))
        return next(known, "other")
    return provider or ("anthropic" if section.get("api_key") else "")


def _say_missing(session: InitSession, variable: str) -> None:
    """Say where the key comes from; without a `variable`, that the address is missing."""
    if not variable:
        session.say("The address of the server is missing: choose it with --base-url URL.", 2)
        return
    session.say(MISSING_KEY.format(variable=variable), 2)


def _set_up_compatible(session: InitSession, preset: Preset, typed: str) -> bool:
    """Set up a model of a server with OpenAI's interface, at an address that was `typed` already
    unless it is empty; False to choose again."""
    section = dict(session.answers.section("model"))
    if section.get("provider") != "openai" or _present(session) != _key_of(preset):
        section = {}
    address = typed or _address(session, preset, str(section.get("base_url") or ""))
    key = session.env.get(preset.variable, "").strip() or session.resolved(section.get("api_key"))
    if session.given.yes and not (address and (key or preset.format is None)):
        _say_missing(session, preset.variable if address else "")
        return False
    served = _load_models(session, preset, address, key)
    if served is None:
        return False
    address, key, models = served
    name = _model(session, models, str(section.get("name") or ""))
    if not name:
        return False
    section |= {"provider": "openai", "name": name}
    if address != PRESETS["openai"].address:
        section["base_url"] = address
    if key:
        session.keep_secret(section, "api_key", preset.variable, key)
    section |= _window(name, address, models)
    session.answers.values["model"] = section
    session.prices = _prices(name, address, models)
    return True


def _window(name: str, address: str, models: Sequence[ServedModel]) -> dict[str, Value]:
    """The context window where it is smaller than the default, and answers that fit into it."""
    window = next((model.window for model in models if model.name == name), 0)
    if not window and is_local(address):
        window = LOCAL_WINDOW
    if not window or window >= DEFAULT_WINDOW:
        return {}
    return {"window": window, "max_tokens": min(DEFAULT_TOKENS, window // 4)}


def _key_of(preset: Preset) -> str:
    return next(key for key, each in PRESETS.items() if each is preset)


def _address(session: InitSession, preset: Preset, present: str) -> str:
    if session.given.base_url:
        return server_address(session.given.base_url)
    if preset.address or session.given.yes:
        return present or preset.address
    return session.terminal.read("  Address of the server", server_address, present)


def _load_models(
    session: InitSession, preset: Preset, address: str, key: str
) -> tuple[str, str, list[ServedModel]] | None:
    """The address and the key that work, with the models; None to choose another model."""
    for _ in range(MAX_TRIES):
        if preset.format is not None and not key:
            session.say(f"Keys: {preset.format.where}", 2)
            key = ask_for_key(session, preset.format, preset.variable)
        if key == SKIP or not address:
            return None
        if not session.given.check:
            return address, key, []
        session.say(f"Asking {address} for its models ...", 2)
        try:
            models = asyncio.run(models_of(address, key))
        except ServerProblem as problem:
            session.say(f"BROKEN  {problem}", 2)
            kind = problem.kind
        else:
            if models:
                session.say(f"ok      {len(models)} model{'s' * (len(models) > 1)}", 2)
                return address, key, models
            session.say(f"BROKEN  The server has no model yet. {preset.fill}", 2)
            kind = "other"
        if kind == "unreachable":
            session.say(f"What to do: {preset.start}", 10)
        if session.given.yes:
            return _kept(session, address, key) if kind == "unreachable" else None
        if kind == "key":
            key = ask_for_key(session, preset.format, preset.variable)
            continue
        again = session.terminal.ask(ANOTHER_ADDRESS)
        if again.lower() in {KEEP, SKIP}:
            return _kept(session, address, key) if again.lower() == KEEP else None
        address = _corrected(session, again) or address
    return None


def _kept(
    session: InitSession, address: str, key: str
) -> tuple[str, str, list[ServedModel]] | None:
    """An address and a key that are stored unchecked; None in a run without questions that names no
    model."""
    if session.given.yes and not session.given.model:
        return None
    note_unchecked(session)
    return address, key, []


def _corrected(session: InitSession, text: str) -> str:
    try:
        return server_address(text) if text else ""
    except BadInput as error:
        session.say(str(error), 2)
        return ""


def _model(session: InitSession, models: Sequence[ServedModel], present: str) -> str:
    names = [model.name for model in models]
    given = session.given.model
    if given and (not names or given in names):
        return given
    if given:
        session.say(f"The server has no model {given}. It has: {few(names)}.", 2)
    if session.given.yes:
        if not given and len(names) == 1:
            return names[0]
        if not given and present in names:
            return present
        session.say("Choose one with --model NAME.", 2)
        return ""
    default = present if present in names else (names[0] if len(names) == 1 else "")
    name = ask_for_model_name(session, names, default or ("" if names else present))
    return "" if name == SKIP else name


def _prices(name: str, address: str, models: Sequence[ServedModel]) -> tuple[float, float] | None:
    """Dollars per million tokens: the server's own prices, nothing for a server of one's own, None
    where they are unknown or built in."""
    if is_local(address):
        return (0.0, 0.0)
    if price_of(name) is not None:
        return None
    return next((model.prices for model in models if model.name == name), None)
