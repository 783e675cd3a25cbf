"""`parley doctor`: numbered checks, and what to do about each that is not ok."""

import asyncio
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gateway.platforms import Discovery, discover
from gateway.ports import Check
from parley.cli import (
    checks,
    grounding_checks,
    heartbeat_checks,
    model_check,
    model_files,
    store_checks,
    tool_checks,
)
from parley.cli.checks import Finding, Status
from parley.cli.diagnosis import diagnose_all
from parley.cli.running import running
from parley.cli.start_check import startup_problems
from parley.config import Account, Settings, SettingsError, load


def run(config: Path | None, env: Mapping[str, str]) -> int:
    """Print the report; 1 when something is broken."""
    platforms = discover()
    findings = [*checks.versions(), *checks.plugins(platforms)]
    try:
        settings = load(config, env, platforms)
    except SettingsError as error:
        findings += checks.refused(error.problems)
    else:
        detail = f"{config} is fine" if config else "none; the environment alone"
        findings.append(Finding("ok", "configuration", detail))
        findings += checks.secrets_file(config)
        findings += checks.stores(settings)
        findings += checks.listeners(settings)
        findings += model_files.models_of_recall(settings)
        findings += running(settings)
        findings += asyncio.run(_ask(settings, platforms))
    sys.stdout.write(report(findings))
    return 1 if any(f.status == "broken" for f in findings) else 0


async def _ask(settings: Settings, platforms: Discovery) -> list[Finding]:
    findings = await asyncio.gather(
        _at_start(settings, platforms),
        store_checks.servers(settings),
        model_check.models(settings),
        tool_checks.tool_servers(settings),
        heartbeat_checks.heartbeats(settings),
        grounding_checks.grounding(settings),
        _platforms(settings, platforms),
    )
    return [finding for some in findings for finding in some]


async def _at_start(settings: Settings, platforms: Discovery) -> list[Finding]:
    return checks.refused(await startup_problems(settings, platforms))


async def _platforms(settings: Settings, platforms: Discovery) -> list[Finding]:
    return of_platforms(await diagnose_all(settings, platforms))


def of_platforms(found: Sequence[tuple[Account, list[Check]]]) -> list[Finding]:
    """The platforms' own checks as findings."""
    if not found:
        advice = "`parley init` sets one up."
        return [Finding("note", "platforms", "none has its credentials", advice)]
    return [
        Finding(
            status_of(check),
            f"{account.path.removeprefix('platforms.')}: {check.name}",
            check.detail,
            check.advice,
        )
        for account, checks_of in found
        for check in checks_of
    ]


def status_of(check: Check) -> Status:
    """Broken when it is not ok; something to note when it is ok and comes with advice."""
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
