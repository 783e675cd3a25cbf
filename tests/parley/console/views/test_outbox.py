"""The outbox: what waits, what was given up, and sending it again."""

from collections.abc import Sequence

import pytest

from gateway.errors import TenantUnknown
from gateway.extensions import ExtensionRegistry
from gateway.message import Outbound, Part, Place
from gateway.people import PersonId
from gateway.ports.traces import GAVE_UP
from parley.console.views.outbox import PAGE, PATH
from tests.parley.console.kit import OPERATOR, OWNER, PERSON, Console, person_named
from tests.parley.console.talk import ROOM, Talk, direct

HOSTILE = "<script>alert(1)</script> \u202eno chat"
TEXT = "a private text"
ELSEWHERE = Place("telegram", "main", "42", direct(PERSON).audience)
"""No account of this program: what is sent there waits until it is given up."""


async def given_up(
    console: Console, talk: Talk, number: int = 1, reason: str = HOSTILE
) -> Sequence[str]:
    """Answers of one turn that were given up; their keys."""
    sends = [Outbound("", ELSEWHERE, Part(TEXT, TEXT)) for _ in range(number)]
    turn = await talk(direct(PERSON), PERSON, "question", outbound=sends)
    keys = [f"{turn}:{n}" for n in range(number)]
    await console.app.storage.hot.outbox.dead(keys, reason)
    return keys


@pytest.fixture
def talk(console: Console) -> Talk:
    return Talk(console.app)


async def test_operators_see_what_waits_and_what_was_given_up(console: Console, talk: Talk) -> None:
    (key,) = await given_up(console, talk)
    waiting = await talk(
        direct(PERSON), PERSON, "x", outbound=[Outbound("", ELSEWHERE, Part(TEXT, TEXT))]
    )
    for name in (OPERATOR, OWNER):
        page = await (await console.visitor(name)).get(PATH)
        assert page.status == 200
        assert TEXT not in page.text
        assert "alert(1)" in page.text
        assert "<script>alert" not in page.text
        answer = (await console.program.api_client(name)("GET", f"/console{PATH}")).json
        assert TEXT not in str(answer)
        assert [(one["key"], one["person"]) for one in answer["dead"]] == [
            (key, person_named(PERSON))
        ]
        assert [one["turn"] for one in answer["waiting"]] == [waiting]
    assert (await (await console.visitor(PERSON)).get(PATH)).status == 403


async def test_an_answer_is_sent_again(console: Console, talk: Talk) -> None:
    first, second = await given_up(console, talk, 2)
    olga = await console.visitor(OPERATOR)
    done = await olga.post(f"{PATH}/send-again", {"keys": first})
    assert (done.status, done.location) == (303, "/console/outbox")
    assert "queued again" in (await olga.get("/outbox")).text
    box = console.app.storage.hot.outbox
    assert [one.entry.outbound.key for one in await box.dead_letters(10)] == [second]
    assert first in [one.outbound.key for one in await box.waiting(10)]
    again = await olga.post(f"{PATH}/send-again", {"keys": first})
    assert again.status == 422
    assert "None of these answers is in the list" in again.text
    trail = console.app.storage.memory.audit_on(b"k" * 32)
    entries = [link.entry for link in await trail.links(0, 50)]
    assert [
        (one.person, dict(one.details))
        for one in entries
        if dict(one.details).get("what") == "sent_again"
    ] == [(person_named(OPERATOR), {"number": 1, "what": "sent_again"})]


async def test_nothing_is_sent_again_without_a_choice_or_by_others(
    console: Console, talk: Talk
) -> None:
    (key,) = await given_up(console, talk)
    olga = await console.visitor(OPERATOR)
    assert (await olga.post(f"{PATH}/send-again")).status == 422
    assert (
        await (await console.visitor(PERSON)).post(f"{PATH}/send-again", {"keys": key})
    ).status == 403
    assert (await console.stranger().post(f"{PATH}/send-again", {"keys": key})).status == 401
    assert len(await console.app.storage.hot.outbox.dead_letters(10)) == 1


async def test_pages_follow_each_other(console: Console, talk: Talk) -> None:
    await given_up(console, talk, PAGE + 1)
    client = console.signed_in(OPERATOR)
    first = (await client("GET", f"/console{PATH}")).json
    assert (len(first["dead"]), first["next"]) == (PAGE, PAGE)
    second = (await client("GET", f"/console{PATH}?after={PAGE}")).json
    assert (len(second["dead"]), second["next"]) == (1, 0)
    assert second["dead"][0]["key"] not in {one["key"] for one in first["dead"]}
    page = await (await console.visitor(OPERATOR)).get(PATH)
    assert f"after={PAGE}" in page.text


async def test_an_empty_outbox_says_so(console: Console) -> None:
    page = await (await console.visitor(OPERATOR)).get(PATH)
    assert "No answer is waiting to be sent." in page.text
    assert "Every answer was delivered." in page.text


async def test_questions_that_crashed_the_program_are_listed(console: Console, talk: Talk) -> None:
    turn = await talk(ROOM, PERSON, "boom", outcome=GAVE_UP)
    hidden = await talk(ROOM, PERSON, "boom", outcome=GAVE_UP, tenant="other")
    page = await (await console.visitor(OPERATOR)).get(PATH)
    assert f"/conversations/{turn}/message" in page.text
    assert hidden not in page.text


def of_person(_: ExtensionRegistry, _place: Place, person: PersonId | None) -> str:
    """The tenant of everybody is their own, except for the operators."""
    if person is None:
        raise TenantUnknown("nobody")
    return "default" if person.id in (OPERATOR, OWNER) else f"of-{person.id}"


async def test_answers_of_another_tenant_are_neither_seen_nor_sent(
    console: Console, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    sends = [Outbound("", ELSEWHERE, Part(TEXT, TEXT))]
    turn = await talk(direct(PERSON), PERSON, "question", outbound=sends, tenant="of-ada")
    box = console.app.storage.hot.outbox
    await box.dead([f"{turn}:0"], "no chat")
    monkeypatch.setattr(ExtensionRegistry, "tenant_of", of_person)
    olga = await console.visitor(OPERATOR)
    answer = (await console.program.api_client(OPERATOR)("GET", f"/console{PATH}")).json
    assert answer["dead"] == []
    assert (await olga.post(f"{PATH}/send-again", {"keys": f"{turn}:0"})).status == 422
    assert len(await box.dead_letters(10)) == 1


async def test_the_overview_leads_to_the_outbox(console: Console, talk: Talk) -> None:
    await given_up(console, talk)
    page = await (await console.visitor(OPERATOR)).get("/overview")
    assert 'href="/console/outbox"' in page.text
    assert "One answer was not delivered." in page.text
