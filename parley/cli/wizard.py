"""`parley init`: asks for one platform after the other and writes a working configuration."""

import asyncio
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer

from gateway.errors import ConfigurationError
from gateway.platforms import Discovery, discover
from gateway.ports import AdapterManifest, Check
from parley.cli.config_writer import Answers, assigned, write
from parley.cli.doctor.credentials import diagnose
from parley.cli.options import DEFAULT_CONFIG
from parley.cli.platform_guide import Credential, Guidance, guidance_for, variable
from parley.config import Account, SettingsError, from_mapping
from parley.config.problems import suggestion
from parley.config.sections import OWN_PLATFORMS
from parley.config.yaml_file import Value
from parley.wiring.accounts import offered_commands

MAX_TRIES: Final = 5
MODEL_KEY: Final = "ANTHROPIC_API_KEY"


@dataclass(slots=True)
class Session:
    """The options of the command line, and the answers so far."""

    config: Path
    chosen: tuple[str, ...]
    yes: bool
    check: bool
    env: Mapping[str, str]
    platforms: Discovery
    answers: Answers = field(default_factory=Answers)
    left_to_do: list[str] = field(default_factory=list)
    broken: bool = False
    off: list[str] = field(default_factory=list)
    """Chosen platforms that could not be set up."""

    @property
    def assistant_name(self) -> str:
        """The assistant's name on the platforms."""
        return str(self.answers.section("assistant").get("name", "Parley"))


def init(
    config: Annotated[
        Path, typer.Option("--config", "-c", help="The file to write.")
    ] = DEFAULT_CONFIG,
    platform: Annotated[
        list[str] | None,
        typer.Option("--platform", help="The platform to set up; can be repeated."),
    ] = None,
    assign: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A value to set, KEY=VALUE; can be repeated."
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Do not ask; read credentials from the environment."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Check each credential on its platform.")
    ] = True,
) -> int:
    """Ask, check, write; 1 when something was refused or does not work."""
    session = Session(config, tuple(platform or ()), yes, check, os.environ, discover())
    if not force and not _may_replace(session):
        return 1
    session.answers.values.update(assigned(assign or ()))
    for name in _chosen_platforms(session):
        _set_up(session, session.platforms.manifests[name])
    if yes and session.off:
        _say("No file is written.")
        return 1
    _ask_for_assistant(session)
    _validate(session)
    for path in write(config, session.answers):
        _say(f"Written: {path}")
    _print_next_steps(session)
    return 1 if session.broken else 0


def _say(text: str = "") -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _may_replace(session: Session) -> bool:
    if not session.config.exists():
        return True
    if session.yes:
        sys.stderr.write(f"{session.config} exists; --force replaces it.\n")
        return False
    if typer.confirm(f"{session.config} exists. Replace it?", default=False):
        return True
    _say(f"{session.config} is not changed. --config writes another file.")
    return False


def _chosen_platforms(session: Session) -> list[str]:
    """The platforms to set up, in the order of asking."""
    manifests = session.platforms.manifests
    for name in session.chosen:
        if name not in manifests:
            advice = suggestion(name, list(manifests))
            raise ConfigurationError(f"{name} is not a known platform. {advice}")
    if session.chosen:
        return list(dict.fromkeys(session.chosen))
    askable = [name for name in manifests if guidance_for(manifests[name]).credentials]
    askable.sort(key=lambda n: OWN_PLATFORMS.index(n) if n in OWN_PLATFORMS else len(OWN_PLATFORMS))
    if session.yes:
        ready = [n for n in askable if _from_environment(session, manifests[n])]
        if not ready and "platforms" not in session.answers.values:
            first = [variable(n, guidance_for(manifests[n]).credentials[0].key) for n in askable]
            _say(f"No platform is set up: none of {', '.join(first)} is set.")
        return ready
    titles = ", ".join(manifests[name].title for name in askable)
    _say(f"Parley supports {titles}. Answer yes for each platform to set up now.\n")
    return [n for n in askable if typer.confirm(f"Set up {manifests[n].title}?", default=False)]


def _from_environment(session: Session, manifest: AdapterManifest) -> dict[str, str]:
    keys = [c.key for c in guidance_for(manifest).credentials]
    texts = {k: session.env.get(variable(manifest.platform, k), "").strip() for k in keys}
    return {key: text for key, text in texts.items() if text}


def _set_up(session: Session, manifest: AdapterManifest) -> None:
    """Ask for a platform's credentials until they work, or the user gives up."""
    guidance = guidance_for(manifest)
    _say(f"\n{manifest.title}")
    if not session.yes:
        for number, step in enumerate(guidance.steps, 1):
            _say(f"  {number}. {step}")
    for _ in range(MAX_TRIES):
        credentials = _credentials(session, manifest, guidance)
        account, checks = _validated_account(session, manifest, credentials)
        if account is not None and session.check:
            _say("  Asking the platform ...")
            commands = offered_commands(with_memory=True)
            checks = asyncio.run(diagnose(account, manifest, session.assistant_name, commands))
        works = _print_checks(checks)
        if account is not None and (works or _keep_anyway(session)):
            session.broken = session.broken or not works
            _store(session, manifest, guidance, credentials)
            return
        if session.yes or not typer.confirm("  Try again?", default=True):
            break
    session.broken = True
    session.off.append(manifest.platform)
    _say(f"  {manifest.title} stays off.")


