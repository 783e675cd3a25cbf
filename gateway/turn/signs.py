"""Signs for people who wait for a message, where their platform shows them."""

from collections.abc import Coroutine

import structlog

from db.errors import StoreUnavailable
from gateway.errors import DeliveryError
from gateway.message import Place
from gateway.platforms import ConnectedAccount
from gateway.turn.services import Services

log = structlog.get_logger(__name__)


def show_end(
    connected: ConnectedAccount, place: Place, message_ids: tuple[str, ...], services: Services
) -> None:
    """Let the platform show that nobody has to wait for these messages any more; a failure has no
    effect on them."""
    if connected.ends is not None:
        work = connected.ends.ended(place, message_ids)
        services.indicators.spawn(_unfailing(work, place.platform))


async def _unfailing(work: Coroutine[object, object, None], platform: str) -> None:
    try:
        await work
    except (DeliveryError, StoreUnavailable) as error:
        log.debug("end_not_shown", platform=platform, error=str(error))
