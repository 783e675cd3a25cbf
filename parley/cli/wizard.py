"""`parley init`: asks for one platform after the other and writes a configuration that works."""

import asyncio
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import typer

from gateway.errors import ConfigurationError
from gateway.platforms import Discovery, discover
from gateway.ports import AdapterManifest, Check
from parley.cli.config_writer import Answers, assigned, write
from parley.cli.diagnosis import diagnose
from parley.cli.platform_guide import Credential, Guidance, guidance_for, variable
from parley.config import Account, SettingsError, from_mapping
from parley.config.problems import suggestion
from parley.config.sections import OWN_PLATFORMS
from parley.config.yaml_file import Value
from parley.wiring.commands import offered_commands

MAX_TRIES: Final = 5
MODEL_KEY: Final = "ANTHROPIC_API_KEY"


@dataclass(frozen=True, slots=True)
class InitOptions:
    """What was asked for on the command line."""

    config: Path
    platforms: tuple[str, ...] = ()
    assign: tuple[str, ...] = ()
    yes: bool = False
    force: bool = False
    check: bool = True


@dataclass(slots=True)
class Session:
    """What the questions go by, and what was answered so far."""

    wishes: InitOptions
    env: Mapping[str, str]
    platforms: Discovery
    answers: Answers = field(default_factory=Answers)
    left_to_do: list[str] = field(default_factory=list)
    broken: bool = False
    off: list[str] = field(default_factory=list)
    """Platforms that were wanted, and could not be set up."""

    @property
    def assistant_name(self) -> str:
        """What the platforms are told that the assistant is called."""
        return str(self.answers.section("assistant").get("name", "Parley"))


def run(wishes: InitOptions, env: Mapping[str, str]) -> int:
    """Ask, check, write; 1 when something was refused or does not work."""
    session = Session(wishes, env, discover())
    if not _may_write(wishes):
        return 1
    session.answers.values.update(assigned(wishes.assign))
    for name in _wanted(session):
        _platform(session, session.platforms.manifests[name])
    if wishes.yes and session.off:
        _say("Nothing is written.")
        return 1
    _assistant(session)
    _prove(session)
    for path in write(wishes.config, session.answers):
        _say(f"Written: {path}")
    _closing(session)
    return 1 if session.broken else 0


def _say(text: str = "") -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _may_write(wishes: InitOptions) -> bool:
    if not wishes.config.exists() or wishes.force:
        return True
    if wishes.yes:
        sys.stderr.write(f"{wishes.config} exists; --force replaces it.\n")
        return False
    return typer.confirm(f"{wishes.config} exists. Replace it?", default=False)


def _wanted(session: Session) -> list[str]:
    """The platforms to set up, in the order of asking."""
    manifests = session.platforms.manifests
    for name in session.wishes.platforms:
        if name not in manifests:
            advice = suggestion(name, list(manifests))
            raise ConfigurationError(f"--platform {name}: is not a platform known here. {advice}")
    if session.wishes.platforms:
        return list(dict.fromkeys(session.wishes.platforms))
    askable = [name for name in manifests if guidance_for(manifests[name]).credentials]
    askable.sort(key=lambda n: OWN_PLATFORMS.index(n) if n in OWN_PLATFORMS else len(OWN_PLATFORMS))
    if session.wishes.yes:
        found = [n for n in askable if _from_environment(session, manifests[n])]
        if not found and "platforms" not in session.answers.values:
            first = [variable(n, guidance_for(manifests[n]).credentials[0].key) for n in askable]
            _say(f"No platform is set up: there is none of {', '.join(first)}.")
        return found
    titles = ", ".join(manifests[name].title for name in askable)
    _say(f"Parley can be on {titles}. Say yes to those that you want now.\n")
    return [n for n in askable if typer.confirm(f"Set up {manifests[n].title}?", default=False)]


def _from_environment(session: Session, manifest: AdapterManifest) -> dict[str, str]:
    keys = [c.key for c in guidance_for(manifest).credentials]
    found = {k: session.env.get(variable(manifest.platform, k), "").strip() for k in keys}
    return {key: text for key, text in found.items() if text}


