"""Detects deaf connections, whose socket is open but receives nothing, by the adapter's proofs."""

import asyncio
from collections.abc import Callable

import structlog

from gateway.errors import StartError
from gateway.ports import CanCheckLiveness, CanReconnect, Clock, Liveness

CHECK_EVERY = 5.0
"""Seconds between two checks."""
RESTART_AFTER = 60.0
"""Seconds after which the adapter of a deaf connection is restarted. Until then it may recover by
itself, which loses less."""
REVIVE_SECONDS = 10.0
"""Time limit for an adapter to cut a deaf connection."""

log = structlog.get_logger(__name__)


async def wait_until_deaf(
    name: str, adapter: CanCheckLiveness, clock: Clock, report: Callable[[Liveness], None]
) -> StartError:
    """Check repeatedly, report each result to `tell`, and return when only a restart helps.

    A connection without proof is deaf. Silence in its chats is no sign of that.
    """
    deaf_since: float | None = None
    while True:
        await clock.sleep(CHECK_EVERY)
        liveness = look(name, adapter)
        report(liveness)
        if liveness.ok:
            if deaf_since is not None:
                log.info("adapter_recovered", account=name)
            deaf_since = None
            continue
        if deaf_since is None:
            deaf_since = clock.monotonic()
            log.warning(
                "adapter_deaf",
                account=name,
                detail=liveness.detail,
                seconds=round(liveness.seconds_since, 1),
            )
            await _revive(name, adapter)
        elif clock.monotonic() - deaf_since >= RESTART_AFTER:
            return StartError(
                f"The connection receives no events: {liveness.detail}.", "It is restarted."
            )


def look(name: str, adapter: CanCheckLiveness) -> Liveness:
    """The adapter's report on its connection; an adapter that fails to report counts as
    connected."""
    try:
        return adapter.alive()
    except Exception:
        log.exception("liveness_check_failed", account=name)
        return Liveness(True)


async def _revive(name: str, adapter: CanCheckLiveness) -> None:
    if not isinstance(adapter, CanReconnect):
        return
    try:
        async with asyncio.timeout(REVIVE_SECONDS):
            await adapter.reconnect()
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        log.warning("revive_failed", account=name, error=error)
