"""Keeps security events in the audit, behind its own seal, whether memory is on or off."""

from db.errors import StoreUnavailable
from gateway.errors import ConfigurationError
from gateway.observe.security_log import SecurityLog
from gateway.ports import AlarmClock
from gateway.ports.security import SecurityEvent
from memory.audit import Audit
from parley.config import Settings
from parley.security.audit_key import audit_key
from parley.wiring.storage import Storage


class AuditSink:
    """Implements `gateway.ports.security.SecuritySink`. The key is made with the first event
    that is
    kept: a program without memory to which nothing happens has none."""

    def __init__(self, settings: Settings, storage: Storage, clock: AlarmClock) -> None:
        self._settings = settings
        self._storage = storage
        self._clock = clock
        self._audit: Audit | None = None

    async def keep(self, event: SecurityEvent, times: int) -> None:
        """Append an entry with what is known. Raises `StoreUnavailable`."""
        known = {
            name: value
            for name in ("reason", "channel", "address")
            if (value := getattr(event, name))
        }
        await self._opened().append(
            "security_event", event.tenant, event.person, event=event.event, times=times, **known
        )

    def _opened(self) -> Audit:
        if self._audit is None:
            try:
                key = audit_key(self._settings, warn=not self._settings.memory.enabled)
            except ConfigurationError as error:
                raise StoreUnavailable(str(error)) from error
            self._audit = Audit(self._storage.memory.audit_on(key), key, self._clock)
        return self._audit


def security_log(settings: Settings, storage: Storage, clock: AlarmClock) -> SecurityLog:
    """The record of a program; once started it is kept in the audit."""
    return SecurityLog(clock, AuditSink(settings, storage, clock))
