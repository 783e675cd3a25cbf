"""Answers that are typed where a platform has no buttons: who may, for how long, in which words."""

from dataclasses import dataclass, field

import pytest

from db.errors import StoreUnavailable
from gateway.authorship import Material
from gateway.immutable import replace
from gateway.message import (
    Attachment,
    Button,
    Choice,
    CommandInvoked,
    MessageAuthor,
    MessageReceived,
    Quote,
    Reply,
)
from gateway.people import Audience
from gateway.policy.rate_limits import RateLimits
from gateway.ports import Capabilities, CommandSpec
from gateway.ports.memory import AnswerFooter, Caller, NoMemory, TurnMemory
from gateway.ports.rights import IN_CHAT
from gateway.text import verbatim
from gateway.turn.services import Policies
from gateway.turn.typed_answers import SHARED, sentence_of, spoken
from tests.support.gateway import Gateway, gateway
from tests.support.immutable import force
from tests.support.messages import direct, message, place, received

ADA = MessageAuthor("ada", "Ada")
BOB = MessageAuthor("bob", "Bob")
POLICIES = Policies(
    limits=RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0)
)
BUTTONS = (
    Button("Sell 2", "shop:sell", typed="yes"),
    Button("Cancel", "shop:leave", typed="no"),
)
ASKED = "Sell?\n\nReply yes (Sell 2) or no (Cancel) within 5 minutes."


def offered(button: Button) -> Choice:
    """Return a button before it is shown in a language."""
    typed = verbatim(button.typed) if button.typed else None
    return Choice(verbatim(button.label), button.value, typed=typed)


@dataclass
class Shop:
    """Asks before it sells."""

    pressed: list[tuple[str, str]] = field(default_factory=list)
    buttons: tuple[Button, ...] = BUTTONS
    specs: tuple[CommandSpec, ...] = (
        CommandSpec("sell", "Sell a kite", True, "colour", True, allowed=IN_CHAT),
    )

    async def run(self, name: str, arguments: str, caller: Caller) -> Reply:
        return Reply(verbatim("Sell?"), tuple(map(offered, self.buttons)))

    def owns(self, value: str) -> bool:
        return value.startswith("shop:")

    async def press(self, value: str, caller: Caller) -> Reply:
        self.pressed.append((value, caller.principal.person.id))
        return Reply(verbatim("It is done."))


def with_shop(g: Gateway, buttons: tuple[Button, ...] = BUTTONS) -> Shop:
    shop = Shop(buttons=buttons)
    force(g.services, "more_commands", shop)
    force(g.services, "commands", (*g.services.commands, *shop.specs))
    return shop


def typed_message(text: str, number: int, author: MessageAuthor = ADA) -> MessageReceived:
    sent_message = replace(message(text, message_id=f"m{number}"), author=author)
    return MessageReceived(f"m{number}", sent_message)


async def offer_sale(g: Gateway) -> None:
    await g.take(typed_message("/sell", 0))


async def test_a_typed_yes_has_the_effect_of_the_button() -> None:
    async with gateway(policies=POLICIES) as g:
        shop = with_shop(g)
        await offer_sale(g)
        assert g.texts == [ASKED]
        assert g.adapter.sent[-1].buttons == ()
        await g.take(typed_message("Yes!", 1))
        assert shop.pressed == [("shop:sell", "ada")]
        assert g.texts[-1] == "It is done."
        assert g.model.requests == []


async def test_a_typed_no_declines() -> None:
    async with gateway(policies=POLICIES) as g:
        shop = with_shop(g)
        await offer_sale(g)
        await g.take(typed_message(" *no* ", 1))
        assert shop.pressed == [("shop:leave", "ada")]


async def test_without_an_open_question_a_yes_goes_to_the_model() -> None:
    async with gateway(policies=POLICIES) as g:
        shop = with_shop(g)
        await g.take(typed_message("yes", 1))
        assert g.model.last_words() == "yes"
        await offer_sale(g)
        await g.take(typed_message("yes", 2), typed_message("yes", 3))
        assert len(shop.pressed) == 1
        assert len(g.model.requests) == 2


