"""Builds what keeps the messages of places."""

from datetime import timedelta

from gateway.ports import Clock
from gateway.turn.catchup import CatchUp, CatchUpRules
from parley.config import Settings
from parley.wiring.storage import Storage


def catchup_of(settings: Settings, storage: Storage, clock: Clock) -> CatchUp | None:
    """Return what keeps messages; None where that is off."""
    own = settings.catchup
    if not own.enabled:
        return None
    rules = CatchUpRules(timedelta(days=own.keep_days), own.messages)
    return CatchUp(storage.catchup, clock, rules)
