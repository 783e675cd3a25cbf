"""Keeps security events in the audit, behind its own seal, whether memory is on or off."""

from dataclasses import dataclass

from gateway.ports import AlarmClock
from gateway.security import SecurityEvent, SecurityLog
from memory.audit import Audit
from parley.audit_key import audit_key
from parley.settings import Settings
from parley.storage import Storage


@dataclass(frozen=True, slots=True)
class AuditSink:
    """Implements `gateway.security.SecuritySink`."""

    audit: Audit

    async def keep(self, event: SecurityEvent, times: int) -> None:
        """Append an entry with what is known. Raises `StoreUnavailable`."""
        known = {
            name: value
            for name in ("reason", "channel", "address")
            if (value := getattr(event, name))
        }
        await self.audit.append(
            "security_event", event.tenant, event.person, event=event.event, times=times, **known
        )


def security_log(settings: Settings, storage: Storage, clock: AlarmClock) -> SecurityLog:
    """The record of a program; once started it is kept in the audit."""
    key = audit_key(settings, warn=not settings.memory.enabled)
    return SecurityLog(clock, AuditSink(Audit(storage.memory.audit_on(key), key, clock)))