async def test_after_five_minutes_a_yes_goes_to_the_model() -> None:
    async with gateway(policies=POLICIES) as g:
        shop = with_shop(g)
        await offer_sale(g)
        await g.clock.advance(299)
        await g.take(typed_message("no", 1))
        assert shop.pressed == [("shop:leave", "ada")]
        await g.take(typed_message("/sell", 2))
        await g.clock.advance(301)
        await g.take(typed_message("yes", 3))
        assert len(shop.pressed) == 1
        assert g.model.last_words() == "yes"


async def test_any_other_message_of_the_person_closes_the_question() -> None:
    async with gateway(policies=POLICIES) as g:
        shop = with_shop(g)
        for number, other in enumerate(
            (typed_message("what would that be?", 1), typed_message("/context", 2))
        ):
            await g.take(typed_message("/sell", 10 + number))
            await g.take(other)
            await g.take(typed_message("yes", 20 + number))
        assert shop.pressed == []
        assert g.model.last_words() == "yes"


async def test_a_later_answer_of_the_model_closes_the_question() -> None:
    async with gateway(policies=POLICIES) as g:
        shop = with_shop(g)
        g.model.open.clear()
        await g.take(typed_message("Tell me a story.", 1), typed_message("/sell", 2))
        assert g.texts == [ASKED]
        g.model.reply = lambda request: "Shall I go on?"
        g.model.open.set()
        await g.rest()
        await g.take(typed_message("yes", 3))
        assert shop.pressed == []
        assert g.model.last_words() == "yes"


async def test_only_the_asked_person_can_answer_in_that_conversation() -> None:
    async with gateway(policies=POLICIES) as g:
        shop = with_shop(g)
        room = place()
        await g.take(CommandInvoked("c1", room, ADA, "sell"))
        assert g.texts == [ASKED.replace("Reply", "In a message to me, reply")]

        def there(text: str, number: int, author: MessageAuthor) -> MessageReceived:
            sent_message = message(text, at=room, mentions_bot=True, message_id=f"r{number}")
            return MessageReceived(f"r{number}", replace(sent_message, author=author))

        await g.take(there("yes", 1, BOB), typed_message("yes", 2))
        assert shop.pressed == []
        unheard = message("yes", at=room, message_id="r3")
        await g.take(MessageReceived("r3", unheard))
        assert shop.pressed == [], "it was not said to the assistant"
        await g.take(there("yes", 4, ADA))
        assert shop.pressed == [("shop:sell", "ada")]


FORWARD = (Material("forwarded", "yes", by="Bob"),)


@pytest.mark.parametrize(
    "other",
    [
        replace(message("", message_id="x"), material=FORWARD),
        replace(message("yes", message_id="x"), material=FORWARD),
        replace(message("yes", message_id="x"), quote=Quote("q", "Shall I?", by_this_bot=True)),
        replace(message("> yes", message_id="x")),
        replace(message("yes", message_id="x"), attachments=(Attachment("image", "ref"),)),
    ],
    ids=["forwarded", "beside a forward", "quoting", "as a quotation", "with a file"],
)
async def test_forwarded_and_quoted_text_answers_no_question(other: object) -> None:
    async with gateway(policies=POLICIES) as g:
        shop = with_shop(g)
        await offer_sale(g)
        await g.take(MessageReceived("x", other))  # type: ignore[arg-type]  # a message, as made above
        assert shop.pressed == []
        await g.take(typed_message("yes", 9))
        assert shop.pressed == [], "it was closed by that message"


async def test_a_redelivered_answer_counts_once_and_not_for_a_later_question() -> None:
    async with gateway(policies=POLICIES) as g:
        shop = with_shop(g)
        await offer_sale(g)
        await g.take(typed_message("yes", 1), typed_message("yes", 1))
        await g.take(typed_message("/sell", 2), typed_message("yes", 1))
        assert len(shop.pressed) == 1
        await g.clock.advance(600)
        await g.take(typed_message("yes", 1))
        assert len(shop.pressed) == 1
        assert g.model.requests == []


