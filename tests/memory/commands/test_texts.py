"""Texts about memories in chat."""

from gateway.immutable import replace
from memory.commands.texts import memory_line
from tests.memory.stores.records import record


def test_chat_messages_and_memories_are_distinguished() -> None:
    known = record("I like green tea")
    memory = replace(record("What do you know about tea?"), role="user")
    answered = replace(record("I will remember that."), role="assistant")
    lines = [memory_line(one).english for one in (known, memory, answered)]
    assert [line.partition("_(")[2].partition(",")[0] for line in lines] == [
        known.kind,
        "you said",
        "I said",
    ]
