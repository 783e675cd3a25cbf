"""Feels the pulse of a connection: a socket that is open and deaf is noticed by its own proofs."""

import asyncio
from collections.abc import Callable

import structlog

from gateway.errors import StartError
from gateway.ports import CanCheckLiveness, CanReconnect, Clock, Liveness

LOOK_EVERY = 5.0
"""Seconds between two looks."""
RESTART_AFTER = 60.0
"""Seconds of deafness after which the adapter is started anew; until then it may recover by
itself, which loses less."""
REVIVE_SECONDS = 10.0
"""How long an adapter may take to cut a deaf connection."""

log = structlog.get_logger(__name__)


async def wait_until_deaf(
    name: str, adapter: CanCheckLiveness, clock: Clock, tell: Callable[[Liveness], None]
) -> StartError:
    """Look again and again, `tell` what is seen, and return when nothing but a restart helps.

    Deaf is who has no proof. How long nobody wrote anything does not matter.
    """
    since: float | None = None
    while True:
        await clock.sleep(LOOK_EVERY)
        found = look(name, adapter)
        tell(found)
        if found.ok:
            if since is not None:
                log.info("adapter_hears_again", account=name)
            since = None
            continue
        if since is None:
            since = clock.monotonic()
            log.warning(
                "adapter_deaf",
                account=name,
                detail=found.detail,
                seconds=round(found.seconds_since, 1),
            )
            await _revive(name, adapter)
        elif clock.monotonic() - since >= RESTART_AFTER:
            return StartError(f"The connection is deaf: {found.detail}.", "It is made anew.")


def look(name: str, adapter: CanCheckLiveness) -> Liveness:
    """What the adapter says of its connection; one that cannot say is taken to be well."""
    try:
        return adapter.alive()
    except Exception:
        log.exception("pulse_not_felt", account=name)
        return Liveness(True)


async def _revive(name: str, adapter: CanCheckLiveness) -> None:
    if not isinstance(adapter, CanReconnect):
        return
    try:
        async with asyncio.timeout(REVIVE_SECONDS):
            await adapter.reconnect()
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        log.warning("not_revived", account=name, error=error)
