"""Edits of a command that waits."""

from datetime import UTC, datetime

import pytest

from gateway.inbound.message_changes import revised
from gateway.message import CommandInvoked, MessageEdited
from gateway.ports.queues import InboxEntry
from tests.support.messages import message

AT = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)
NOW = message("/Ask when", message_id="m1")


def waiting(name: str) -> InboxEntry:
    """A command that waits, as it was first written."""
    before = message(f"/{name} why", message_id="m1")
    event = CommandInvoked("e1", before.place, before.author, name, "why", before)
    return InboxEntry("e1", "lane", event, AT)


def test_an_edit_changes_the_arguments_of_a_waiting_command() -> None:
    entry = revised(waiting("ask"), MessageEdited("e2", NOW, "Ask", "when"))
    assert entry is not None
    assert isinstance(entry.event, CommandInvoked)
    assert (entry.event.name, entry.event.arguments, entry.event.message) == ("ask", "when", NOW)


@pytest.mark.parametrize(
    "edit", [MessageEdited("e2", NOW), MessageEdited("e2", NOW, "ask", "when")]
)
def test_an_edit_to_another_kind_of_text_changes_no_command(edit: MessageEdited) -> None:
    entry = waiting("clear")
    assert revised(entry, edit) is entry
