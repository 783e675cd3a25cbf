"""Commands of another package: run for people with the right, with the caller and the place."""

from dataclasses import dataclass, field

import pytest

from gateway.commands.handler import MAX_BYTES, NOT_ALLOWED, NOT_FETCHED, TOO_LARGE
from gateway.errors import BadInput, DeliveryError
from gateway.immutable import replace
from gateway.message import (
    Attachment,
    ButtonPressed,
    Choice,
    CommandInvoked,
    MessageAuthor,
    Reply,
)
from gateway.people import PersonId, Role
from gateway.policy.access import AccessPolicy
from gateway.ports import Capabilities, CommandSpec
from gateway.ports.memory import Caller, GivenFile
from gateway.ports.rights import IN_CHAT, in_chat
from gateway.text import verbatim
from gateway.turn.services import Policies
from tests.support.gateway import Gateway, gateway
from tests.support.immutable import force
from tests.support.messages import direct, received

ADA = MessageAuthor("ada", "Ada")
BUTTONS = Capabilities(max_buttons=3)


@dataclass
class Shop:
    """Sells one thing."""

    asked: list[tuple[str, str, Caller]] = field(default_factory=list)
    specs: tuple[CommandSpec, ...] = (
        CommandSpec("buy", "Buy a kite", True, "colour", True, allowed=IN_CHAT),
    )

    async def run(self, name: str, arguments: str, caller: Caller) -> Reply:
        self.asked.append((name, arguments, caller))
        if arguments == "black":
            raise BadInput(verbatim("There is no black one."))
        take = Choice(verbatim("Take it"), f"shop:{arguments}")
        return Reply(verbatim(f"A {arguments} kite?"), (take,))

    def owns(self, value: str) -> bool:
        return value.startswith("shop:")

    async def press(self, value: str, caller: Caller) -> Reply:
        self.asked.append(("press", value, caller))
        if value == "shop:gone":
            raise BadInput(verbatim("It is sold."))
        return Reply(verbatim("It is yours."))


def with_shop(g: Gateway) -> Shop:
    shop = Shop()
    force(g.services, "more_commands", shop)
    force(g.services, "commands", (*g.services.commands, *shop.specs))
    return shop


async def test_a_command_receives_its_arguments_and_its_caller() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        shop = with_shop(g)
        await g.take(CommandInvoked("c1", direct(), ADA, "buy", "red"))
        ((name, arguments, caller),) = shop.asked
        assert (name, arguments, caller.name) == ("buy", "red", "Ada")
        assert caller.principal.person == PersonId("test", "main", "ada")
        assert caller.place == direct()
        assert g.texts == ["A red kite?"]
        assert g.model.requests == []


async def test_an_impossible_command_is_answered_with_its_own_message() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        with_shop(g)
        await g.take(CommandInvoked("c1", direct(), ADA, "buy", "black"))
        await g.take(ButtonPressed("p1", direct(), ADA, "shop:gone", "Take it"))
        assert g.texts == ["There is no black one.", "It is sold."]


async def test_a_button_is_routed_to_its_own_command() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        shop = with_shop(g)
        await g.take(CommandInvoked("c1", direct(), ADA, "buy", "red"))
        (button,) = g.adapter.sent[-1].buttons
        await g.take(ButtonPressed("p1", direct(), ADA, button.value, button.label))
        assert g.texts[-1] == "It is yours."
        await g.take(ButtonPressed("p2", direct(), ADA, "else:1", "Else"))
        assert [what for what, _, _ in shop.asked] == ["buy", "press"]
        assert len(g.model.requests) == 1


async def test_help_lists_additional_commands() -> None:
    async with gateway() as g:
        with_shop(g)
        await g.take(CommandInvoked("c1", direct(), ADA, "help", "more"))
        assert "/buy" in g.texts[0]
        assert "Buy a kite" in g.texts[0]


async def test_people_without_access_can_run_no_command() -> None:
    policies = Policies(access=AccessPolicy(blocked_users=frozenset({"ada"})))
    async with gateway(policies=policies, capabilities=BUTTONS) as g:
        shop = with_shop(g)
        await g.take(CommandInvoked("c1", direct(), ADA, "buy", "red"))
        await g.take(ButtonPressed("p1", direct(), ADA, "shop:red", "Take it"))
        assert (shop.asked, g.texts) == ([], [])


async def test_a_command_runs_only_for_the_role_that_it_declares() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        shop = with_shop(g)
        for_operators = replace(shop.specs[0], name="sell", allowed=in_chat(Role.OPERATOR))
        force(g.services, "commands", (*g.services.commands, for_operators))
        await g.take(CommandInvoked("c1", direct(), ADA, "sell", "red"))
        await g.take(CommandInvoked("c2", direct(), ADA, "steal", "red"))
        assert shop.asked == []
        assert g.texts == [NOT_ALLOWED[Role.OPERATOR].english]


def test_a_command_without_a_declaration_cannot_be_made() -> None:
    with pytest.raises(TypeError):
        CommandSpec("buy", "Buy a kite")  # type: ignore[call-arg]  # wrong on purpose
    with pytest.raises(TypeError, match="who may call it"):
        CommandSpec("buy", "Buy a kite", allowed=None)  # type: ignore[arg-type]  # wrong on purpose


@dataclass
class Files:
    """Holds files by their reference."""

    held: dict[str, bytes]

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        if attachment.ref not in self.held:
            raise DeliveryError("gone")
        if len(self.held[attachment.ref]) > limit:
            raise BadInput("too large")
        return self.held[attachment.ref]


async def test_a_command_with_files_receives_the_first_file_or_the_reason() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        shop = with_shop(g)
        specs = (replace(shop.specs[0], takes_files=True),)
        force(g.services, "commands", (*g.services.commands, *specs))
        connected = g.services.connected["test", "main"]
        held = {"small": b"red", "huge": b"x" * (MAX_BYTES + 1)}
        force(connected, "files", Files(held))
        for ref, size in (("small", 3), ("huge", None), ("claimed", MAX_BYTES + 1), ("gone", 1)):
            files = (Attachment("document", ref, f"{ref}.txt", size=size),) * 2
            sent = replace(received("/buy", message_id=ref).message, attachments=files)
            await g.take(CommandInvoked(ref, direct(), ADA, "buy", "red", sent))
        assert [caller.files for _, _, caller in shop.asked] == [
            (GivenFile("small.txt", b"red"),),
            (GivenFile("huge.txt", None, TOO_LARGE),),
            (GivenFile("claimed.txt", None, TOO_LARGE),),
            (GivenFile("gone.txt", None, NOT_FETCHED),),
        ]


async def test_a_command_without_files_receives_none() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        shop = with_shop(g)
        sent = replace(received("/buy").message, attachments=(Attachment("document", "small"),))
        await g.take(CommandInvoked("c1", direct(), ADA, "buy", "red", sent))
        assert shop.asked[0][2].files == ()
