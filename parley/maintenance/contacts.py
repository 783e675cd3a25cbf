"""The checks of `parley doctor` that contact other programs: services of models, stores, platforms,
tools. They change nothing."""

import asyncio

from gateway.platforms import Discovery
from gateway.ports import Check
from parley.config import Settings
from parley.maintenance import checks, section_checks
from parley.maintenance.checks import Finding, Status
from parley.maintenance.credentials import diagnose_all
from parley.maintenance.model_check import check_models
from parley.maintenance.start_check import startup_problems
from parley.maintenance.store_checks import check_servers


async def contact(settings: Settings, platforms: Discovery) -> list[Finding]:
    """The checks that contact other programs, side by side."""

    async def start() -> list[Finding]:
        return checks.refused(await startup_problems(settings, platforms))

    groups = await asyncio.gather(
        start(),
        check_servers(settings),
        check_models(settings),
        section_checks.memory_backends(settings),
        section_checks.tool_servers(settings),
        section_checks.heartbeats(settings),
        section_checks.grounding(settings),
        _platforms(settings, platforms),
    )
    return [finding for group in groups for finding in group]


async def _platforms(settings: Settings, platforms: Discovery) -> list[Finding]:
    results = await diagnose_all(settings, platforms)
    if not results:
        advice = "Run `parley init` to set one up."
        return [Finding("note", "platforms", "no platform has credentials", advice)]
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
