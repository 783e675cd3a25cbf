"""Commands, buttons and confirmations: permitted people, effects, repetitions."""

import asyncio
from collections.abc import Sequence

import pytest

from db.errors import StoreUnavailable
from gateway.commands.handler import CLOSED
from gateway.errors import Permanent
from gateway.extensions import AllowAll, ExtensionRegistry
from gateway.immutable import replace
from gateway.message import (
    MAX_CONTENT,
    Button,
    ButtonPressed,
    CommandInvoked,
    InlineQueried,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    Place,
    Quote,
)
from gateway.people import PersonId
from gateway.policy.access import AccessPolicy, RolePolicy
from gateway.policy.decision import Decision
from gateway.policy.rate_limits import COMMAND_RESERVE, COMMANDS_TOGETHER, RateLimits
from gateway.ports import Capabilities
from gateway.ports.memory import Caller, NoMemory
from gateway.render import with_commands
from gateway.stores.conversations import Conversations
from gateway.turn.services import Policies
from tests.support.adapter import RecordingAdapter
from tests.support.failing_store import fail_first
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, message, place, received
from tests.support.patience import PATIENCE

LIFTED = RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0)
ADA = MessageAuthor("ada", "Ada")


def command(
    name: str, arguments: str = "", *, at: Place | None = None, by: MessageAuthor = ADA
) -> CommandInvoked:
    return CommandInvoked(f"cmd-{name}-{arguments}-{by.id}", at or direct(), by, name, arguments)


async def test_context_shows_what_the_model_sees() -> None:
    async with gateway() as g:
        await g.take(received("hello", message_id="m1"))
        await g.take(command("context"))
        assert (
            "last 2 messages of this conversation (at most 10, none older than 24 hours)"
            in g.texts[-1]
        )


BUTTONS = Capabilities(max_buttons=3, ephemeral=True, joins_threads=True)


async def press(g: Gateway, label: str, author: MessageAuthor = ADA, number: int = 1) -> None:
    question = next(o for o in reversed(g.adapter.sent) if o.buttons)
    value = next(b.value for b in question.buttons if b.label == label)
    await g.take(ButtonPressed(f"p{number}-{label}", question.place, author, value, label))


async def test_clear_asks_and_runs_once() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        await g.take(received("hello"))
        await g.take(command("clear"))
        assert [b.label for b in g.adapter.sent[-1].buttons] == ["Delete history", "Keep"]
        assert await g.rows("turns") == 2
        await press(g, "Delete history")
        assert await g.rows("turns") == 0
        await press(g, "Delete history", number=2)
        assert g.texts[-1] == "This question was answered already."


async def test_clear_is_repeated_after_a_failure_of_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fail_first(monkeypatch, Conversations, "clear", 8)
    async with gateway(capabilities=BUTTONS) as g:
        await g.take(received("hello"))
        await g.take(command("clear"))
        await press(g, "Delete history")
        for _ in range(8):
            await g.clock.advance(5)
            await g.rest()
        assert await g.rows("turns") == 0
        assert g.texts[-1].startswith("Done: deleted 2 messages")
        await press(g, "Delete history", number=2)
        assert g.texts[-1] == "This question was answered already."


async def test_the_keep_button_changes_nothing() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        await g.take(received("hello"))
        await g.take(command("clear"))
        await press(g, "Keep")
        assert await g.rows("turns") == 2


async def test_only_the_person_who_was_asked_or_an_operator_confirms() -> None:
    policies = Policies(limits=LIFTED, roles=RolePolicy(operators=frozenset({"root"})))
    async with gateway(capabilities=BUTTONS, policies=policies) as g:
        await g.take(received("hello", at=place(), mentions_bot=True))
        await g.take(command("clear", at=place()))
        await press(g, "Delete history", MessageAuthor("mallory", "Ada"))
        assert await g.rows("turns") == 2
        await press(g, "Delete history", MessageAuthor("root"), number=2)
        assert await g.rows("turns") == 0


async def test_an_expired_question_is_closed() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        await g.take(received("hello"))
        await g.take(command("clear"))
        await g.clock.advance(601)
        await press(g, "Delete history")
        assert g.texts[-1] == CLOSED.english
        assert await g.rows("turns") == 2


async def test_commands_in_a_room_are_answered_privately() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        await g.take(command("context", at=place()))
        assert g.adapter.sent[-1].private_to == "ada"


async def test_other_buttons_are_questions_and_not_own_text() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        await g.take(ButtonPressed("p1", direct(), ADA, "yes-please", "Yes, please"))
        assert g.model.last_words() == (
            '<material kind="button">\nYes, please\n</material>\n'
            "(chose this as their message to you)"
        )


