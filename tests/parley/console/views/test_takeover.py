"""An operator takes a conversation over, answers in it, and gives it back, on both databases."""

from datetime import timedelta

import pytest

from db.errors import StoreUnavailable
from gateway.commands.takeover_button import PREFIX
from gateway.conversation import key_of
from gateway.extensions import ExtensionRegistry
from gateway.immutable import replace
from gateway.message import ButtonPressed, MessageAuthor, MessageReceived, Place
from gateway.people import PersonId
from gateway.ports.clock import SystemClock
from gateway.stores.takeovers import Takeover
from parley.console.views.takeover import SOMEBODY, shown_name
from tests.parley.console.kit import (
    OPERATOR,
    OTHER,
    OWNER,
    PERSON,
    Console,
    Page,
    person_named,
    sent,
    text_of,
)
from tests.parley.console.talk import ROOM, World, direct
from tests.support.messages import message
from tests.support.waiting import eventually

pytestmark = pytest.mark.usefixtures("undelivered")
HOSTILE = "<script>alert(1)</script> \u202egarden"


@pytest.fixture
def console(either_console: Console) -> Console:
    return either_console


async def act(console: Console, who: str, turn: str, what: str, **fields: str) -> Page:
    return await (await console.visitor(who)).post(f"/conversations/{turn}/{what}", fields)


async def takeover_of(console: Console, name: str = PERSON) -> Takeover | None:
    key = str(key_of("default", direct(name)))
    return await console.app.storage.takeovers.of(key)


async def says(console: Console, name: str, text: str, number: int) -> None:
    """A person writes in their direct conversation; return once it was handled."""
    event = MessageReceived(
        f"e{number}",
        replace(
            message(text, message_id=f"said-{number}", author=name, at=direct(name)),
            timestamp=SystemClock().now(),
        ),
    )
    await console.app._intake(event)
    store = console.app.storage.stores.traces
    await eventually(lambda: store.find(f"said-{number}"))


async def test_the_whole_way(console: Console, world: World) -> None:
    taken = await act(console, OPERATOR, world.adas, "take-over", name="Olga *B*")
    assert taken.location == f"/console/conversations/{world.adas}"
    (told,) = await sent(console)
    assert told.part is not None
    assert "Olga B" in str(told.part.payload)
    assert told.place.channel_id == PERSON
    assert [one.value.startswith(PREFIX) for one in told.buttons] == [True]

    await says(console, PERSON, "can a person help me?", 1)
    text = await text_of(console, OPERATOR, world.adas)
    assert "can a person help me?" in text
    assert "You are answering this conversation" in text
    assert "secret garden" not in text
    assert "roses" not in text

    done = await act(console, OPERATOR, world.adas, "answer", text="Yes: **I** can.")
    assert done.status == 303
    answer = (await sent(console))[-1] if len(await sent(console)) == 2 else None
    assert answer is not None
    assert answer.part is not None
    assert "Olga B" in str(answer.part.payload)
    for name in (OPERATOR, PERSON):
        assert "Yes: <strong>I</strong> can." in await text_of(console, name, world.adas)

    done = await act(console, OPERATOR, world.adas, "give-back")
    assert done.location == f"/console/conversations/{world.adas}"
    assert await takeover_of(console) is None
    assert len(await sent(console)) == 3
    text = await text_of(console, OPERATOR, world.adas)
    assert "can a person help me?" not in text
    trail = console.app.storage.memory.audit_on(b"k" * 32)
    entries = [link.entry for link in await trail.links(0, 50) if link.entry.action == "console"]
    assert [
        (one.person, dict(one.details)["what"])
        for one in entries
        if "takeover" in dict(one.details)
    ] == [(person_named(OPERATOR), what) for what in ("taken_over", "answered", "given_back")]


async def test_earlier_messages_appear_when_the_person_shares_them(
    console: Console, world: World
) -> None:
    await act(console, OPERATOR, world.adas, "take-over")
    for path in ("", "/message", "/rendering"):
        text = await text_of(console, OPERATOR, world.adas + path)
        assert not [word for word in ("secret", "roses") if word in text]
    (told,) = await sent(console)
    button = told.buttons[0].value
    for name, place in ((OTHER, direct(OTHER)), (OTHER, direct(PERSON)), (PERSON, ROOM)):
        await console.app._intake(
            ButtonPressed(f"p{name}{place}", place, MessageAuthor(name), button)
        )
    await console.app._intake(ButtonPressed("p9", direct(PERSON), MessageAuthor(PERSON), button))

    async def shared() -> bool:
        takeover = await takeover_of(console)
        return takeover is not None and takeover.shared

    await eventually(shared)
    text = await text_of(console, OPERATOR, world.adas)
    assert "my secret garden" in text
    assert "roses in the garden" in text
    for path in ("/message", "/rendering"):
        assert "roses in the garden" in await text_of(console, OPERATOR, world.adas + path)
    for other in (OWNER,):
        text = await text_of(console, other, world.adas)
        assert not [word for word in ("secret", "roses") if word in text]
    assert "tulips" not in await text_of(console, OPERATOR, world.eves)