async def test_an_answer_that_could_not_be_stored_counts_when_redelivered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with gateway(policies=POLICIES) as g:
        shop = with_shop(g)
        await offer_sale(g)

        async def away(*_: object) -> bool:
            raise StoreUnavailable("away")

        with monkeypatch.context() as broken:
            broken.setattr(g.services.stores.inbox, "add", away)
            with pytest.raises(StoreUnavailable):
                await g.take(typed_message("yes", 1))
        await g.take(typed_message("yes", 1))
        assert shop.pressed == [("shop:sell", "ada")]


async def test_a_newer_question_replaces_an_older_one() -> None:
    async with gateway(policies=POLICIES) as g:
        shop = with_shop(g)
        await offer_sale(g)
        shop.buttons = (Button("Sell all", "shop:all", typed="yes"),)
        await g.take(typed_message("/sell", 1), typed_message("yes", 2), typed_message("yes", 3))
        assert shop.pressed == [("shop:all", "ada")]


async def test_a_shared_account_cannot_answer() -> None:
    async with gateway(policies=POLICIES) as g:
        shop = with_shop(g)
        chat = MessageAuthor("group", "Group", is_chat=True)
        await g.take(typed_message("/sell", 0, chat), typed_message("yes", 1, chat))
        assert g.texts[0] == f"Sell?\n\n{SHARED.english}"
        assert shop.pressed == []


async def test_buttons_are_used_if_there_are_enough() -> None:
    async with gateway(policies=POLICIES, capabilities=Capabilities(max_buttons=2)) as g:
        shop = with_shop(g)
        await offer_sale(g)
        assert (g.texts, g.adapter.sent[-1].buttons) == (["Sell?"], BUTTONS)
        await g.take(typed_message("yes", 1))
        assert shop.pressed == []
        shop.buttons = (Button("One", "shop:1"), Button("Two", "shop:2"), Button("Two", "shop:3"))
        await g.take(typed_message("/sell", 2))
        assert g.texts[-1] == "Sell?\n\nReply one, two or 3 (Two) within 5 minutes."
        await g.take(typed_message("3", 3))
        assert shop.pressed == [("shop:3", "ada")]


class Asks(NoMemory):
    """Asks under every answer."""

    async def turn(self, caller: Caller) -> TurnMemory:
        return self

    async def finish(self, answer: str, tools_used: object, without: object = ()) -> AnswerFooter:
        buttons = (Button("Keep", "shop:keep"), Button("Forget it", "shop:drop", typed="no"))
        return AnswerFooter(verbatim("_Keep this?_"), tuple(map(offered, buttons)))


async def test_under_an_answer_of_the_model_a_yes_goes_to_the_model() -> None:
    async with gateway(policies=POLICIES, memory=Asks()) as g:
        shop = with_shop(g)
        await g.take(typed_message("hello", 1))
        assert g.texts[-1].endswith("Keep this?\n\nReply keep or forget it within 5 minutes.")
        await g.take(typed_message("no", 2))
        assert shop.pressed == []
        await g.take(typed_message("Forget it.", 3))
        assert shop.pressed == [("shop:drop", "ada")]


async def test_clear_asks_also_without_buttons() -> None:
    async with gateway(policies=POLICIES) as g:
        await g.take(received("hello"))
        await g.take(CommandInvoked("c1", direct(), ADA, "clear"))
        assert "Reply yes (Delete history) or no (Keep) within 5 minutes." in g.texts[-1]
        assert await g.rows("turns") == 2
        await g.take(typed_message("yes", 1))
        assert await g.rows("turns") == 0


def test_a_typed_answer_is_compared_without_surrounding_characters() -> None:
    assert [spoken(one) for one in ("Yes", "yes.", "“Yes”", "*yes*", " YES !")] == ["yes"] * 5
    assert spoken("yes please") == "yes please"
    assert spoken("y" * 31) == spoken("yes" * 5_000) == ""


def test_a_label_contains_no_formatting() -> None:
    words = {"yes": Button("*Se_ll* `2`", "v")}
    assert (
        sentence_of(words, Audience.DIRECT).english == "Reply **yes** (Se ll 2) within 5 minutes."
    )
