"""The write path as a whole, where something speaks against storing."""

from db.errors import StoreUnavailable
from gateway.immutable import replace
from gateway.people import Role
from memory.model.outcome import Outcome
from memory.model.plans import Plans
from memory.model.record import Draft, InputKind, Kind, Scope
from memory.stores.limits import MAX_WAITING
from tests.memory.rig import ROOM, memory_rig


async def test_external_text_waits_even_with_a_citation() -> None:
    async with memory_rig() as rig:
        rig.verifier.known.add("ADR-003")
        ada = await rig.handle("ada")
        draft = Draft("Per ADR-003, we use PostgreSQL", Kind.DECISION)
        outside = await rig.path.write(
            ada.request, ada.access, draft, InputKind.ASSISTANT, external=True
        )
        inside = await rig.path.write(ada.request, ada.access, draft, InputKind.ASSISTANT)
        assert (outside.outcome, outside.code) == (Outcome.REVIEW, "external")
        assert inside.outcome is Outcome.STORED


async def test_a_possible_secret_is_asked_about() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        digits = "3f9a7c1e5b2d8046" + "a1c3e5f7092b4d6880ff12ab"
        result = await ada.write.remember(Draft(f"the value is {digits}", Kind.FACT))
        assert (result.outcome, result.reason.english) == (
            Outcome.REVIEW,
            "It may contain a password or a key.",
        )


async def test_a_full_queue_refuses_memories() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        for number in range(MAX_WAITING + 1):
            draft = Draft(f"Owns boat number {number}", Kind.FACT)
            result = await rig.path.write(ada.request, ada.access, draft, InputKind.ASSISTANT)
        assert (result.outcome, result.code) == (Outcome.REFUSED, "queue_full")
        assert len(await ada.review.waiting(1_000)) == MAX_WAITING


async def test_global_memories_count_towards_no_plan() -> None:
    async with memory_rig(plans=Plans(default="free")) as rig:
        ada = await rig.handle("ada", at=ROOM, role=Role.OPERATOR)
        for number in range(5):
            draft = Draft(f"Deploys on day {number}", Kind.FACT, scope=Scope.PROJECT)
            assert (await ada.write.remember(draft)).outcome is Outcome.STORED
        assert await ada.read.count() == 0


async def test_a_project_has_to_be_chosen_first() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle("ada", role=Role.OPERATOR)
        result = await ada.write.remember(
            Draft("Deploys on Friday", Kind.FACT, scope=Scope.PROJECT)
        )
        assert (result.outcome, result.code) == (Outcome.REFUSED, "no_project")


async def test_the_person_is_asked_if_duplicates_cannot_be_checked() -> None:
    class Deaf:
        """A store that cannot say what is alike."""

        async def find(self, *_: object) -> list[object]:
            raise StoreUnavailable("busy")

        async def like(self, *_: object, **__: object) -> None:
            raise StoreUnavailable("busy")

    async with memory_rig() as rig:
        ada = await rig.handle("ada")
        path = replace(rig.path, memories=Deaf())  # type: ignore[arg-type]
        draft = Draft("Prefers tabs", Kind.PREFERENCE)
        result = await path.write(ada.request, ada.access, draft, InputKind.EXPLICIT)
        assert (result.outcome, result.code) == (Outcome.REVIEW, "duplicate_unchecked")


async def test_each_write_is_counted_with_its_outcome_and_code() -> None:
    counted: list[tuple[str, str]] = []
    async with memory_rig() as rig:
        path = replace(rig.path, written=lambda outcome, code: counted.append((outcome, code)))
        ada = await rig.handle("ada")
        for _ in range(2):
            draft = Draft("I prefer tabs", Kind.PREFERENCE)
            await path.write(ada.request, ada.access, draft, InputKind.EXPLICIT)
        draft = Draft("Maybe it rains", Kind.FACT)
        await path.write(ada.request, ada.access, draft, InputKind.ASSISTANT)
    assert counted[0][0] == "stored"
    assert counted[1:] == [("blocked", "duplicate"), ("blocked", "speculation")]
