"""A message that is a command, and one that only begins like one."""

import pytest

from gateway.commands.catalogue import text_command
from gateway.immutable import replace
from gateway.message import Attachment, MessageReceived
from gateway.ports import CommandSpec
from gateway.ports.rights import IN_CHAT
from tests.support.for_each import for_each
from tests.support.messages import message, received

KNOWN = tuple(
    CommandSpec(name, name, allowed=IN_CHAT) for name in ("ask", "context", "clear", "stop", "help")
)


@pytest.mark.parametrize(
    ("said", "name", "arguments"),
    [
        ("/stop", "stop", ""),
        ("stop", "stop", ""),
        (" Stop! ", "stop", ""),
        ("Help", "help", ""),
        ("help?", "help", ""),
        ("/clear", "clear", ""),
        ("/ask what is\na whale?", "ask", "what is\na whale?"),
    ],
)
def test_a_message_to_the_assistant_can_be_a_command(said: str, name: str, arguments: str) -> None:
    event = received(f"@Parley {said}")
    command = text_command(event, said, KNOWN)
    assert command is not None
    assert (command.name, command.arguments) == (name, arguments)
    assert (command.event_id, command.message) == (event.event_id, event.message)
    assert (command.place, command.author) == (event.message.place, event.message.author)


@for_each(
    "said",
    [
        "",
        "clear",
        "context",
        "stop it",
        "help me",
        "don't stop",
        "/unknown",
        "/",
        "/stopping",
        "//stop",
        "/Stop",
    ],
)
def test_other_messages_are_questions(said: str) -> None:
    assert text_command(received(said), said, KNOWN) is None


def test_a_message_with_a_file_is_a_question_about_the_file() -> None:
    file = Attachment("document", "ref")
    with_file = MessageReceived("e", replace(message("/clear"), attachments=(file,)))
    assert text_command(with_file, "/clear", KNOWN) is None


def test_a_message_with_a_file_is_a_command_that_takes_files_or_none() -> None:
    event = received("/privacy import")
    with_file = replace(event.message, attachments=(Attachment("document", "f1", "data.jsonl"),))
    event = replace(event, message=with_file)
    known = (*KNOWN, CommandSpec("privacy", "Privacy", takes_files=True, allowed=IN_CHAT))
    command = text_command(event, "/privacy import", known)
    assert command is not None
    assert (command.arguments, command.message) == ("import", with_file)
    without_files = (*KNOWN, CommandSpec("privacy", "Privacy", allowed=IN_CHAT))
    assert text_command(event, "/privacy import", without_files) is None
    assert text_command(event, "/clear", known) is None
    assert text_command(event, "stop", known) is None
