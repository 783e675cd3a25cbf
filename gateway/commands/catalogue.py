"""The commands people have, and what is registered with the platforms."""

from gateway.ports import CommandSpec

REGISTERED = (
    CommandSpec("ask", "Ask the AI a question", takes_arguments=True),
    CommandSpec("context", "Show current conversation context"),
    CommandSpec("clear", "Clear conversation history"),
    CommandSpec("stop", "Stop the answer that is being written"),
)
"""What platforms offer while a person types (the first three texts are the source's)."""

HELP = "help"
START = "start"
UNLISTED = (CommandSpec(HELP, "Show what I can do"), CommandSpec(START, "Begin"))
"""Understood, but not registered: Slack keeps /help for itself, Telegram sends /start unasked."""

COMMANDS = REGISTERED + UNLISTED


def help_text(assistant_name: str) -> str:
    """What /help and /start say."""
    lines = [f"- `/{command.name}`: {command.description}" for command in REGISTERED]
    return (
        f"I'm **{assistant_name}**. Write to me directly, mention me in a channel, or reply to one "
        "of my messages.\n\n" + "\n".join(lines)
    )
