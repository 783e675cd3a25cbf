"""The conversation of a message, and the part of it that the model sees."""

import json
from datetime import timedelta
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from gateway.immutable import replace
from gateway.message import Place
from gateway.people import DEFAULT_TENANT, Audience
from gateway.ports import Capabilities

MAX_NAMED: Final = 4_096
"""Conversations with a cached text: a message needs it a dozen times."""


class ConversationKey(NamedTuple):
    """The key of a conversation. `thread` is empty outside threads. A tuple, because every message
    looks it up many times."""

    tenant: str
    """The tenant of the person who writes."""
    platform: str
    """The platform's name, in lower case."""
    account: str
    """The account of this bot on the platform."""
    workspace: str
    """The workspace's id; empty if there is none."""
    channel: str
    """The platform's id of the conversation or channel."""
    thread: str = ""

    @property
    def room(self) -> "ConversationKey":
        """Return the key without its thread, for platforms on which each question opens a
        thread."""
        return self._replace(thread="") if self.thread else self

    @property
    def channel_name(self) -> str:
        """The name of its channel in stores."""
        return channel_name(self.tenant, self.platform, self.account, self.channel)

    @classmethod
    def of(cls, text: str) -> "ConversationKey":
        """Return the key of this text. Raises `ValueError` for anything else."""
        return _from_text(text)

    def place_in(self, place: Place) -> Place:
        """Return the place of the answer to a message from this place."""
        return place if place.thread_id == self.thread else replace(place, thread_id=self.thread)

    def __str__(self) -> str:
        return _as_text(self)


@lru_cache(MAX_NAMED)
def _as_text(key: ConversationKey) -> str:
    return json.dumps(key)


@lru_cache(MAX_NAMED)
def _from_text(text: str) -> ConversationKey:
    parts = json.loads(text)
    fits = isinstance(parts, list) and len(parts) == len(ConversationKey._fields)
    if not fits or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"{text!r} is not the key of a conversation")
    return ConversationKey(*parts)


def channel_name(tenant: str, platform: str, account: str, channel: str) -> str:
    """Return the name of a channel in stores, different for each tenant. No platform's name has a
    slash."""
    name = f"{platform}:{account}:{channel}"
    return name if tenant == DEFAULT_TENANT else f"{tenant}/{name}"


def channel_of_name(tenant: str, name: str) -> str:
    """Return the "platform:account:channel" of a name in the stores of this tenant."""
    return name if tenant == DEFAULT_TENANT else name.removeprefix(f"{tenant}/")


def key_of(tenant: str, place: Place) -> ConversationKey:
    """Return the conversation of a place."""
    return ConversationKey(
        tenant, place.platform, place.account, place.workspace_id, place.channel_id, place.thread_id
    )


def place_to_answer(place: Place, message_id: str, capabilities: Capabilities) -> Place:
    """Return the conversation of the answer to a message: on Slack, the thread that the message
    starts, so that a follow-up in the thread finds its beginning."""
    in_room = place.audience is not Audience.DIRECT
    if capabilities.answers_open_threads and in_room and not place.thread_id and message_id:
        return replace(place, thread_id=message_id)
    return place


class ContextLimits(Struct, frozen=True):
    """The limits of the conversation in the prompt (the source's defaults)."""

    max_messages: int = 10
    """Questions with their answers, the latest."""
    max_tokens: int = 2000
    """Estimated tokens of the history."""
    ttl: timedelta = timedelta(hours=24)
    """The age from which on a message is left out."""


class SummaryPolicy(Struct, frozen=True):
    """The part of a conversation that leaves the prompt is summarised by a model, extracted from it
    without one, or dropped. `model` writes summaries, empty for the model of the answer."""

    by: Literal["model", "extract", "off"] = "model"
    model: str = ""
