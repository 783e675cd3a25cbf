"""The first question of `parley init`: the platforms, and the credentials of each, of which a
platform lists some itself."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from pydantic import ValidationError

from gateway.errors import ConfigurationError, UsageError
from gateway.platforms import choices_of
from gateway.ports import AdapterManifest, Check
from parley.cli.file_writing import write_beside
from parley.cli.init.credential_format import cleaned, problem_of
from parley.cli.init.guide import (
    MANIFEST_FILE,
    CredentialQuestion,
    Guidance,
    format_of,
    guidance_for,
    variable,
)
from parley.cli.init.model_questions import SKIP, ask_after_failure
from parley.cli.init.session import InitSession
from parley.cli.init.terminal import MAX_TRIES, MenuOption
from parley.config import ConfiguredAccount, SettingsError, from_mapping
from parley.config.problems import suggestion
from parley.config.yaml_file import Value
from parley.doctor.platforms import diagnose
from parley.wiring.accounts import every_command

ORDER: Final = ("web", "telegram", "discord", "slack", "whatsapp")
"""The quickest first."""
AGAIN: Final = (
    "  Press Enter to check again, write keep to store the values for later, or skip for no"
    " {platform}"
)
REFUSED: Final = frozenset({"credential", "wrong_app"})


class Entered(Struct, frozen=True):
    """The credentials of one platform. `refused` are failed checks that were met before all of the
    credentials were known."""

    values: dict[str, str]
    refused: tuple[Check, ...] = ()


def ask_for_platforms(session: InitSession) -> None:
    """Set up each chosen platform. Raises `ConfigurationError` for an unknown name, `Stopped`."""
    for name in _chosen(session):
        manifest = session.platforms.manifests[name]
        if _set_up(session, manifest):
            session.save(_title(manifest))
        else:
            session.broken = True
            session.off.append(manifest.platform)
            session.say(f"{_title(manifest)} is not set up.", 2)


def drop_unset_credentials(session: InitSession) -> None:
    """Forget references of the existing configuration to variables that are not set, so that they
    are asked for again."""
    for name, manifest in session.platforms.manifests.items():
        section = session.answers.section("platforms").get(name)
        if not isinstance(section, dict):
            continue
        for key in [c.key for c in guidance_for(manifest).credentials]:
            if section.get(key) and not session.resolved(section[key]):
                session.say(f"platforms.{name}.{key} refers to a variable that is not set.")
                del section[key]


def enabled(session: InitSession) -> list[str]:
    """The platforms that the answers switch on."""
    return [
        name
        for name, manifest in session.platforms.manifests.items()
        if _account(session, manifest, session.answers.section("platforms").get(name))[0]
    ]


def _chosen(session: InitSession) -> list[str]:
    manifests = session.platforms.manifests
    for name in session.given.platforms:
        if name not in manifests:
            advice = suggestion(name, list(manifests)).english
            raise ConfigurationError(f"{name} is not a known platform. {advice}")
    if session.given.platforms:
        return list(dict.fromkeys(session.given.platforms))
    names = sorted(manifests, key=lambda n: ORDER.index(n) if n in ORDER else len(ORDER))
    present = enabled(session)
    if session.given.yes:
        ready = [n for n in names if _from_environment(session, manifests[n])]
        if not ready and not present:
            expected = [
                variable(n, guidance_for(manifests[n]).credentials[0].key)
                for n in names
                if guidance_for(manifests[n]).credentials
            ]
            session.say(f"No platform is set up: none of {', '.join(expected)} is set.")
        return ready
    options = [
        MenuOption(n, _title(manifests[n]), guidance_for(manifests[n]).summary) for n in names
    ]
    session.say("1. On which platforms may people write to the assistant? You can write several"
                " numbers: 1 2.")  # fmt: skip
    chosen = session.terminal.choose_many("Platforms", options, present or ["web"])
    for name in present:
        if name not in chosen:
            _switch_off(session, manifests[name])
    return chosen


def _switch_off(session: InitSession, manifest: AdapterManifest) -> None:
    """Take the credentials out of the configuration; their variables stay in `.env`."""
    section, guidance = (
        session.answers.section("platforms", manifest.platform),
        guidance_for(manifest),
    )
    for credential in guidance.credentials:
        section.pop(credential.key, None)
    if "enabled" in section:
        section["enabled"] = False
    session.say(f"{_title(manifest)} is switched off.", 2)


def _title(manifest: AdapterManifest) -> str:
    return manifest.title.removeprefix("the ").capitalize() if manifest.platform == "web" else (
        manifest.title
    )  # fmt: skip


def _from_environment(session: InitSession, manifest: AdapterManifest) -> dict[str, str]:
    keys = [c.key for c in guidance_for(manifest).credentials]
    texts = {k: session.env.get(variable(manifest.platform, k), "").strip() for k in keys}
    return {key: text for key, text in texts.items() if text}


def _set_up(session: InitSession, manifest: AdapterManifest) -> bool:
    """Ask until the platform accepts the credentials; False when the person gives up."""
    guidance = guidance_for(manifest)
    if not guidance.credentials:
        session.answers.section("platforms", manifest.platform)["enabled"] = True
        return True
    _explain(session, manifest, guidance)
    known = _known(session, manifest, guidance)
    ask = {
        c.key
        for c in guidance.credentials
        if not c.own_word and not known.get(c.key) and c.key not in manifest.choices
    }
    for _ in range(MAX_TRIES):
        entered = _entered(session, manifest, guidance, known, ask)
        if entered is None:
            return False
        credentials = entered.values
        verdict = _reported(session, entered) or _checked(session, manifest, credentials)
        if verdict is None or session.given.yes:
            return verdict is None or _keep_although_failed(session, manifest, credentials, verdict)
        wrong = _wrong_keys(guidance, verdict)
        step = "" if wrong else ask_after_failure(session, AGAIN.format(platform=manifest.title))
        if step == "skip":
            return False
        if step == "keep":
            session.broken = True
            session.left_to_do += _advice(manifest, verdict)
            _store(session, manifest, guidance, credentials)
            return True
        known, ask = {k: v for k, v in credentials.items() if k not in wrong}, wrong
    return False


def _explain(session: InitSession, manifest: AdapterManifest, guidance: Guidance) -> None:
    session.say()
    if session.given.yes:
        session.say(_title(manifest))
        return
    session.say(f"{_title(manifest)} (to leave it out, answer a question with `skip`)")
    path = session.config.with_name(MANIFEST_FILE)
    if manifest.platform == "slack":
        from parley.cli.slack_app import manifest_text  # noqa: PLC0415 - for Slack only

        write_beside(path, manifest_text(session.assistant_name))
    for number, step in enumerate(guidance.steps, 1):
        session.say(f"{number}. {step.format(manifest=path)}", 2, hang=3)


def _known(session: InitSession, manifest: AdapterManifest, guidance: Guidance) -> dict[str, str]:
    """The values of the environment, then those of the existing configuration."""
    section = session.answers.section("platforms", manifest.platform)
    known = {c.key: session.resolved(section.get(c.key)) for c in guidance.credentials}
    for name in session.overrides_of("platforms", manifest.platform):
        session.say(f"{name} is set, and takes precedence over the file.", 2)
    for key, text in _from_environment(session, manifest).items():
        known[key] = cleaned(text)
        session.say(f"{key}: taken from ${variable(manifest.platform, key)}", 2)
    for key, text in list(known.items()):
        expected = format_of(manifest.platform, key)
        if text and expected is not None and (problem := problem_of(text, expected)):
            session.say(f"{key}: {problem}", 2)
            known[key] = ""
    if session.given.yes or not all(known.get(c.key) for c in guidance.credentials):
        return known
    if session.terminal.yes("  Use the existing credentials?", default=True):
        return known
    return {c.key: known[c.key] for c in guidance.credentials if c.own_word}


def _entered(
    session: InitSession,
    manifest: AdapterManifest,
    guidance: Guidance,
    known: Mapping[str, str],
    ask: set[str],
) -> Entered | None:
    """All credentials; None when one is missing or the person skips the platform. Those that the
    platform lists are looked up, and asked for where that finds none."""
    credentials, pending = dict(known), set(ask)
    for credential in guidance.credentials:
        key = credential.key
        if credential.own_word:
            credentials[key] = credentials.get(key) or _own_word()
            continue
        if not credentials.get(key) and key in manifest.choices and key not in ask:
            value, refused = _looked_up(session, manifest, credential, credentials)
            if refused:
                return Entered(credentials, refused)
            credentials[key] = value
            pending |= set() if value else {key}
        if key in pending and session.given.yes:
            session.say(f"{key} is missing. Set {variable(manifest.platform, key)}.", 2)
        elif key in pending:
            answer = _ask(session, manifest, credential)
            if answer == SKIP:
                return None
            credentials[key] = answer
    complete = all(credentials.get(c.key) for c in guidance.credentials)
    return Entered(credentials) if complete or manifest.platform not in ORDER else None


def _reported(session: InitSession, entered: Entered) -> list[Check] | None:
    """The failed checks of a look-up, printed; None without one."""
    _print(session, entered.refused)
    return list(entered.refused) or None


def _own_word() -> str:
    return secrets.token_urlsafe(24)


def _ask(session: InitSession, manifest: AdapterManifest, credential: CredentialQuestion) -> str:
    expected = format_of(manifest.platform, credential.key)

    def parse(text: str) -> str:
        value = cleaned(text)
        if value.lower() == SKIP:
            return SKIP
        if not value:
            raise UsageError("Nothing was entered. Paste the value, or write skip.")
        if expected is not None and (problem := problem_of(value, expected)):
            raise UsageError(problem)
        return value

    answer = session.terminal.read(f"  {credential.title}", parse, hidden=credential.secret)
    if credential.secret and answer != SKIP:
        session.say(f"{len(answer)} characters, in the expected format.", 2)
    return answer


def _checked(
    session: InitSession, manifest: AdapterManifest, credentials: Mapping[str, str]
) -> list[Check] | None:
    """None when the platform accepts the credentials; otherwise the failed checks."""
    section = {**session.answers.section("platforms", manifest.platform), **credentials}
    account, checks = _account(session, manifest, section)
    if account is not None and session.given.check:
        session.say(f"Asking {manifest.title} ...", 2)
        commands = every_command()
        checks = asyncio.run(diagnose(account, manifest, session.assistant_name, commands))
    _print(session, checks)
    failed = [check for check in checks if not check.ok]
    if not failed:
        _store(session, manifest, guidance_for(manifest), credentials)
    return failed or None


def _print(session: InitSession, checks: Sequence[Check]) -> None:
    for check in checks:
        status = "ok    " if check.ok else "BROKEN"
        session.say(f"{status}  {check.name}: {check.detail!s}", 2, hang=8)
        if check.advice and not check.ok:
            session.say(f"What to do: {check.advice!s}", 10)


def _advice(manifest: AdapterManifest, failed: Sequence[Check]) -> list[str]:
    return [f"{manifest.title}: {check.advice!s}" for check in failed if check.advice]


def _wrong_keys(guidance: Guidance, failed: Sequence[Check]) -> set[str]:
    """The credentials that the platform refused."""
    names = {check.name for check in failed if check.cause in REFUSED}
    wrong = {c.key for c in guidance.credentials if names & set(c.checks)}
    if names and not wrong:
        wrong = {c.key for c in guidance.credentials if not c.own_word}
    return wrong


def _keep_although_failed(
    session: InitSession,
    manifest: AdapterManifest,
    credentials: Mapping[str, str],
    failed: Sequence[Check],
) -> bool:
    """Keep credentials in the expected format although a check failed, in a run without questions,
    unless the configuration's own rules refuse them."""
    section = {**session.answers.section("platforms", manifest.platform), **credentials}
    if _account(session, manifest, section)[0] is None:
        return False
    session.broken = True
    session.left_to_do += _advice(manifest, failed)
    _store(session, manifest, guidance_for(manifest), credentials)
    return True


