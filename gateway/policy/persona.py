"""The persona of the assistant, and its persona and model in each channel."""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct, field

from gateway.policy.access import named_channel

Disclosure = Literal["off", "first_contact"]
FIRST_CONTACT: Final = "first_contact"
"""People are told once in each place that they write with a program."""


class ChannelPersona(Struct, frozen=True):
    """The persona and the model of a channel; an empty value stands for the general one."""

    persona: str = ""
    model: str = ""


class Assistant(Struct, frozen=True):
    """The assistant that answers. `general` holds outside `channels`; `channels` is by
    "platform:id" or bare id. `default_model` is the name under which a call is priced where a
    channel names none. `window` is the context window of the smallest model, in tokens; `web`: a
    model's service may search the web."""

    name: str = "Parley"
    general: ChannelPersona = ChannelPersona()
    channels: Mapping[str, ChannelPersona] = field(default_factory=dict)
    max_tokens: int = 4096
    default_model: str = "offline"
    window: int = 200_000
    web: bool = False
    disclosure: Disclosure = "off"

    @property
    def models(self) -> frozenset[str]:
        """Every model that can be asked, by the names under which calls are priced."""
        personas = (self.general, *self.channels.values())
        return frozenset((self.default_model, *(one.model for one in personas if one.model)))

    def persona_in(self, platform: str, *channel_ids: str) -> ChannelPersona:
        """Return the persona and the model of a channel."""
        if not self.channels:
            return self.general
        own = named_channel(self.channels, platform, channel_ids)
        if own is None:
            return self.general
        return ChannelPersona(own.persona or self.general.persona, own.model or self.general.model)