async def test_a_stranger_pressing_the_button_shares_nothing(
    console: Console, world: World
) -> None:
    await act(console, OPERATOR, world.adas, "take-over")
    (told,) = await sent(console)
    button = told.buttons[0].value
    number = len(await sent(console))
    for name, place in ((OTHER, direct(OTHER)), (OTHER, direct(PERSON)), (PERSON, ROOM)):
        await console.app._intake(
            ButtonPressed(f"p-{name}-{place.channel_id}", place, MessageAuthor(name), button)
        )
        number += 1

        async def answered(wanted: int = number) -> bool:
            return len(await sent(console)) >= wanted

        await eventually(answered)
    takeover = await takeover_of(console)
    assert takeover is not None
    assert not takeover.shared


@pytest.mark.parametrize("what", ["take-over", "answer", "give-back"])
async def test_only_operators_of_the_tenant_act(console: Console, world: World, what: str) -> None:
    fields = {"text": "hi"} if what == "answer" else {}
    if what != "take-over":
        await act(console, OPERATOR, world.adas, "take-over")
    before = (await takeover_of(console), len(await sent(console)))
    for name in (PERSON, OTHER):
        assert (await act(console, name, world.adas, what, **fields)).status == 403
    assert (await act(console, "", world.adas, what, **fields)).status == 401
    elsewhere = await world.talk(direct(PERSON), PERSON, "x", tenant="other")
    for name in (OPERATOR, OWNER):
        assert (await act(console, name, elsewhere, what, **fields)).status == 404
    assert (await takeover_of(console), len(await sent(console))) == before


def in_tenants(_: ExtensionRegistry, _place: Place, person: PersonId | None) -> str:
    """Olga is of another tenant."""
    return "other" if person is not None and person.id == OPERATOR else "default"


async def test_an_operator_of_another_tenant_does_and_reads_nothing(
    console: Console, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ExtensionRegistry, "tenant_of", in_tenants)
    client = console.signed_in(OPERATOR, tenant="other")
    for what in ("", "/message", "/rendering"):
        answer = await client("GET", f"/console/conversations/{world.adas}{what}")
        assert answer.status == 404
    for what, body in (("take-over", {}), ("answer", {"text": "x"}), ("give-back", None)):
        answer = await client("POST", f"/console/conversations/{world.adas}/{what}", body)
        assert answer.status == 404
    assert await takeover_of(console) is None


async def test_another_operator_neither_answers_nor_reads(console: Console, world: World) -> None:
    await act(console, OPERATOR, world.adas, "take-over", name="Olga")
    await says(console, PERSON, "a new secret", 1)
    text = await text_of(console, OWNER, world.adas)
    assert "Olga</bdi> is answering this conversation" in text
    assert "a new secret" not in text
    refused = await act(console, OWNER, world.adas, "answer", text="hi")
    assert (refused.status, "Another operator" in refused.text) == (422, True)
    assert (await act(console, OWNER, world.adas, "take-over")).status == 422
    assert (await act(console, OWNER, world.adas, "give-back")).status == 303


