"""Invocation: decides if a message is addressed to the assistant, from the platform's facts and
never from names."""

from enum import StrEnum
from typing import Annotated

from msgspec import Struct
from pydantic import Field, StringConstraints

from gateway.message import ChatMessage
from gateway.policy.access import named_channel
from gateway.policy.decision import Decision
from gateway.settings import Id, Section

STAGE = "invocation"
AUTHOR_IS_BOT = "author_is_bot"


class Trigger(StrEnum):
    """The facts that make the assistant answer."""

    MENTION = "mention"
    DIRECT_MESSAGE = "direct_message"
    REPLY = "reply"
    PREFIX = "prefix"
    THREAD = "thread"
    ALL = "all"


Prefix = Annotated[str, StringConstraints(min_length=1, max_length=40)]


class ChannelInvocation(Section):
    """The triggers of an answer in one channel."""

    triggers: tuple[Trigger, ...] | None = None
    """Replaces the general triggers in this channel; an empty list silences it."""
    prefix: Prefix | None = None
    """Replaces the general prefix in this channel."""


class InvocationPolicy(Section):
    """The triggers of an answer. Other messages are discarded."""

    triggers: tuple[Trigger, ...] = (Trigger.MENTION, Trigger.DIRECT_MESSAGE, Trigger.REPLY)
    """Any of mention, direct_message, reply (to the assistant), prefix, thread (in which the
    assistant has written), all."""
    prefix: Prefix | None = None
    """Start of a message, such as `!ask`, that addresses the assistant. It needs no entry in
    `triggers`."""
    ignore_bots: bool = True
    """Do not answer other bots."""
    ignore_if_mentions_others: bool = False
    """Do not answer a message that mentions other people and not the assistant."""
    channels: dict[Id, ChannelInvocation] = Field(default={})
    """By channel id ("platform:id" or bare): other triggers there."""

    def rule_for(self, platform: str, *channel_ids: str) -> tuple[tuple[Trigger, ...], str | None]:
        """Return the triggers and the prefix for a channel, named "platform:id" or by its bare id,
        by the first of its ids that is named."""
        if not self.channels:
            return self.triggers, self.prefix
        channel = named_channel(self.channels, platform, channel_ids)
        if channel is None:
            return self.triggers, self.prefix
        return (
            self.triggers if channel.triggers is None else channel.triggers,
            self.prefix if channel.prefix is None else channel.prefix,
        )


class Invocation(Struct, frozen=True):
    """The decision, and the text without the prefix."""

    decision: Decision
    content: str


def decide_invocation(
    message: ChatMessage, policy: InvocationPolicy, *, bot_takes_part: bool = False
) -> Invocation:
    """Decide if the assistant answers `message`, and which text reaches the model.

    `bot_takes_part` is true if the assistant has written in the message's thread. `@everyone` is
    not a mention: `ChatMessage.mentions_bot` comes from the platform's entities only.
    """

    def no(reason: str) -> Invocation:
        return Invocation(Decision(STAGE, False, reason), message.content)

    def yes(reason: str, content: str = message.content) -> Invocation:
        return Invocation(Decision(STAGE, True, reason), content)

    if policy.ignore_bots and message.author.is_bot:
        return no(AUTHOR_IS_BOT)
    triggers, prefix = policy.rule_for(message.platform, *message.place.channel_ids)
    if prefix and _begins_with(message.content, prefix):
        return yes("prefix", message.content[len(prefix) :].lstrip())
    if message.is_direct_message:
        enabled = Trigger.DIRECT_MESSAGE in triggers or Trigger.ALL in triggers
        return yes("direct_message") if enabled else no("direct_messages_off")
    if message.mentions_bot and Trigger.MENTION in triggers:
        return yes("mention")
    if policy.ignore_if_mentions_others and message.mentions_others:
        return no("meant_for_others")
    if Trigger.REPLY in triggers and message.quote is not None and message.quote.by_this_bot:
        return yes("reply_to_bot")
    if Trigger.THREAD in triggers and message.thread_id and bot_takes_part:
        return yes("thread")
    if Trigger.ALL in triggers:
        return yes("all")
    return no("not_addressed")


def _begins_with(content: str, prefix: str) -> bool:
    """Return True if the content begins with the prefix as a separate word: `!ask` does not match
    `!askew`. Scripts without upper and lower case are assumed to be written without spaces."""
    seam = content[len(prefix) - 1 : len(prefix) + 1]
    runs_on = len(seam) > 1 and all(c.isdigit() or c.lower() != c.upper() for c in seam)
    return content.startswith(prefix) and not runs_on