def _account(
    session: InitSession, manifest: AdapterManifest, section: Value
) -> tuple[ConfiguredAccount | None, list[Check]]:
    """The account of a section, or the problems that the configuration's rules find."""
    whole = {"platforms": {manifest.platform: section or {}}}
    own = {k: v for k, v in session.variables().items() if not k.startswith("PARLEY_")}
    own |= session.overrides_of("platforms", manifest.platform)  # as the program will see it
    try:
        accounts = from_mapping(whole, own, session.platforms).accounts()
    except SettingsError as error:
        return None, [Check(p.path, False, p.text, p.advice) for p in error.problems]
    if accounts:
        return accounts[0], []
    return None, [Check("credentials", False, "none are set", "Enter them, or write skip.")]


def _store(
    session: InitSession,
    manifest: AdapterManifest,
    guidance: Guidance,
    credentials: Mapping[str, str],
) -> None:
    secret = {c.key for c in guidance.credentials if c.secret}
    section = session.answers.section("platforms", manifest.platform)
    for key, text in credentials.items():
        if not text:
            continue
        if key in secret:
            session.keep_secret(section, key, variable(manifest.platform, key), text)
        else:
            section[key] = text
    session.left_to_do += [step.format(env=session.env_file) for step in guidance.afterwards]


def _looked_up(
    session: InitSession,
    manifest: AdapterManifest,
    credential: CredentialQuestion,
    credentials: Mapping[str, str],
) -> tuple[str, tuple[Check, ...]]:
    """The value of a credential that the platform lists, chosen by the person where there are
    several; empty where it lists none. With it the failed checks of the other credentials. Raises
    `Stopped`."""
    if credential.key not in manifest.choices or not session.given.check:
        return "", ()
    section = session.answers.section("platforms", manifest.platform)
    given = {
        name.rpartition("__")[2].lower(): text
        for name, text in session.overrides_of("platforms", manifest.platform).items()
    }
    try:
        settings = manifest.settings.model_validate({**section, **credentials, **given})
    except ValidationError:
        return "", ()  # the check of the complete account reports it
    session.say(f"Asking {manifest.title} for the {credential.name} ...", 2)
    choices = asyncio.run(choices_of(manifest, credential.key, settings))
    if choices.failed:
        return "", choices.failed
    return _listed_value(session, manifest, credential, choices.values), ()


def _listed_value(
    session: InitSession,
    manifest: AdapterManifest,
    credential: CredentialQuestion,
    values: tuple[tuple[str, str], ...],
) -> str:
    if len(values) == 1:
        value, title = values[0]
        session.say(f"ok      {credential.name}: {value}, of {title or 'the only one'}", 2, hang=8)
        return value
    if not values:
        session.say(f"{manifest.title} lists none for these credentials.", 2)
        return ""
    if session.given.yes:
        name = variable(manifest.platform, credential.key)
        listed = ", ".join(f"{value} ({title})" for value, title in values)
        session.say(f"There are several: {listed}. Set {name}.", 2)
        return ""
    options = [MenuOption(value, value, title) for value, title in values]
    return session.terminal.choose(f"  {credential.name.capitalize()}", options, values[0][0])
