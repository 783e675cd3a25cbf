"""The same proposal is asked once, and not again for 90 days after it was rejected."""

from datetime import timedelta

import pytest

from memory.model.outcome import Outcome, WriteResult
from memory.model.record import Draft, Kind
from memory.service.handle import MemoryHandle
from memory.text.proposals import is_same, marks_of, words_of
from tests.memory.rig import ROOM, Rig

SAME = (
    ("The user prefers tea in the morning.", "User prefers tea in the morning"),
    ("The user plays the violin in an orchestra.", "Plays the violin in an orchestra."),
    ("Works as a nurse at the hospital.", "The person works as a nurse at the hospital."),
    ("The user is learning Welsh with an app.", "The user is learning Welsh with an app now."),
    ("Der Nutzer spielt Geige im Orchester.", "Nutzer spielt Geige im Orchester"),
    ("Arbeitet als Pfleger im Spital.", "arbeitet als Pfleger im Spital!"),
    ("L'utilisateur joue du violon.", "l'utilisateur joue du violon"),
    ("Le gusta el té por la mañana.", "Le gusta el té por la mañana"),
    ("Пользователь играет на скрипке.", "Пользователь играет на скрипке"),
    ("ユーザーはバイオリンを弾く", "ユーザーはバイオリンを弾く。"),
    ("Użytkownik gra na skrzypcach w orkiestrze.", "Użytkownik gra na skrzypcach w orkiestrze!"),
    ("O usuário toca violino na orquestra.", "o usuário toca violino na orquestra"),
)
OTHER = (
    ("The user prefers tea in the morning.", "The user prefers coffee in the evening."),
    ("The user has 2 cats in the flat.", "The user has 3 cats in the flat."),
    ("The user eats meat on holidays.", "The user does not eat meat on holidays."),
    ("The older daughter Lea plays tennis.", "The older daughter Mia plays tennis."),
    ("The left knee hurts after running.", "The right knee hurts after running."),
    ("The course begins on Monday evening.", "The course begins on Tuesday evening."),
    ("Das linke Knie schmerzt beim Laufen.", "Das rechte Knie schmerzt beim Laufen."),
    ("Der Kurs beginnt am Montag abend.", "Der Kurs beginnt am Dienstag abend."),
    ("Isst im Urlaub Fleisch.", "Isst im Urlaub kein Fleisch."),
    ("Il a 2 chats à la maison.", "Il a 3 chats à la maison."),
    ("Le gusta el té por la mañana.", "Le gusta el té por la mañana, siempre."),
    ("Tiene 2 gatos en casa.", "Tiene 3 gatos en casa."),
    ("У него 2 кошки дома.", "У него 3 кошки дома."),
    ("猫を2匹飼っている", "猫を3匹飼っている"),
)


@pytest.mark.parametrize(("first", "second"), SAME)
def test_the_same_thing_is_recognised_and_so_are_its_marks(first: str, second: str) -> None:
    one, other = words_of(first), words_of(second)
    assert is_same(one, other)
    assert is_same(marks_of(one, str.upper), marks_of(other, str.upper))


@pytest.mark.parametrize(("first", "second"), OTHER)
def test_another_thing_is_not_the_same(first: str, second: str) -> None:
    one, other = words_of(first), words_of(second)
    assert not is_same(one, other)
    assert not is_same(marks_of(one, hash_of), marks_of(other, hash_of))


def hash_of(text: str) -> str:
    return f"{abs(hash(text)):020d}"


async def propose(ada: MemoryHandle, content: str, quote: str = "") -> WriteResult:
    return await ada.write.infer(Draft(content, Kind.FACT, quote=quote))


async def test_a_waiting_proposal_is_not_asked_again(rig: Rig) -> None:
    ada = await rig.handle("ada")
    assert (await propose(ada, "The user plays the violin.")).outcome is Outcome.REVIEW
    again = await propose(await rig.handle("ada"), "User plays the violin")
    assert (again.outcome, again.code) == (Outcome.BLOCKED, "asked_already")
    assert len(await ada.review.waiting()) == 1
    assert (await propose(ada, "The user plays the organ.")).outcome is Outcome.REVIEW


async def test_a_rejected_proposal_comes_back_after_90_days(rig: Rig) -> None:
    ada = await rig.handle("ada")
    asked = await propose(ada, "The user plays the violin.")
    await ada.review.reject(asked.review_id)
    again = await propose(await rig.handle("ada"), "User plays the violin")
    assert (again.outcome, again.code) == (Outcome.BLOCKED, "rejected_lately")
    await rig.clock.advance(timedelta(days=91).total_seconds())
    late = await propose(await rig.handle("ada"), "User plays the violin")
    assert late.outcome is Outcome.REVIEW


async def test_the_persons_own_words_end_a_rejection(rig: Rig) -> None:
    ada = await rig.handle("ada")
    asked = await propose(ada, "I play the violin.")
    await ada.review.reject(asked.review_id)
    said = await rig.handle("ada", says="I play the violin.")
    stored = await propose(said, "I play the violin.", "I play the violin.")
    assert stored.outcome is Outcome.STORED


async def test_an_approved_proposal_leaves_no_marks(rig: Rig) -> None:
    ada = await rig.handle("ada")
    asked = await propose(ada, "The user plays the violin.")
    await ada.review.approve(asked.review_id)
    rows = [row for row in await ada.privacy.export_all() if "likeness" in row]
    assert [row["likeness"] for row in rows] == [""]


async def test_a_rejected_text_is_not_readable_and_leaves_with_the_person(rig: Rig) -> None:
    ada = await rig.handle("ada")
    asked = await propose(ada, "The user plays the violin.")
    await ada.review.reject(asked.review_id)
    (row,) = [row for row in await ada.privacy.export_all() if "likeness" in row]
    assert row["likeness"]
    assert "violin" not in str(row)
    await ada.erasure.erase_all()
    again = await propose(await rig.handle("ada"), "The user plays the violin.")
    assert again.outcome is Outcome.REVIEW


async def test_other_people_and_other_places_are_asked_on_their_own(rig: Rig) -> None:
    ada = await rig.handle("ada")
    await propose(ada, "The user plays the violin.")
    bob = await propose(await rig.handle("bob"), "The user plays the violin.")
    assert bob.outcome is Outcome.REVIEW
    # In a room the answer would tell others what waits in private.
    room = await propose(await rig.handle("ada", at=ROOM), "The user plays the violin.")
    assert room.outcome is Outcome.REVIEW


async def test_a_document_is_proposed_once(rig: Rig) -> None:
    for _ in range(2):
        ada = await rig.handle("ada", at=ROOM)
        await ada.documents.write("bible", "We sell tea.")
    root = await rig.handle("root", at=ROOM)
    assert len([row for row in await ada.privacy.export_all() if row.get("target") == "bible"]) == 1
    assert root is not None
