"""Slack's manifest; it does not import the library."""

from datetime import timedelta
from typing import Final, Literal

from pydantic import Field, SecretStr

from gateway.message import Place
from gateway.people import Audience
from gateway.ports import (
    AccountSettings,
    AdapterManifest,
    CanCheckMembership,
    CanClearButtons,
    CanFetchFiles,
    CanReact,
    CanType,
    Capabilities,
    LiveStyle,
    SendPace,
)

MAX_BUTTONS: Final = 25
"""Elements of one actions block (docs.slack.dev, reference/block-kit/blocks/actions-block)."""


class SlackSettings(AccountSettings, extra="forbid", frozen=True):
    """The keys under `platforms.slack`.

    `socket` needs the bot token and the app token and no public address; `http` needs the bot
    token and the signing secret, and Slack must reach the public listener.
    """

    bot_token: SecretStr = SecretStr("")
    """Starts with `xoxb-`; from "OAuth & Permissions"."""
    app_token: SecretStr = SecretStr("")
    """Starts with `xapp-`, scope `connections:write`; from "Basic Information"."""
    signing_secret: SecretStr = SecretStr("")
    """32 hexadecimal digits; from "Basic Information"."""
    base_url: str = Field(default="https://slack.com/api/", pattern=r"^https?://[^\s/]+(/\S*)?$")
    """Where the Web API is, if not at Slack (GovSlack, a simulator)."""
    mode: Literal["socket", "http"] = "socket"
    agent_view: bool = False
    """The app has Slack's agent view: each direct message begins a thread, which is a conversation
    of its own, and the answer is streamed into it."""

    def configured(self) -> bool:
        """True when the credentials of the chosen mode are there."""
        return not self._absent()

    def missing(self) -> tuple[str, ...]:
        """The credentials that are still needed once any one is set."""
        secrets = (self.bot_token, self.app_token, self.signing_secret)
        return self._absent() if any(s.get_secret_value() for s in secrets) else ()

    def _absent(self) -> tuple[str, ...]:
        needed = {"bot_token": self.bot_token}
        if self.mode == "socket":
            needed["app_token"] = self.app_token
        else:
            needed["signing_secret"] = self.signing_secret
        return tuple(name for name, value in needed.items() if not value.get_secret_value())


STREAM: Final = LiveStyle(pause=0.8, appends=True)
"""chat.appendStream is of tier 4, "100+ per minute" (docs.slack.dev, rate limits)."""
UPDATE: Final = LiveStyle(pause=1.5)
"""chat.update is of tier 3, "50+ per minute"; a channel takes about one message a second."""


def streams(place: Place) -> bool:
    """True when an answer there is a stream."""
    return place.audience is Audience.DIRECT and bool(place.thread_id)


def live_style(place: Place) -> LiveStyle:
    """A stream in the threads of direct messages, elsewhere a message that is updated."""
    return STREAM if streams(place) else UPDATE


MANIFEST: Final = AdapterManifest(
    platform="slack",
    title="Slack",
    settings=SlackSettings,
    capabilities=Capabilities(
        answers_open_threads=True,
        joins_threads=True,
        ephemeral=True,
        max_buttons=MAX_BUTTONS,
    ),
    abilities=(CanType, CanFetchFiles, CanReact, CanCheckMembership, CanClearButtons),
    renderer="adapters.slack.render:render",
    load="adapters.slack.connection:SlackAdapter",
    dedupe_for=timedelta(hours=1),
    pace=SendPace(chat_per_second=1),
    live=live_style,
    loggers=("slack_bolt", "slack_sdk"),
)
"""Slack as an adapter. It repeats an event three times within about six minutes, and takes
about one message a second in a channel (docs.slack.dev, apis/web-api/rate-limits)."""
