"""`parley doctor`: numbered checks, each with advice where it is not ok; also of a program that
runs on this machine."""

import asyncio
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from gateway.platforms import Discovery, discover
from parley.cli.chosen_configuration import base_folder, own_configuration
from parley.cli.config import overrides_of_file
from parley.cli.options import Config
from parley.cli.running_program import fetch, request_to
from parley.cli.stores import in_folder
from parley.config import Settings, SettingsError, load
from parley.doctor import machine
from parley.doctor.machine import Finding
from parley.doctor.services import contact, recall_models
from parley.http.listener import tried
from parley.runtime.installation import STORE_STEP, STORES

NAME: Final = "running"


def doctor(config: Config = None) -> int:
    """Print the report; 1 when something is broken."""
    platforms, path = discover(), own_configuration(config)
    findings = [*machine.versions(), *machine.environment(), *machine.plugins(platforms)]
    try:
        settings = in_folder(load(path, os.environ, platforms), base_folder(path))
    except SettingsError as error:
        findings += machine.refused(error.problems)
    else:
        detail = f"{path} is valid" if path else "no file; the environment is valid"
        findings.append(Finding("ok", "configuration", detail))
        findings += machine.secrets_file(path)
        findings += machine.stores(settings)
        findings += machine.disks(settings)
        findings += _overrides(settings, platforms)
        findings += machine.listeners(settings)
        findings += recall_models(settings)
        findings += check_running(settings)
        findings += asyncio.run(contact(settings, platforms))
    sys.stdout.write(report(findings))
    return 1 if any(finding.status == "broken" for finding in findings) else 0


def _overrides(settings: Settings, platforms: Discovery) -> list[Finding]:
    """The overrides in an SQLite file; those of a server are among the findings of a running
    program."""
    stored = overrides_of_file(settings, platforms)
    if stored is None:
        return []
    findings = machine.ignored_overrides(stored.ignored)
    named = ", ".join(one.key for one in stored.in_force)
    return [Finding("ok", "overrides", named), *findings] if named else findings


def report(findings: Iterable[Finding]) -> str:
    """The report's text."""
    lines = []
    counts = {"ok": 0, "note": 0, "broken": 0}
    for number, finding in enumerate(findings, 1):
        counts[finding.status] += 1
        status = "BROKEN" if finding.status == "broken" else finding.status
        lines.append(f"{number:>3}. {status:<6}  {finding.name}: {finding.detail}")
        if finding.advice and finding.status != "ok":
            lines.append(f"{'':13}What to do: {finding.advice}")
    notes = f"{counts['note']} note{'s' * (counts['note'] != 1)}"
    lines.append(f"{counts['ok']} ok, {notes}, {counts['broken']} broken.")
    return "\n".join(lines) + "\n"


def check_running(settings: Settings) -> list[Finding]:
    """The readiness that the local listener reports; one finding per problem or unready part."""
    if settings.server.port == 0:
        return []
    request = request_to(settings, "/readyz")
    try:
        state = fetch(request)
    except (OSError, ValueError):
        return _not_running(settings, f"no Parley answers on {request.host}")
    if state.get("ready") is True:
        notes = _notes(state.get("problems"), state.get("installation"))
        return [Finding("ok", NAME, "the program is ready"), *notes]
    return _unready(state)


def _not_running(settings: Settings, detail: str) -> list[Finding]:
    """Findings about ports that other programs use."""
    local, public = settings.server, settings.webhooks
    conflict = tried(local.host, local.port)
    if conflict:
        advice = "Choose another server.port, or stop the program that uses it."
        return [Finding("broken", NAME, f"{detail}, and {conflict}", advice)]
    findings = [Finding("ok", NAME, detail)]
    conflict = tried(public.host, public.port)
    if conflict:
        advice = "Choose another webhooks.port, or stop the program that uses it."
        findings.append(Finding("note", "public listener", conflict, advice))
    return findings


def _notes(problems: object, elsewhere: object) -> list[Finding]:
    """Problems that do not stop the program, such as work in quarantine; those of other processes
    are among the findings about Redis."""
    named = problems if isinstance(problems, dict) else {}
    others = elsewhere if isinstance(elsewhere, dict) else {}
    return [
        machine.of_program(
            "note",
            part,
            str(problem),
            "Read the log of the program, and `parley docs how-to/check-health`.",
        )
        for part, problem in named.items()
        if part not in others
    ]


def _unready(state: Mapping[str, object]) -> list[Finding]:
    parts, problems = state.get("parts"), state.get("problems")
    if not isinstance(parts, dict):
        advice = "Another program may use server.port, or server.token may differ from its token."
        return [
            Finding("note", NAME, "the program on server.port does not report its state", advice)
        ]
    texts = problems if isinstance(problems, dict) else {}
    return [
        Finding(
            "broken",
            f"{NAME}: {part}",
            f"{status}. {texts.get(part, '')}".rstrip(),
            f"{STORE_STEP.english}." if part in STORES else "See the log of the program.",
        )
        for part, status in parts.items()
        if status != "ready"
    ]
