"""The gateway's commands, and those that are registered with the platforms."""

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
"""Commands that platforms suggest while a person types (the first three texts are the source's)."""
UNLISTED = (CommandSpec(START, "Begin"),)
"""Handled, but not registered: Telegram sends /start unasked."""
COMMANDS = REGISTERED + UNLISTED


def threads_aside(name: str, place: Place, can: Capabilities, assistant_name: str) -> str:
    """Return a note for a command in a channel whose answers open threads."""
    if not can.answers_open_threads or place.audience is Audience.DIRECT or place.thread_id:
        return ""
    return (
        " Each of my answers here has its own thread. To use this command there, write "
        "`@{assistant_name} /{name}` in the thread."
    )


def _usage(command: CommandSpec) -> str:
    """Return a command with its arguments."""
    return f"`/{command.name}`" + (f" ({command.argument_help})" if command.argument_help else "")


def help_text(assistant_name: str, more: tuple[CommandSpec, ...] = ()) -> str:
    """Return the text of /help and /start; `more` are commands beside the gateway's own."""
    lines = [f"- {_usage(command)}: {command.description}" for command in (*REGISTERED, *more)]
    return (
        f"I'm **{assistant_name}**. Write to me directly, mention me in a channel, or reply to one "
        "of my messages.\n\n" + "\n".join(lines) + "\n\n"
        "If your app does not offer a command, write it to me as a message. `help` works without "
        "the `/`."
    )
