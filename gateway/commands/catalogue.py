"""The commands people have, and what is registered with the platforms."""

from gateway.message import Place
from gateway.people import Audience
from gateway.ports import Capabilities, CommandSpec

HELP = "help"
START = "start"

REGISTERED = (
    CommandSpec("ask", "Ask the AI a question", takes_arguments=True),
    CommandSpec("context", "Show current conversation context"),
    CommandSpec("clear", "Clear conversation history"),
    CommandSpec(
        "task",
        "Show, set or end this conversation's task",
        takes_arguments=True,
        argument_name="task",
        argument_optional=True,
        argument_help="a text, or: end",
    ),
    CommandSpec("stop", "Stop the answer that is being written"),
    CommandSpec(HELP, "Show what I can do"),
)
"""What platforms offer while a person types (the first three texts are the source's)."""

UNLISTED = (CommandSpec(START, "Begin"),)
"""Understood, but not registered: Telegram sends /start unasked."""

COMMANDS = REGISTERED + UNLISTED


def threads_aside(name: str, place: Place, can: Capabilities, assistant_name: str) -> str:
    """What to add where a command reached a channel, and the answers run in threads under it."""
    if not can.answers_open_threads or place.audience is Audience.DIRECT or place.thread_id:
        return ""
    return (
        " Each of my answers here has a thread of its own, which this command does not reach: "
        f"write `@{assistant_name} /{name}` in the thread."
    )


def _usage(command: CommandSpec) -> str:
    """A command, and what may be written after it."""
    return f"`/{command.name}`" + (f" ({command.argument_help})" if command.argument_help else "")


def help_text(assistant_name: str, more: tuple[CommandSpec, ...] = ()) -> str:
    """What /help and /start say; `more` are commands besides the gateway's own."""
    lines = [f"- {_usage(command)}: {command.description}" for command in (*REGISTERED, *more)]
    return (
        f"I'm **{assistant_name}**. Write to me directly, mention me in a channel, or reply to one "
        "of my messages.\n\n" + "\n".join(lines) + "\n\n"
        "If your app does not offer a command, write it to me as a message. `help` works without "
        "the `/`."
    )
