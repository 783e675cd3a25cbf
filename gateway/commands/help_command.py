"""`/help`: what most people need, the rest on request, and for each person the commands of their
role."""

from collections.abc import Iterable, Sequence
from typing import Final

from gateway.commands.catalogue import HELP, UNLISTED
from gateway.message import Choice, Reply
from gateway.people import Audience, Role
from gateway.ports import CommandSpec
from gateway.ports.adapter import HelpGroup
from gateway.ports.rights import Credential, Proof, missing
from gateway.text import Sentence, Text, Unconverted, joined, label, text, verbatim
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

MORE: Final = "more"
VALUE: Final = f"{HELP}:{MORE}"
"""The value of the button with the further commands."""
BREAK: Final = "\n\n"

HELLO: Final = text(
    "I'm **{assistant}**. In a direct message, just write to me. In a channel or group, "
    "mention me or reply to one of my messages."
)
MEMORY: Final = text("**Your memory and your privacy**")
ACCESS: Final = text("**For owners and operators**")
OTHERS: Final = text("**More commands**")
SHOW_OTHERS: Final = text("`/help more` shows more commands.")
HOW: Final = text(
    "If your app does not offer a command, write it to me as a message. `help` works without the "
    "`/`."
)
# Translators: a command, and what it does.
LINE: Final = text("{command}: {description}")
# Translators: a command, what can follow it, and what it does.
LINE_WITH: Final = text("{command}: {description} ({argument})")
BUTTON: Final = label("More commands")


def owns(value: str) -> bool:
    """Return True for the value of the button."""
    return value == VALUE


def help_reply(turn: TurnContext, arguments: str, services: Services) -> Reply:
    """Return the help for the person of a turn; the argument "more" asks for the second page."""
    commands = offered_to(turn.asker.who.role, services)
    if arguments.strip().lower() == MORE:
        in_room = turn.place.audience is not Audience.DIRECT
        return Reply(second_page(commands), leaves_buttons=in_room)  # others may press it as well
    has_others = bool(_in(commands, "others"))
    shows = turn.connected.manifest.capabilities.max_buttons > 0 and has_others
    buttons = (Choice(BUTTON, VALUE),) if shows else ()
    return Reply(first_page(services.assistant.name, commands, has_button=shows), buttons)


def offered_to(role: Role, services: Services) -> Sequence[CommandSpec]:
    """Return the commands that a person of this role may use, in the order of the help."""
    proof = Proof(Credential.CHAT, role)
    unlisted = {HELP, *(one.name for one in UNLISTED)}
    listed = (one for one in services.commands if one.name not in unlisted)
    return [one for one in listed if not missing(one.allowed, proof)]


def first_page(assistant_name: str, commands: Sequence[CommandSpec], *, has_button: bool) -> Text:
    """Return what most people need, and what approvers need; `has_button`: the further commands
    are a press away."""
    parts: list[Text] = [
        HELLO.of(assistant=verbatim(assistant_name)),
        _lines(_in(commands, "first")),
    ]
    for group, head in (("memory", MEMORY), ("access", ACCESS)):
        if members := _in(commands, group):
            parts += (head, _lines(members))
    if _in(commands, "others") and not has_button:
        parts.append(SHOW_OTHERS)
    return joined((*parts, HOW), BREAK)


def second_page(commands: Sequence[CommandSpec]) -> Text:
    """Return the further commands, and what can follow each command."""
    others = _in(commands, "others")
    with_arguments = [one for one in commands if one.help_group != "others" and one.argument_help]
    return joined((OTHERS, _lines((*others, *with_arguments), arguments=True)), BREAK)


def _in(commands: Iterable[CommandSpec], group: HelpGroup | str) -> list[CommandSpec]:
    return [one for one in commands if one.help_group == group]


def _lines(commands: Iterable[CommandSpec], *, arguments: bool = False) -> Text:
    lines = (_line(one, arguments=arguments) for one in commands)
    return joined((joined((verbatim("- "), line)) for line in lines), "\n")


def _line(command: CommandSpec, *, arguments: bool) -> Sentence:
    name, description = verbatim(f"`/{command.name}`"), _worded(command.description)
    if not (arguments and command.argument_help):
        return LINE.of(command=name, description=description)
    argument = _worded(command.argument_help)
    return LINE_WITH.of(command=name, argument=argument, description=description)


def _worded(said: Unconverted) -> Text:
    """Return the words of a command; those of an extension are in no catalogue."""
    return verbatim(said) if isinstance(said, str) else said
