"""Which conversation a message belongs to, and how much of it the model gets to see."""

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from gateway.message import Place
from gateway.people import DEFAULT_TENANT, Audience
from gateway.ports import Capabilities

MAX_NAMED: Final = 4_096
"""Conversations whose text is remembered: a message asks for it a dozen times."""


class ConversationKey(NamedTuple):
    """A conversation's identity. `thread` is empty outside threads, which is a value of its own.
    A tuple, because every message looks it up again and again."""

    tenant: str
    platform: str
    account: str
    workspace: str
    channel: str
    thread: str = ""

    @property
    def room(self) -> "ConversationKey":
        """The same without its thread: where one thread after the other can be opened."""
        return self._replace(thread="") if self.thread else self

    @property
    def channel_name(self) -> str:
        """Its channel as stores name it."""
        return channel_name(self.tenant, self.platform, self.account, self.channel)

    @classmethod
    def of(cls, text: str) -> "ConversationKey":
        """The key whose text this is. Raises `ValueError` for anything else."""
        return _from_text(text)

    def place_in(self, place: Place) -> Place:
        """Where the answer to a message from this place goes."""
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
    """A channel as stores name it, another one for each tenant. No platform's name has a slash."""
    name = f"{platform}:{account}:{channel}"
    return name if tenant == DEFAULT_TENANT else f"{tenant}/{name}"


def channel_of_name(tenant: str, name: str) -> str:
    """The "platform:account:channel" that a store of this tenant names so."""
    return name if tenant == DEFAULT_TENANT else name.removeprefix(f"{tenant}/")


def key_of(tenant: str, place: Place) -> ConversationKey:
    """The conversation that is held in a place."""
    return ConversationKey(
        tenant, place.platform, place.account, place.workspace_id, place.channel_id, place.thread_id
    )


def place_to_answer(place: Place, message_id: str, capabilities: Capabilities) -> Place:
    """Where the answer to a message goes: on Slack, into the thread that the message starts.

    The conversation is held there too, so that a follow-up in the thread finds its beginning.
    """
    in_room = place.audience is not Audience.DIRECT
    if capabilities.answers_open_threads and in_room and not place.thread_id and message_id:
        return replace(place, thread_id=message_id)
    return place


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """How much of a conversation is shown to the model (the source's defaults)."""

    max_messages: int = 10
    max_tokens: int = 2000
    ttl: timedelta = timedelta(hours=24)