async def test_stop_ends_the_running_turn() -> None:
    async with gateway() as g:
        g.model.open.clear()
        await g.take(received("a long story", message_id="m1"))
        await g.take(command("stop"))
        assert g.texts == ["Stopped."]
        assert g.traces[-1].outcome == "dropped" or g.traces[-2].outcome == "dropped"
        assert await g.services.stores.inbox.unfinished(10) == []
        g.model.open.set()
        await g.take(received("next", message_id="m2"))
        assert g.texts[-1] == "answer"


async def test_stop_without_a_running_turn_says_so() -> None:
    async with gateway() as g:
        await g.take(command("stop"))
        assert g.texts == ["There is nothing to stop."]


async def test_help_lists_the_commands() -> None:
    async with gateway() as g:
        await g.take(command("help"), command("start"))
        assert g.texts[0] == g.texts[1]
        assert all(f"/{name}" in g.texts[0] for name in ("ask", "clear", "language", "stop"))
        assert "/context" not in g.texts[0]
        await g.take(command("help", "more"), received("Help more!", message_id="m1"))
        assert g.texts[2] == g.texts[3]
        assert all(f"/{name}" in g.texts[2] for name in ("context", "task"))
        assert not g.model.requests


async def test_the_button_of_the_help_shows_the_further_commands() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        await g.take(command("help"))
        assert [button.label for button in g.adapter.sent[-1].buttons] == ["More commands"]
        await press(g, "More commands")
        assert "/context" in g.texts[-1]


async def test_the_help_shows_the_commands_of_the_persons_role() -> None:
    roles = RolePolicy(operators=frozenset({"olga"}))
    policies = Policies(access=AccessPolicy(admission="approved"), roles=roles)
    allowed = AccessPolicy(admission="approved", allowed_users=frozenset({"ada"}))
    async with gateway(policies=replace(policies, access=allowed)) as g:
        await g.take(command("help"), command("help", by=MessageAuthor("olga", "Olga")))
        assert "/approve" not in g.texts[0]
        assert "/approve" in g.texts[1]


async def test_commands_can_be_tapped_where_the_platform_allows_it() -> None:
    """Outside code: a command with an argument stays code, which people copy."""
    for taps in (True, False):
        can = Capabilities(tappable_commands=taps)
        assert with_commands("`/help` and `/approve ID`", can) == (
            "/help and `/approve ID`" if taps else "`/help` and `/approve ID`"
        )


async def test_a_question_by_command_is_a_question_without_the_command() -> None:
    async with gateway() as g:
        await g.take(command("ask", "why?"))
        assert g.model.last_words() == "why?"
        sent_message = message("/ask and why not?", message_id="m2")
        await g.take(CommandInvoked("c2", direct(), ADA, "ask", "and why not?", sent_message))
        assert g.model.last_words() == "and why not?"


async def test_the_context_of_a_new_conversation_is_empty() -> None:
    async with gateway() as g:
        await g.take(command("context"))
        assert g.texts == ["I see no earlier messages of this conversation."]


async def test_context_lists_only_what_the_model_would_see() -> None:
    async with gateway() as g:
        await g.take(received("hello"))
        await g.clock.advance(25 * 3600)
        await g.take(command("context"))
        assert g.texts[-1] == "I see no earlier messages of this conversation."


async def test_a_denied_person_runs_no_command_and_gets_no_answer() -> None:
    policies = Policies(access=AccessPolicy(blocked_users=frozenset({"ada"})))
    async with gateway(capabilities=BUTTONS, policies=policies) as g:
        await g.take(*(command(name) for name in ("help", "context", "clear", "stop")))
        await g.take(ButtonPressed("p1", direct(), ADA, "confirm:0123:yes", "Delete history"))
        assert (g.texts, set(g.outcomes())) == ([], {"refused:access"})


async def test_a_confirmation_clears_the_conversation_of_its_question() -> None:
    async with gateway(capabilities=BUTTONS, policies=Policies(limits=LIFTED)) as g:
        thread = place(thread="T1")
        await g.take(received("in the room", message_id="m1", at=place(), mentions_bot=True))
        await g.take(received("in the thread", message_id="m2", at=thread, mentions_bot=True))
        await g.take(command("clear", at=thread))
        question = next(o for o in reversed(g.adapter.sent) if o.buttons)
        value = question.buttons[0].value
        await g.take(ButtonPressed("p1", place(), ADA, value, "Delete history"))
        assert await g.stored_words() == ["in the room"]


