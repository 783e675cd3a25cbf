"""The setup of a model of Anthropic: its key and its name, checked with a question of one token."""

import asyncio
from typing import Final

from pydantic import SecretStr

from parley.cli.init.credential_format import ANTHROPIC, CredentialFormat, problem_of
from parley.cli.init.model_questions import (
    KEEP,
    SKIP,
    ask_after_failure,
    ask_for_key,
    ask_for_model_name,
    note_unchecked,
)
from parley.cli.init.model_server import ServerProblem, anthropic_models_of
from parley.cli.init.session import InitSession
from parley.cli.init.terminal import MAX_TRIES
from parley.config.sections import ModelChoiceSection
from parley.config.yaml_file import Value
from parley.doctor.machine import Finding
from parley.doctor.models import check_model

KEY: Final = "ANTHROPIC_API_KEY"
ADDRESS: Final = "https://api.anthropic.com"
WRONG_KEY: Final = "key"
NAME: Final = "name"
MISSING_KEY: Final = (
    "The API key is missing: with --yes it comes from {variable} in the environment or, with"
    " --secrets-stdin, from standard input."
)


def set_up_anthropic(session: InitSession) -> bool:
    """Ask until the service answers, or the person stores the values for later; False to choose
    another model. Raises `Stopped`."""
    section = dict(session.answers.section("model"))
    if section.get("provider", "anthropic") != "anthropic":
        section = {}
    key = session.env.get(KEY, "").strip() or session.resolved(section.get("api_key"))
    address = session.given.base_url or str(section.get("base_url") or "")
    name = session.given.model or str(section.get("name") or "")
    used = session.overridden("model", "base_url") or address
    expected = None if used else ANTHROPIC  # a proxy may have keys of its own
    if key:
        session.say("The API key comes from the environment or the existing files.", 2)
    if not key and session.resolved(section.get("auth_token")):
        session.say("The token of the existing files stays; `parley doctor` checks it.", 2)
        session.answers.values["model"] = section
        return True
    for _ in range(MAX_TRIES):
        key = key or _asked_key(session, expected)
        if key in {"", SKIP}:
            return False
        finding = _failed_check(session, name, key, used, expected)
        step = KEEP if finding is None else _next(session, finding)
        if step == KEEP:
            _store(session, section, key, name, address)
            if finding is not None:
                note_unchecked(session)
            return True
        name = _another_name(session, name, key, used) if step == NAME else name
        if SKIP in {step, name}:
            return False
        key = "" if step == WRONG_KEY else key
    return False


def _asked_key(session: InitSession, expected: CredentialFormat | None) -> str:
    if session.given.yes:
        session.say(MISSING_KEY.format(variable=KEY), 2)
        return ""
    session.say(f"Keys: {ANTHROPIC.where}", 2)
    return ask_for_key(session, expected, KEY)


def _store(
    session: InitSession, section: dict[str, Value], key: str, name: str, address: str
) -> None:
    section |= {"provider": "anthropic"}
    section |= {"name": name} if name else {}
    section |= {"base_url": address} if address else {}
    session.keep_secret(section, "api_key", KEY, key)
    session.answers.values["model"] = section


def _failed_check(
    session: InitSession, name: str, key: str, address: str, expected: CredentialFormat | None
) -> Finding | None:
    """None when the service accepts the key and knows the model; otherwise what is wrong, which is
    also printed."""
    if expected is not None and (problem := problem_of(key, expected)):
        session.say(problem, 2)
        return Finding("broken", KEY, problem, cause="key_refused")
    if not session.given.check:
        return None
    session.say("Asking the service ...", 2)
    name = session.overridden("model", "name") or name
    choice = ModelChoiceSection(
        provider="anthropic", name=name, api_key=SecretStr(key), base_url=address or None
    )
    finding = asyncio.run(check_model(choice))
    if finding.status != "broken":
        session.say(f"ok      {finding.detail}", 2)
        return None
    session.say(f"BROKEN  {finding.detail}. {finding.advice}", 2)
    return finding


def _next(session: InitSession, finding: Finding) -> str:
    """The question after a failed check: `WRONG_KEY`, `NAME`, nothing (the check is repeated),
    `KEEP` or `SKIP`. Without questions, a key that may be right is stored."""
    if session.given.yes:
        return SKIP if finding.cause in {"key_refused", "not_found"} else KEEP
    if finding.cause == "key_refused":
        return WRONG_KEY
    if finding.cause == "not_found" and not session.overridden("model", "name"):
        return NAME
    return ask_after_failure(session)


def _another_name(session: InitSession, wrong: str, key: str, address: str) -> str:
    """The name of a model that the service lists, or any where it lists none."""
    try:
        listed = asyncio.run(anthropic_models_of(address or ADDRESS, key))
    except ServerProblem as problem:
        session.say(str(problem), 2)
        listed = []
    names = [model.name for model in listed if model.name != wrong]
    return ask_for_model_name(session, names, names[0] if len(names) == 1 else "")