def _platform(session: Session, manifest: AdapterManifest) -> None:
    """Ask for a platform's credentials until they work, or the person has enough."""
    guidance = guidance_for(manifest)
    _say(f"\n{manifest.title}")
    if not session.wishes.yes:
        for number, step in enumerate(guidance.steps, 1):
            _say(f"  {number}. {step}")
    for _ in range(MAX_TRIES):
        credentials = _credentials(session, manifest, guidance)
        account, checks = _understood(session, manifest, credentials)
        if account is not None and session.wishes.check:
            _say("  Asking the platform ...")
            commands = offered_commands(with_memory=True)
            checks = asyncio.run(diagnose(account, manifest, session.assistant_name, commands))
        works = _shown(checks)
        if account is not None and (works or _keep_anyway(session)):
            session.broken = session.broken or not works
            _keep(session, manifest, guidance, credentials)
            return
        if session.wishes.yes or not typer.confirm("  Try again?", default=True):
            break
    session.broken = True
    session.off.append(manifest.platform)
    _say(f"  {manifest.title} stays off.")


def _shown(checks: Sequence[Check]) -> bool:
    """Print what was found; True when all of it is fine."""
    for check in checks:
        _say(f"  {'ok    ' if check.ok else 'BROKEN'}  {check.name}: {check.detail}")
        if check.advice:
            _say(f"          {check.advice}")
    return all(check.ok for check in checks)


def _keep_anyway(session: Session) -> bool:
    return session.wishes.yes or typer.confirm("  Keep it as it is?", default=False)


def _credentials(
    session: Session, manifest: AdapterManifest, guidance: Guidance
) -> dict[str, Value]:
    if not guidance.credentials and "enabled" in manifest.settings.model_fields:
        return {"enabled": True}
    found = _from_environment(session, manifest)
    for credential in guidance.credentials:
        if credential.key in found:
            name = variable(manifest.platform, credential.key)
            _say(f"  {credential.key}: taken from ${name}")
        elif not session.wishes.yes:
            found[credential.key] = _asked(credential)
        if credential.own_word and not found.get(credential.key):
            found[credential.key] = secrets.token_urlsafe(24)
    given: dict[str, Value] = {key: text for key, text in found.items() if text}
    return given


def _asked(credential: Credential) -> str:
    optional = credential.optional or credential.own_word
    note = " (empty to skip)" if credential.optional else ""
    answer: str = typer.prompt(
        f"  {credential.key}, {credential.where}{note}",
        default="" if optional else None,
        show_default=False,
        hide_input=credential.secret and not credential.own_word,
    )
    return answer.strip()


def _understood(
    session: Session, manifest: AdapterManifest, credentials: Mapping[str, Value]
) -> tuple[Account | None, list[Check]]:
    """The account that the credentials make, or what is wrong with them on paper."""
    section = {**session.answers.section("platforms", manifest.platform), **credentials}
    try:
        settings = from_mapping({"platforms": {manifest.platform: section}}, {}, session.platforms)
    except SettingsError as error:
        found = [Check(p.path, False, p.text, p.advice) for p in error.problems]
        return None, found
    accounts = settings.accounts()
    if accounts:
        return accounts[0], []
    needed = [
        variable(manifest.platform, c.key)
        for c in guidance_for(manifest).credentials
        if not c.optional and not c.own_word
    ]
    return None, [Check("credentials", False, "none was given", f"Set {', '.join(needed)}.")]


def _keep(
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


def _assistant(session: Session) -> None:
    """Ask who answers: the assistant's name, and the key of a model."""
    wishes, answers = session.wishes, session.answers
    key = session.env.get(MODEL_KEY, "").strip()
    if not wishes.yes:
        assistant = answers.section("assistant")
        _say()
        assistant.setdefault("name", typer.prompt("What is the assistant called?", "Parley"))
        if not key and not answers.section("model"):
            _say("\nAnswers come from a language model. Keys: https://platform.claude.com")
            question = "Anthropic API key (empty: no model for now)"
            key = typer.prompt(question, default="", show_default=False, hide_input=True).strip()
    model = answers.section("model")
    if key and model.get("provider", "anthropic") == "anthropic" and "api_key" not in model:
        answers.secrets[MODEL_KEY] = key
        model["provider"], model["api_key"] = "anthropic", f"${{{MODEL_KEY}}}"


def _prove(session: Session) -> None:
    """Raise `SettingsError` rather than write a configuration that would be refused."""
    env = {**session.env, **session.answers.secrets}
    own = {name: text for name, text in env.items() if not name.startswith("PARLEY_")}
    from_mapping(session.answers.values, own, session.platforms)


def _closing(session: Session) -> None:
    if session.left_to_do:
        _say("\nWhat is left to do:")
        for item in session.left_to_do:
            _say(f"  - {item}")
    option = f" --config {session.wishes.config}"
    _say(f"\nNext: parley doctor{option}, then parley run{option}")