async def test_a_forged_confirmation_has_no_effect() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        await g.take(received("hello"))
        for number, value in enumerate(("confirm:", "confirm::yes", "confirm:abc:maybe")):
            await g.take(ButtonPressed(f"p{number}", direct(), ADA, value, "Delete history"))
        assert set(g.texts[1:]) == {CLOSED.english}
        assert await g.rows("turns") == 2


async def test_the_values_of_buttons_fit_every_platform() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        await g.take(command("clear"))
        assert all(len(b.value.encode()) <= 64 for b in g.adapter.sent[-1].buttons)


async def test_a_deletion_of_one_of_several_answered_messages_removes_its_text_only() -> None:
    async with gateway(policies=Policies(limits=LIFTED)) as g:
        g.model.open.clear()
        await g.take(*(received(f"line {n}", message_id=f"m{n}") for n in range(3)))
        g.model.open.set()
        await g.rest()
        await g.take(MessageDeleted("d1", direct(), ("m1",)))
        assert await g.stored_words() == ["line 0", "line 2"]
        assert await g.rows("turns") == 3


class Inline(RecordingAdapter):
    """An adapter whose platform has an inline mode."""

    def __init__(self, *, broken: bool = False) -> None:
        super().__init__()
        self.offered: list[tuple[Button, ...]] = []
        self.broken = broken

    async def answer_inline(self, query_id: str, suggestions: tuple[Button, ...]) -> None:
        if self.broken:
            raise Permanent("query is too old")
        self.offered.append(suggestions)


def query(text: str) -> InlineQueried:
    return InlineQueried("q1", direct(), ADA, text)


async def test_an_inline_query_is_offered_as_a_question_and_not_stored() -> None:
    adapter = Inline()
    async with gateway(adapter=adapter) as g:
        await g.take(query("  why?  "), query("   "), query("x" * 400))
        offered = sorted([b.value for b in offer] for offer in adapter.offered)
        assert offered == [["why?"], ["x" * 250]]  # queries are answered in any order
        assert (await g.rows("inbox"), await g.rows("traces"), g.model.requests) == (0, 0, [])


class Suggesting(NoMemory):
    """A memory with a text that begins with the typed words."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self._error = error

    async def suggested(self, caller: Caller, typed: str) -> Sequence[str]:
        self.asked.append((str(caller.principal.person), typed))
        if self._error is not None:
            raise self._error
        return (f"{typed}-42 {'is a broken pier ' * 9}",)


async def test_in_private_memories_are_offered_after_the_question() -> None:
    adapter, memory = Inline(), Suggesting()
    async with gateway(adapter=adapter, memory=memory) as g:
        await g.take(query(" ERR "))
        ((ask, meant),) = adapter.offered
        assert memory.asked == [("test:main:ada", "ERR")]
        assert (ask.label, ask.value) == ("Ask Parley", "ERR")
        assert meant.value.startswith("ERR-42 is a broken pier")
        assert meant.label.startswith("ERR-42")
        assert len(meant.label) == 60


async def test_memories_are_not_offered_where_others_read_the_choice() -> None:
    adapter, memory = Inline(), Suggesting()
    async with gateway(adapter=adapter, memory=memory) as g:
        await g.take(replace(query("ERR"), place=place()))
        assert [[b.value for b in offer] for offer in adapter.offered] == [["ERR"]]
        assert memory.asked == []


async def test_without_memory_the_question_is_offered() -> None:
    adapter = Inline()
    async with gateway(adapter=adapter, memory=Suggesting(StoreUnavailable("gone"))) as g:
        await g.take(query("ERR"))
        assert [[b.value for b in offer] for offer in adapter.offered] == [["ERR"]]


async def test_an_expired_inline_query_raises_nothing() -> None:
    async with gateway(adapter=Inline(broken=True)) as g:
        await g.take(query("why?"))
        assert g.dispatcher.idle


class Closed(AllowAll):
    """Lets nobody in."""

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        return Decision("access", False, "closed")


async def test_inline_queries_pass_the_same_checks_as_messages() -> None:
    blocked = Policies(access=AccessPolicy(blocked_users=frozenset({"ada"})))
    for policies, extensions in (
        (blocked, ExtensionRegistry()),
        (Policies(), ExtensionRegistry(access_controller=Closed())),
    ):
        adapter = Inline()
        async with gateway(adapter=adapter, policies=policies, extensions=extensions) as g:
            await g.take(query("why?"))
            assert adapter.offered == []


async def test_an_edit_is_stored_up_to_the_maximum_length_of_a_message() -> None:
    async with gateway() as g:
        await g.take(received("short", message_id="m1"))
        edited = message("x" * (MAX_CONTENT + 5), message_id="m1")
        await g.take(MessageEdited("e2", edited))
        async with asyncio.timeout(PATIENCE):
            while await g.stored_words() == ["short"]:
                await g.rest()  # a long text is redacted in a thread
        assert [len(words) for words in await g.stored_words()] == [MAX_CONTENT]


class Noting(Suggesting):
    """Notes the names with which it is asked, and the text of edits."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.edits: list[str] = []

    async def suggested(self, caller: Caller, typed: str) -> Sequence[str]:
        self.names.append(caller.name)
        return ()

    async def edited(self, tenant: str, place: Place, message_id: str, text: str) -> None:
        self.edits.append(text)


