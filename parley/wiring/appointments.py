"""Builds what works on appointments."""

from gateway.message import Notice
from gateway.outbound.membership import PlatformMembership
from gateway.text import Text
from gateway.turn.access_notices import AccessNotices
from gateway.turn.due_appointments import Accept, DueAppointments, TellOperators
from gateway.turn.proactive import ProactiveNotices
from gateway.turn.services import Services
from parley.runtime.appointments import Appointments
from parley.wiring.storage import Storage


def wire_appointments(services: Services, storage: Storage, accept: Accept) -> Appointments | None:
    """The runner of appointments; None where they are off."""
    if not services.policies.appointments.enabled:
        return None
    due = DueAppointments(
        services,
        storage.appointments,
        accept,
        PlatformMembership(services.connected, services.clock).belongs,
        _operators(services, storage),
    )
    return Appointments(due, storage.appointments, services.clock)


def _operators(services: Services, storage: Storage) -> TellOperators:
    """Tells the owners and operators who wrote to the assistant in private."""
    approvers, sender = AccessNotices(services, storage.admissions), ProactiveNotices(services)

    async def tell(tenant: str, group: str, said: Text) -> None:
        known = await approvers.approvers()
        notices = [Notice(person, place, said) for of, person, place in known if of == tenant]
        await sender.send(group, notices)

    return tell
