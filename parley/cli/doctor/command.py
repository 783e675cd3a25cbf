"""`parley doctor`: numbered checks, each with advice where it is not ok."""

import asyncio
import os
import sys
from collections.abc import Iterable

from gateway.platforms import Discovery, discover
from gateway.ports import Check
from parley.cli.doctor import checks, section_checks
from parley.cli.doctor.checks import Finding, Status
from parley.cli.doctor.credentials import diagnose_all
from parley.cli.doctor.model_check import check_models
from parley.cli.doctor.running import check_running
from parley.cli.doctor.start_check import startup_problems
from parley.cli.doctor.store_checks import check_servers
from parley.cli.options import Config, config_path
from parley.config import Settings, SettingsError, load


def doctor(config: Config = None) -> int:
    """Print the report; 1 when something is broken."""
    platforms, path = discover(), config_path(config)
    findings = [*checks.versions(), *checks.environment(), *checks.plugins(platforms)]
    try:
        settings = load(path, os.environ, platforms)
    except SettingsError as error:
        findings += checks.refused(error.problems)
    else:
        detail = f"{path} is fine" if path else "none; only the environment"
        findings.append(Finding("ok", "configuration", detail))
        findings += checks.secrets_file(path)
        findings += checks.stores(settings)
        findings += checks.listeners(settings)
        findings += section_checks.recall_models(settings)
        findings += check_running(settings)
        findings += asyncio.run(_contact(settings, platforms))
    sys.stdout.write(report(findings))
    return 1 if any(finding.status == "broken" for finding in findings) else 0


async def _contact(settings: Settings, platforms: Discovery) -> list[Finding]:
    """The checks that contact other programs, side by side."""

    async def start() -> list[Finding]:
        return checks.refused(await startup_problems(settings, platforms))

    groups = await asyncio.gather(
        start(),
        check_servers(settings),
        check_models(settings),
        section_checks.tool_servers(settings),
        section_checks.heartbeats(settings),
        section_checks.grounding(settings),
        _platforms(settings, platforms),
    )
    return [finding for group in groups for finding in group]


async def _platforms(settings: Settings, platforms: Discovery) -> list[Finding]:
    results = await diagnose_all(settings, platforms)
    if not results:
        advice = "`parley init` sets one up."
        return [Finding("note", "platforms", "none has its credentials", advice)]
    return [
        Finding(
            _status(check),
            f"{account.path.removeprefix('platforms.')}: {check.name}",
            check.detail,
            check.advice,
        )
        for account, account_checks in results
        for check in account_checks
    ]


def _status(check: Check) -> Status:
    if not check.ok:
        return "broken"
    return "note" if check.advice else "ok"


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
    lines.append(f"{counts['ok']} ok, {counts['note']} to note, {counts['broken']} broken.")
    return "\n".join(lines) + "\n"