def _print_checks(checks: Sequence[Check]) -> bool:
    """Print the results; True when all of them are fine."""
    for check in checks:
        _say(f"  {'ok    ' if check.ok else 'BROKEN'}  {check.name}: {check.detail}")
        if check.advice:
            _say(f"          {check.advice}")
    return all(check.ok for check in checks)


def _keep_anyway(session: Session) -> bool:
    return session.yes or typer.confirm("  Keep it as it is?", default=False)


def _credentials(
    session: Session, manifest: AdapterManifest, guidance: Guidance
) -> dict[str, Value]:
    if not guidance.credentials and "enabled" in manifest.settings.model_fields:
        return {"enabled": True}
    credentials = _from_environment(session, manifest)
    for credential in guidance.credentials:
        if credential.key in credentials:
            name = variable(manifest.platform, credential.key)
            _say(f"  {credential.key}: taken from ${name}")
        elif not session.yes:
            credentials[credential.key] = _ask(credential)
        if credential.own_word and not credentials.get(credential.key):
            credentials[credential.key] = secrets.token_urlsafe(24)
    values: dict[str, Value] = {key: text for key, text in credentials.items() if text}
    return values


def _ask(credential: Credential) -> str:
    optional = credential.optional or credential.own_word
    note = " (empty to skip)" if credential.optional else ""
    answer: str = typer.prompt(
        f"  {credential.key}, {credential.where}{note}",
        default="" if optional else None,
        show_default=False,
        hide_input=credential.secret and not credential.own_word,
    )
    return answer.strip()


def _validated_account(
    session: Session, manifest: AdapterManifest, credentials: Mapping[str, Value]
) -> tuple[Account | None, list[Check]]:
    """The account of these credentials, or the problems that the configuration's rules find."""
    section = {**session.answers.section("platforms", manifest.platform), **credentials}
    try:
        settings = from_mapping({"platforms": {manifest.platform: section}}, {}, session.platforms)
    except SettingsError as error:
        return None, [Check(p.path, False, p.text, p.advice) for p in error.problems]
    accounts = settings.accounts()
    if accounts:
        return accounts[0], []
    needed = [
        variable(manifest.platform, c.key)
        for c in guidance_for(manifest).credentials
        if not c.optional and not c.own_word
    ]
    return None, [Check("credentials", False, "none is given", f"Set {', '.join(needed)}.")]


def _store(
    session: Session,
    manifest: AdapterManifest,
    guidance: Guidance,
    credentials: Mapping[str, Value],
) -> None:
    secret = {c.key for c in guidance.credentials if c.secret}
    section = session.answers.section("platforms", manifest.platform)
    for key, text in credentials.items():
        if key in secret and isinstance(text, str):
            name = variable(manifest.platform, key)
            session.answers.secrets[name] = text
            section[key] = f"${{{name}}}"
        else:
            section[key] = text
    session.left_to_do += guidance.afterwards


def _ask_for_assistant(session: Session) -> None:
    """Ask for the assistant's name and the key of a model."""
    answers = session.answers
    key = session.env.get(MODEL_KEY, "").strip()
    if not session.yes:
        assistant = answers.section("assistant")
        _say()
        assistant.setdefault("name", typer.prompt("Name of the assistant?", "Parley"))
        if not key and not answers.section("model"):
            _say("\nAnswers come from a language model. Keys: https://platform.claude.com")
            question = "Anthropic API key (empty: no model for now)"
            key = typer.prompt(question, default="", show_default=False, hide_input=True).strip()
    model = answers.section("model")
    if key and model.get("provider", "anthropic") == "anthropic" and "api_key" not in model:
        answers.secrets[MODEL_KEY] = key
        model["provider"], model["api_key"] = "anthropic", f"${{{MODEL_KEY}}}"


def _validate(session: Session) -> None:
    """Raises `SettingsError` for a configuration that Parley could not load."""
    env = {**session.env, **session.answers.secrets}
    own = {name: text for name, text in env.items() if not name.startswith("PARLEY_")}
    from_mapping(session.answers.values, own, session.platforms)


def _print_next_steps(session: Session) -> None:
    if session.left_to_do:
        _say("\nRemaining steps:")
        for item in session.left_to_do:
            _say(f"  - {item}")
    option = f" --config {session.config}"
    _say(f"\nNext: parley doctor{option}, then parley run{option}")
