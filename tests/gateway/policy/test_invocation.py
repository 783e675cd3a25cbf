"""The messages that the assistant answers, and the text that reaches the model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.message import ChatMessage, Quote
from gateway.policy.invocation import (
    ChannelInvocation,
    InvocationPolicy,
    Trigger,
    decide_invocation,
)
from tests.support.immutable import force
from tests.support.messages import direct, message, place


def reason(
    msg: ChatMessage, policy: InvocationPolicy | None = None, *, bot_takes_part: bool = False
) -> tuple[bool, str]:
    outcome = decide_invocation(msg, policy or InvocationPolicy(), bot_takes_part=bot_takes_part)
    decision = outcome.decision
    return decision.allowed, decision.reason


def test_a_direct_message_is_answered() -> None:
    assert reason(message(at=direct())) == (True, "direct_message")


def test_a_mention_in_a_room_is_answered() -> None:
    assert reason(message(at=place(), mentions_bot=True)) == (True, "mention")


def test_a_room_message_without_a_mention_is_not_answered() -> None:
    assert reason(message(at=place())) == (False, "not_addressed")


def test_text_that_looks_like_a_mention_is_not_one() -> None:
    assert reason(message("<@U123> @parley @everyone", at=place())) == (False, "not_addressed")


def test_bots_are_ignored_unless_configured() -> None:
    from_bot = message(at=place(), mentions_bot=True, is_bot=True)
    assert reason(from_bot) == (False, "author_is_bot")
    assert reason(from_bot, InvocationPolicy(ignore_bots=False)) == (True, "mention")


def test_a_prefix_is_removed_from_the_text_for_the_model() -> None:
    outcome = decide_invocation(
        message("!ask  why is the sky blue?", at=place()), InvocationPolicy(prefix="!ask")
    )
    assert outcome.decision.reason == "prefix"
    assert outcome.content == "why is the sky blue?"


def test_a_reply_to_the_assistant_needs_no_mention() -> None:
    reply = message(at=place())
    force(reply, "quote", Quote("m0", "earlier", by_this_bot=True))
    assert reason(reply) == (True, "reply_to_bot")
    force(reply, "quote", Quote("m0", "earlier", by_this_bot=False))
    assert reason(reply) == (False, "not_addressed")


@pytest.mark.parametrize(
    ("takes_part", "expected"), [(True, (True, "thread")), (False, (False, "not_addressed"))]
)
def test_a_thread_is_followed_only_if_the_assistant_wrote_in_it(
    takes_part: bool, expected: tuple[bool, str]
) -> None:
    policy = InvocationPolicy(triggers=(Trigger.THREAD,))
    assert reason(message(at=place(thread="T1")), policy, bot_takes_part=takes_part) == expected


def test_outside_a_thread_participation_has_no_effect() -> None:
    policy = InvocationPolicy(triggers=(Trigger.THREAD,))
    assert reason(message(at=place()), policy, bot_takes_part=True) == (False, "not_addressed")


def test_a_message_to_others_is_not_answered_if_configured() -> None:
    policy = InvocationPolicy(triggers=(Trigger.ALL,), ignore_if_mentions_others=True)
    assert reason(message(at=place(), mentions_others=True), policy) == (False, "meant_for_others")
    both = message(at=place(), mentions_others=True, mentions_bot=True)
    assert reason(both, InvocationPolicy(ignore_if_mentions_others=True)) == (True, "mention")


@pytest.mark.parametrize("name", ["test:C1", "C1"])
def test_a_channel_can_have_its_own_triggers(name: str) -> None:
    policy = InvocationPolicy(channels={name: ChannelInvocation(triggers=(Trigger.ALL,))})
    assert reason(message(at=place("C1")), policy) == (True, "all")
    assert reason(message(at=place("C2")), policy) == (False, "not_addressed")


def test_an_empty_list_of_triggers_silences_a_channel() -> None:
    policy = InvocationPolicy(channels={"C1": ChannelInvocation(triggers=())})
    assert reason(message(at=place("C1"), mentions_bot=True), policy) == (False, "not_addressed")


@given(st.text(max_size=200))
def test_without_a_mention_no_text_invokes_the_assistant_in_a_room(text: str) -> None:
    assert not decide_invocation(message(text, at=place()), InvocationPolicy()).decision.allowed


@pytest.mark.parametrize(
    ("prefix", "content", "asked"),
    [
        ("!ask", "!ask", ""),
        ("!ask", "!ask: why?", ": why?"),
        ("!ask", "!askew", None),
        ("!ask", "!ask2", None),
        ("hey bot", "hey bother me not", None),
        ("!", "!why", "why"),
        ("問", "問題", "題"),
    ],
)
def test_a_prefix_must_be_a_separate_word(prefix: str, content: str, asked: str | None) -> None:
    policy = InvocationPolicy(prefix=prefix)
    outcome = decide_invocation(message(content, at=place()), policy)
    assert (outcome.content if outcome.decision.allowed else None) == asked
