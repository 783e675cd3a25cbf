"""Asks a platform for the values of a setting that it knows itself, such as the ids of numbers."""

import asyncio
from collections.abc import Mapping

from pydantic import ValidationError

from gateway.platforms import choices_of
from gateway.ports import AdapterManifest, Check
from parley.cli.init.guide import CredentialQuestion, variable
from parley.cli.init.session import InitSession
from parley.cli.init.terminal import MenuOption


def looked_up(
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
    try:
        settings = manifest.settings.model_validate({**section, **credentials})
    except ValidationError:
        return "", ()  # the check of the complete account reports it
    session.say(f"Asking {manifest.title} for the {credential.name} ...", 2)
    choices = asyncio.run(choices_of(manifest, credential.key, settings))
    if choices.failed:
        return "", choices.failed
    return _chosen(session, manifest, credential, choices.values), ()


def _chosen(
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
