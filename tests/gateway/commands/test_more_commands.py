"""Commands that somebody else brings along: run for whoever may, with who asks and where."""

from dataclasses import dataclass, field

from gateway.errors import BadInput
from gateway.message import Button, ButtonPressed, CommandInvoked, MessageAuthor, Reply
from gateway.people import PersonId
from gateway.policy.access import AccessPolicy
from gateway.ports import Capabilities, CommandSpec
from gateway.remembering import Asker
from gateway.services import Policies
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct

ADA = MessageAuthor("ada", "Ada")
BUTTONS = Capabilities(max_buttons=3)


@dataclass
class Shop:
    """Sells one thing."""

    asked: list[tuple[str, str, Asker]] = field(default_factory=list)
    specs: tuple[CommandSpec, ...] = (CommandSpec("buy", "Buy a kite", True, "colour", True),)

    async def run(self, name: str, arguments: str, asker: Asker) -> Reply:
        self.asked.append((name, arguments, asker))
        if arguments == "black":
            raise BadInput("There is no black one.")
        return Reply(f"A {arguments} kite?", (Button("Take it", f"shop:{arguments}"),))

    def owns(self, value: str) -> bool:
        return value.startswith("shop:")

    async def press(self, value: str, asker: Asker) -> Reply:
        self.asked.append(("press", value, asker))
        if value == "shop:gone":
            raise BadInput("It is sold.")
        return Reply("It is yours.")


def with_shop(g: Gateway) -> Shop:
    shop = Shop()
    object.__setattr__(g.services, "more_commands", shop)
    object.__setattr__(g.services, "commands", (*g.services.commands, *shop.specs))
    return shop


async def test_a_command_is_run_with_its_arguments_and_who_asks() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        shop = with_shop(g)
        await g.take(CommandInvoked("c1", direct(), ADA, "buy", "red"))
        ((name, arguments, asker),) = shop.asked
        assert (name, arguments, asker.name) == ("buy", "red", "Ada")
        assert asker.principal.person == PersonId("test", "main", "ada")
        assert asker.place == direct()
        assert g.texts == ["A red kite?"]
        assert g.model.requests == []


async def test_what_cannot_be_done_is_answered_in_its_own_words() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        with_shop(g)
        await g.take(CommandInvoked("c1", direct(), ADA, "buy", "black"))
        await g.take(ButtonPressed("p1", direct(), ADA, "shop:gone", "Take it"))
        assert g.texts == ["There is no black one.", "It is sold."]


async def test_a_button_goes_to_whose_it_is_and_no_other_one() -> None:
    async with gateway(capabilities=BUTTONS) as g:
        shop = with_shop(g)
        await g.take(CommandInvoked("c1", direct(), ADA, "buy", "red"))
        (button,) = g.adapter.sent[-1].buttons
        await g.take(ButtonPressed("p1", direct(), ADA, button.value, button.label))
        assert g.texts[-1] == "It is yours."
        await g.take(ButtonPressed("p2", direct(), ADA, "else:1", "Else"))
        assert [what for what, _, _ in shop.asked] == ["buy", "press"]
        assert len(g.model.requests) == 1


async def test_help_names_them() -> None:
    async with gateway() as g:
        with_shop(g)
        await g.take(CommandInvoked("c1", direct(), ADA, "help", ""))
        assert "/buy" in g.texts[0]
        assert "Buy a kite" in g.texts[0]


async def test_whoever_is_not_served_gets_nothing_done() -> None:
    policies = Policies(access=AccessPolicy(blocked_users=frozenset({"ada"})))
    async with gateway(policies=policies, capabilities=BUTTONS) as g:
        shop = with_shop(g)
        await g.take(CommandInvoked("c1", direct(), ADA, "buy", "red"))
        await g.take(ButtonPressed("p1", direct(), ADA, "shop:red", "Take it"))
        assert (shop.asked, g.texts) == ([], [])