async def test_a_secret_in_a_name_is_removed_from_inline_queries_and_edits() -> None:
    memory, author = Noting(), replace(ADA, name="ada password: Xy12zz89")
    async with gateway(adapter=Inline(), memory=memory) as g:
        await g.take(InlineQueried("q1", direct(), author, "why?"))
        edited = replace(
            message("changed", message_id="m1", at=place(), mentions_bot=True), author=author
        )
        await g.take(
            received("first", message_id="m1", at=place(), mentions_bot=True),
            MessageEdited("e2", edited),
        )
        async with asyncio.timeout(PATIENCE):
            while not memory.edits:
                await g.clock.advance(1)
                await g.rest()
    assert memory.names == ["ada password: [SECRET_REDACTED]"]
    assert "changed" in memory.edits[0]
    assert "Xy12zz89" not in memory.edits[0]


async def test_commands_and_presses_leave_the_questions_of_a_person_alone() -> None:
    limits = RateLimits(user_per_minute=2, channel_per_minute=2, workspace_per_minute=2)
    async with gateway(policies=Policies(limits=limits)) as g:
        author = MessageAuthor("ada", "Ada")
        for number in range(6):
            await g.take(CommandInvoked(f"c{number}", direct(), author, "context"))
            await g.take(ButtonPressed(f"p{number}", direct(), author, f"confirm:{number}:no"))
        assert not [text for text in g.texts if "too much" in text]
        await g.take(received("one", message_id="q1"), received("two", message_id="q2"))
        assert len(g.model.requests) == 2
        await g.take(received("three", message_id="q3"))
        assert "too much" in g.texts[-1]
        await g.take(CommandInvoked("c9", direct(), author, "context"))
        assert "too much" not in g.texts[-1]


async def test_the_command_that_asks_the_model_is_a_question() -> None:
    limits = RateLimits(user_per_minute=1, channel_per_minute=20, workspace_per_minute=100)
    async with gateway(policies=Policies(limits=limits)) as g:
        author = MessageAuthor("ada", "Ada")
        asked = [CommandInvoked(f"a{n}", direct(), author, "ask", f"{n}?") for n in range(2)]
        await g.take(*asked)
        assert len(g.model.requests) == 1
        assert "too much" in g.texts[-1]


async def test_a_channel_of_people_with_commands_is_bounded() -> None:
    async with gateway(capabilities=Capabilities(max_buttons=5)) as g:
        for number in range(2 * COMMANDS_TOGETHER):
            author = MessageAuthor(f"p{number // 15}", "P")
            await g.take(CommandInvoked(f"c{number}", place(), author, "context"))
        answered = [text for text in g.texts if "too much" not in text]
        people = 2 * COMMANDS_TOGETHER // 15 + 1
        assert COMMANDS_TOGETHER <= len(answered) <= COMMANDS_TOGETHER + people * COMMAND_RESERVE
        refusals = len(g.texts) - len(answered)
        assert refusals <= people


async def test_the_command_that_asks_needs_a_question_or_a_message_to_reply_to() -> None:
    async with gateway() as g:
        await g.take(command("ask"), command("ask", "  "))
        assert g.texts == ["What would you like to ask? Write it after the command: /ask …"] * 2
        assert not g.model.requests
        replying = replace(message("/ask", message_id="m2"), quote=Quote("m1", "Whales sing."))
        await g.take(CommandInvoked("c2", direct(), ADA, "ask", "", replying))
        assert "Whales sing." in g.model.last_words()


async def test_help_says_the_way_to_more_commands_once() -> None:
    for can, sentences in ((BUTTONS, 0), (Capabilities(), 1)):
        async with gateway(capabilities=can) as g:
            await g.take(command("help"))
            assert g.texts[-1].count("/help more") == sentences
