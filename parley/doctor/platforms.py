"""Checks of the credentials of each account: its platform is asked, without connecting."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from gateway.errors import ParleyError, said_of
from gateway.platforms import Discovery, adapter_class
from gateway.ports import (
    AdapterContext,
    AdapterManifest,
    CanDiagnose,
    Check,
    CommandSpec,
    PlatformAdapter,
    WebhookHandler,
)
from gateway.ports.clock import SystemClock
from gateway.text import Span, text, verbatim
from parley.config import ConfiguredAccount, Settings
from parley.doctor.machine import Finding, Status
from parley.wiring.accounts import commands_of

SECONDS: Final = 20.0
"""Time limit for all checks of one platform."""
MAX_VALUES: Final = 100


class _CheckState:
    """An adapter's durable state, for the length of a check."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    async def get(self, key: str) -> str | None:
        return self._values.get(key)

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        if len(self._values) < MAX_VALUES:
            self._values[key] = value


class _NoListener:
    """The public listener, which does not run during a check."""

    def add(
        self, path: str, handler: WebhookHandler, *, max_body: int = 0, proof: str = ""
    ) -> None: ...

    def remove(self, path: str) -> None: ...


def build(
    account: ConfiguredAccount,
    manifest: AdapterManifest,
    assistant_name: str,
    commands: tuple[CommandSpec, ...],
) -> PlatformAdapter:
    """The account's adapter, not connected. Raises `ConfigurationError`."""
    context = AdapterContext(
        account=account.name,
        assistant_name=assistant_name,
        clock=SystemClock(),
        state=_CheckState(),
        webhooks=_NoListener(),
        count=lambda what, detail="": None,
        commands=commands,
    )
    return adapter_class(manifest)(account.settings, context)


async def diagnose(
    account: ConfiguredAccount,
    manifest: AdapterManifest,
    assistant_name: str,
    commands: tuple[CommandSpec, ...],
) -> list[Check]:
    """The platform's own checks of one account, in at most `SECONDS`. Never raises."""
    try:
        adapter = build(account, manifest, assistant_name, commands)
        if not isinstance(adapter, CanDiagnose):
            return [Check("credentials", True, text("set; this adapter has no check"))]
        try:
            async with asyncio.timeout(SECONDS):
                return await adapter.diagnose()
        finally:
            await adapter.disconnect()
    except TimeoutError:
        detail = text("no answer within {time}", time=Span(SECONDS))
        advice = text("Check the network and the platform's status.")
        return [Check("connection", False, detail, advice)]
    except ParleyError as error:
        return [Check("adapter", False, said_of(error))]
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        detail = text("the check failed: {error}", error=verbatim(type(error).__name__))
        return [Check("adapter", False, detail, text("Report it to the authors of the adapter."))]


async def diagnose_all(
    settings: Settings, platforms: Discovery
) -> Sequence[tuple[ConfiguredAccount, list[Check]]]:
    """The checks of all accounts, side by side."""
    accounts, name = settings.accounts(), settings.assistant.name
    commands = commands_of(settings)
    checks = await asyncio.gather(
        *(diagnose(a, platforms.manifests[a.platform], name, commands) for a in accounts)
    )
    return list(zip(accounts, checks, strict=True))


async def check_platforms(settings: Settings, platforms: Discovery) -> list[Finding]:
    """The findings about the accounts; a note where there is none."""
    results = await diagnose_all(settings, platforms)
    if not results:
        advice = text("Run `parley init` to set one up.")
        return [Finding("note", "platforms", text("no platform has credentials"), advice)]
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