async def test_an_answer_that_crosses_the_return_is_not_sent(
    console: Console, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await act(console, OPERATOR, world.adas, "take-over")
    before = len(await sent(console))

    async def given_back(*_: object) -> bool:
        return False

    with monkeypatch.context() as patched:
        patched.setattr(type(console.app.storage.takeovers), "took_part", given_back)
        refused = await act(console, OPERATOR, world.adas, "answer", text="too late")
    assert (refused.status, "Take it over first" in refused.text) == (422, True)
    assert len(await sent(console)) == before
    monkeypatch.setattr("parley.console.views.takeover.account_of", None)
    console.app.services.connected.clear()  # type: ignore[attr-defined]  # a dict, though its type is Mapping
    assert (await act(console, OWNER, world.adas, "give-back")).status == 303
    assert await takeover_of(console) is None


async def test_after_idle_hours_the_operator_reads_and_answers_no_more(
    console: Console, world: World
) -> None:
    await act(console, OPERATOR, world.adas, "take-over")
    await says(console, PERSON, "a new secret", 1)
    takeover = await takeover_of(console)
    assert takeover is not None
    long_ago = SystemClock().now() - timedelta(hours=9)
    assert await console.app.storage.takeovers.took_part(takeover.id, long_ago)
    assert "a new secret" not in await text_of(console, OPERATOR, world.adas)
    refused = await act(console, OPERATOR, world.adas, "answer", text="hi")
    assert refused.status == 422
    assert (await act(console, OWNER, world.adas, "take-over")).status == 303


async def test_an_answer_is_erased_with_the_person_and_deleted_with_their_message(
    console: Console, world: World
) -> None:
    storage, key = console.app.storage, key_of("default", direct(PERSON))
    for number, forget in enumerate(("message", "person")):
        await act(console, OPERATOR, world.adas, "take-over")
        await says(console, PERSON, "a question", number)
        await act(console, OPERATOR, world.adas, "answer", text="a reply")
        said = await storage.stores.conversations.latest(key, 1)
        assert [(one.text, one.speaker) for one in said] == [("a reply", SOMEBODY.english)]
        if forget == "message":
            ids = (f"said-{number}",)
            await storage.stores.conversations.delete("default", direct(PERSON), ids)
            texts = [one.text for one in await storage.stores.conversations.latest(key, 9)]
            assert not {"a question", "a reply"} & set(texts)
            await act(console, OPERATOR, world.adas, "give-back")
        else:
            await storage.working.erase("default", [person_named(PERSON)])
            assert await storage.stores.conversations.latest(key, 9) == []
            assert await takeover_of(console) is None


async def test_nobody_is_silenced_if_the_people_cannot_be_told(
    console: Console, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(*_: object) -> None:
        raise StoreUnavailable("gone")

    monkeypatch.setattr(type(console.app.storage.hot.outbox), "add", unavailable)
    assert (await act(console, OPERATOR, world.adas, "take-over")).status == 503
    assert await takeover_of(console) is None


async def test_lists_and_the_overview_show_what_is_handed_over(
    console: Console, world: World
) -> None:
    await act(console, OPERATOR, world.adas, "take-over")
    olga = await console.visitor(OPERATOR)
    assert (
        "You are answering one conversation instead of the assistant."
        in (await olga.get("/overview")).text
    )
    for name, number in ((OPERATOR, 1), (PERSON, 1), (OTHER, 0)):
        client = console.program.api_client(name)
        rows = (await client("GET", "/console/conversations?state=handed_over")).json["rows"]
        assert [row["id"] for row in rows] == [world.adas] * number
    assert "handed over" in (await olga.get("/conversations")).text
    assert "handed over to you" not in (await (await console.visitor(OWNER)).get("/overview")).text


async def test_a_room_is_taken_over_for_everybody(console: Console, world: World) -> None:
    assert (await act(console, OPERATOR, world.room_ada, "take-over")).status == 303
    (told,) = await sent(console)
    assert (told.buttons, told.place.channel_id) == ((), ROOM.channel_id)
    assert (await act(console, OPERATOR, world.room_ada, "answer", text="hello all")).status == 303
    assert "hello all" in await text_of(console, OWNER, world.room_ada)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("  ", "empty"),
        ("the key is sk-ant-api03-" + "a1B2" * 24, "password or a key"),
        ("x" * 5000, "4,000"),
    ],
)
async def test_an_answer_is_refused_with_the_reason(
    console: Console, world: World, text: str, problem: str
) -> None:
    await act(console, OPERATOR, world.adas, "take-over")
    refused = await act(console, OPERATOR, world.adas, "answer", text=text)
    assert refused.status == 422
    assert problem in refused.text


async def test_a_conversation_without_stored_messages_is_not_taken_over(
    console: Console, world: World
) -> None:
    key = key_of("default", direct(PERSON))
    await console.app.storage.stores.conversations.clear(key)
    refused = await act(console, OPERATOR, world.adas, "take-over")
    assert refused.status == 422
    assert "No message of this conversation is stored" in refused.text


async def test_an_own_conversation_is_not_taken_over(console: Console, world: World) -> None:
    own = await world.talk(direct(OPERATOR), OPERATOR, "mine")
    refused = await act(console, OPERATOR, own, "take-over")
    assert (refused.status, "your own conversation" in refused.text) == (422, True)


async def test_hostile_names_and_texts_stay_texts(console: Console, world: World) -> None:
    await act(console, OPERATOR, world.adas, "take-over", name=HOSTILE[:60])
    await says(console, PERSON, HOSTILE, 1)
    await act(console, OPERATOR, world.adas, "answer", text=HOSTILE)
    for name in (OPERATOR, OWNER, PERSON):
        assert "<script>alert" not in await text_of(console, name, world.adas)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Olga", "Olga"),
        ("  Olga\n O'Neil ", "Olga O'Neil"),
        ("**x** [y](z)", "x yz"),
        ("\u202e<b>", "b"),
        ("", ""),
        ("***", ""),
        ("Мария 李", "Мария 李"),
    ],
)
def test_names_have_no_markup(given: str, name: str) -> None:
    assert shown_name(given) == name
