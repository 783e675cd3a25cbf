"""Lookups of admissions: as few reads as possible, and none that is old for long."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gateway.message import Place
from gateway.pairing.admissions import KEPT_SECONDS
from gateway.pairing.requests import Pairing
from gateway.people import PersonId, Principal
from gateway.policy.access import AccessPolicy, RolePolicy
from gateway.ports.memory import NoMemory
from gateway.stores.admissions import SqlAdmissions
from gateway.turn.services import Policies
from tests.support.gateway import Gateway, gateway
from tests.support.messages import received

APPROVED = Policies(
    access=AccessPolicy(admission="approved"), roles=RolePolicy(owners=frozenset({"boss"}))
)


@dataclass
class Linked(NoMemory):
    """A memory in which identities are linked."""

    others: Sequence[PersonId] = ()

    async def linked(self, who: Principal) -> Sequence[PersonId]:
        return self.others


@dataclass
class Reads:
    """Counts the reads of admissions."""

    number: int = 0
    places: list[Place] = field(default_factory=list)


def count_reads(g: Gateway) -> Reads:
    pairing, reads = g.services.pairing, Reads()
    assert pairing is not None
    store = pairing.store
    assert isinstance(store, SqlAdmissions)
    read = store.admitted

    async def counted(tenant: str, persons: Sequence[str]) -> bool:
        reads.number += 1
        return await read(tenant, persons)

    store.admitted = counted  # type: ignore[method-assign]
    return reads


async def admit(g: Gateway, name: str) -> None:
    await g.take(received("hello", message_id=f"ask-{name}", author=name))
    pairing = g.services.pairing
    assert pairing is not None
    (request,) = await pairing.waiting("default")
    await pairing.approve(request, "test")


async def test_a_message_of_an_approved_person_needs_one_read() -> None:
    async with gateway(policies=APPROVED) as g:
        await admit(g, "eve")
        reads = count_reads(g)
        await g.take(received("hello", message_id="m2", author="eve"))
        assert (g.texts[-1], reads.number) == ("answer", 1)
        await g.take(received("hello", message_id="m3", author="eve"))
        assert reads.number == 1
        await g.clock.advance(KEPT_SECONDS)
        await g.take(received("hello", message_id="m4", author="eve"))
        assert reads.number == 2


async def test_if_everybody_is_admitted_nothing_is_read() -> None:
    async with gateway() as g:
        reads = count_reads(g)
        await g.take(received("hello"))
        assert (g.texts, reads.number) == (["answer"], 0)


async def test_a_revocation_by_another_process_counts_within_seconds() -> None:
    async with gateway(policies=APPROVED) as g:
        await admit(g, "eve")
        await g.take(received("hello", message_id="m2", author="eve"))
        other = SqlAdmissions(g.database)
        await other.revoke("default", ["test:main:eve"], g.clock.now())
        await g.clock.advance(KEPT_SECONDS)
        await g.take(received("hello", message_id="m3", author="eve"))
        assert g.outcomes()[-1] == "refused:access"


async def test_a_revocation_ends_the_approvals_of_linked_identities() -> None:
    """Each of them would admit the person again."""

    async def linked(tenant: str, person: str) -> Sequence[str]:
        return ["test:main:eve"] if person == "test:main:eve2" else []

    async with gateway(policies=APPROVED) as g:
        await admit(g, "eve")
        store, services = SqlAdmissions(g.database), g.services
        pairing = Pairing(
            store, services.stores.buckets, g.clock, g.changes, services.admissions, linked
        )
        (gone,) = await pairing.revoke("default", "test:main:eve2", "test")
        assert gone.applicant.person == "test:main:eve"
        await g.take(received("hello", message_id="m2", author="eve"))
        assert g.outcomes()[-1] == "refused:access"


async def test_an_approval_counts_for_linked_identities() -> None:
    linked = Linked()
    async with gateway(policies=APPROVED, memory=linked) as g:
        await admit(g, "eve")
        await g.take(received("hello", message_id="m2", author="eve2"))
        assert g.outcomes()[-1] == "refused:access"
        linked.others = [PersonId("test", "main", "eve")]
        await g.clock.advance(KEPT_SECONDS)
        await g.take(received("hello", message_id="m3", author="eve2"))
        assert g.texts[-1] == "answer"
