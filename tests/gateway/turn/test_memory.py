"""Memory is opened for the caller and notified of the outcome; a failed turn stores nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from db.errors import StoreUnavailable
from gateway.authorship import Material
from gateway.immutable import replace
from gateway.message import Choice, MessageEdited, Place
from gateway.people import PersonId
from gateway.ports.memory import REDACTION_NOTICE, AnswerFooter, Caller, NoTools
from gateway.ports.prompt_blocks import KnowledgeItem, PromptParts
from gateway.text import Text, verbatim
from gateway.turn.memory import MAX_NOTED, ranks_of
from tests.support.gateway import Gateway, gateway
from tests.support.immutable import force
from tests.support.messages import direct, message, place, received


@dataclass
class Diary:
    """Writes down what it is told."""

    askers: list[Caller] = field(default_factory=list)
    finished: list[tuple[str, Sequence[str]]] = field(default_factory=list)
    after: AnswerFooter = field(default_factory=AnswerFooter)
    later: list[Text] = field(default_factory=list)
    without: list[Sequence[Text]] = field(default_factory=list)
    edits: list[tuple[str, str]] = field(default_factory=list)
    broken: bool = False
    failures: int = 0
    tools: NoTools = field(default_factory=NoTools)
    material: list[Material] = field(default_factory=list)
    keeps: bool = True
    recalls: bool = False

    async def turn(self, caller: Caller) -> "Diary":
        if self.broken:
            raise StoreUnavailable("the database is away")
        self.askers.append(caller)
        return self

    def reads(self, material: Sequence[Material]) -> None:
        self.material += material

    async def prompt_parts(self) -> PromptParts:
        return PromptParts(brief="Ada likes kites.")

    async def knowledge(self, question: str) -> Sequence[KnowledgeItem]:
        return ()

    async def tell_later(self, sentence: Text) -> None:
        self.later.append(sentence)

    async def finish(
        self, answer: str, tools_used: Sequence[str], without: Sequence[Text] = ()
    ) -> AnswerFooter:
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("the database is away")
        self.without.append(without)
        self.finished.append((answer, tools_used))
        return self.after

    async def knows(self, *_: object) -> bool:
        return bool(self.finished)

    async def edited(self, tenant: str, place: Place, message_id: str, text: str) -> None:
        self.edits.append((message_id, text))

    async def deleted(self, *_: object) -> None: ...


def with_diary(g: Gateway, **how: object) -> Diary:
    diary = Diary(**how)  # type: ignore[arg-type]
    force(g.services, "memory", diary)
    return diary


async def test_memory_is_opened_for_the_principal_with_their_own_text_only() -> None:
    async with gateway() as g:
        diary = with_diary(g)
        await g.take(received("hello", message_id="m1"))
        (caller,) = diary.askers
        assert caller.principal.person == PersonId("test", "main", "ada")
        assert (caller.words, caller.message_ids) == (("hello",), ("m1",))
        assert caller.place.channel_id == direct().channel_id
        assert caller.conversation
        assert diary.finished == [("answer", [])]


async def test_later_turns_know_what_an_answer_was_made_from() -> None:
    mark = Material("repository", "")
    async with gateway() as g:
        diary = with_diary(g, after=AnswerFooter(derived=(mark,)))
        await g.take(received("why?", message_id="m1"))
        assert diary.material == []
        await g.take(received("and then?", message_id="m2"))
        assert diary.material == [mark]


async def test_messages_in_a_room_carry_the_names_of_their_authors() -> None:
    async with gateway() as g:
        diary = with_diary(g)
        await g.take(received("hello", message_id="m1", at=place(), mentions_bot=True))
        await g.take(received("hello", message_id="m2"))
        in_room, alone = diary.askers
        assert (in_room.words, in_room.attributed_text) == (("hello",), "[Ada] hello")
        assert (alone.words, alone.attributed_text) == (("hello",), "hello")
        await g.take(MessageEdited("e1", message("good day", message_id="m1", at=place())))
        assert diary.edits == [("m1", "[Ada] good day")]


async def test_collected_messages_are_one_turn() -> None:
    async with gateway() as g:
        diary = with_diary(g)
        g.model.open.clear()
        for number, text in enumerate(("one", "two", "three")):
            await g.take(received(text, message_id=f"m{number}"))
        g.model.open.set()
        await g.rest()
        assert [caller.words for caller in diary.askers] == [("one",), ("two", "three")]
        assert diary.askers[1].message_ids == ("m1", "m2")


async def test_a_failing_store_after_the_answer_does_not_repeat_the_model_call() -> None:
    async with gateway() as g:
        diary = with_diary(g, failures=2)
        await g.take(received("hello"))
        for _ in range(3):
            await g.clock.advance(5)
            await g.rest()
        assert g.texts == ["answer"]
        assert len(g.model.requests) == 1
        assert diary.finished == [("answer", [])]


async def test_a_failed_turn_is_not_passed_to_memory() -> None:
    async with gateway() as g:
        diary = with_diary(g)

        def fails(_: object) -> str:
            raise RuntimeError("model")

        g.model.reply = fails
        await g.take(received("hello"))
        assert len(diary.askers) == 1
        assert diary.finished == []


async def test_notices_are_below_the_answer_with_their_buttons() -> None:
    async with gateway() as g:
        after = AnswerFooter(
            verbatim("_Kept: likes kites._"), (Choice(verbatim("Keep"), "memory:keep:1"),)
        )
        with_diary(g, after=after)
        await g.take(received("I like kites"))
        assert "Kept: likes kites." in "".join(g.texts)
        assert await g.stored_words() == ["I like kites"]


async def test_with_memory_off_nobody_is_asked_to_store_anything() -> None:
    row = "Zm9vYmFyYmF6cXV4" * 5
    async with gateway() as g:
        with_diary(g, keeps=False)
        await g.take(received(f"what do you make of {row} here?", message_id="m1"))
        await g.take(received("my password is Xy12zz89x", message_id="m2"))
        assert all("/remember" not in text for text in g.texts)
        assert g.texts == ["answer", "answer"]


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize(
    ("said", "later"),
    [
        ("my password is Xy12zz89x", ("In a group you wrote what looks like", (REDACTION_NOTICE,))),
        (f"see {'Zm9vYmFyYmF6cXV4' * 5} here", ("In a group you wrote what may be", ())),
    ],
)
async def test_a_note_about_a_secret_waits_if_the_room_has_no_private_messages(
    said: str, later: tuple[str, Sequence[Text]], fails: bool
) -> None:
    def broken(_: object) -> str:
        raise RuntimeError("model")

    async with gateway() as g:
        diary = with_diary(g)
        g.model.reply = broken if fails else g.model.reply
        await g.take(received(f"hello, {said}", at=place(), mentions_bot=True))
        (waiting,) = diary.later
        assert waiting.english.startswith(later[0])
        assert diary.without == ([] if fails else [later[1]])
        assert not any("did not store" in text for text in g.texts)
        await g.take(received(said, message_id="m2"))
        assert len(diary.later) == 1, "in a direct message it is said at once"
        await g.take(received("hello", message_id="m3", at=place(), mentions_bot=True))
        assert len(diary.later) == 1, "nothing was left out of this one"


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_stopped_answer_leaves_a_trace_only_with_memory_on(keeps: bool) -> None:
    async with gateway(overlap="queue") as g:
        with_diary(g, keeps=keeps)
        g.model.open.clear()
        await g.intake(received("hello", message_id="m1"))
        await g.rest()
        await g.intake(received("/stop", message_id="m2"))
        await g.rest()
        assert "Stopped." in g.texts
        assert bool(await g.services.stores.traces.find("m1")) is keeps


def test_the_trace_names_recalled_memories_by_a_part_of_their_id_and_their_ranks() -> None:
    ranks = (("bm25", 2), ("vector", 1))
    item = KnowledgeItem("0123456789ab", "a text", "source", 0.9, kind="fact", score=0.12345)
    noted = ranks_of([replace(item, ranks=ranks)] * (MAX_NOTED + 5))
    assert noted is not None
    assert noted["items"] == [("01234567", "fact", "", 0.123, dict(ranks))] * MAX_NOTED
    assert "a text" not in str(noted)
    assert ranks_of([]) is None
