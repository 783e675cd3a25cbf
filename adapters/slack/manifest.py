"""Slack's settings and capabilities, without its library."""

from datetime import timedelta
from typing import ClassVar, Final, Literal

from pydantic import Field, SecretStr

from adapters.shared.settings import CredentialSettings
from gateway.message import Place, TextCut
from gateway.people import Audience
from gateway.ports import (
    AdapterManifest,
    CanCheckMembership,
    CanClearButtons,
    CanFetchFiles,
    CanReact,
    CanReadThread,
    CanType,
    Capabilities,
    LiveStyle,
    SendPace,
)

MAX_BUTTONS: Final = 25
"""Elements of one actions block (docs.slack.dev, reference/block-kit/blocks/actions-block)."""


class SlackSettings(CredentialSettings, extra="forbid", frozen=True):
    """The keys under `platforms.slack`.

    `socket` needs the bot token and the app token and no public address; `http` needs the bot
    token and the signing secret, and Slack must reach the public listener.
    """

    credentials: ClassVar = ("bot_token", "app_token", "signing_secret")

    bot_token: SecretStr = SecretStr("")
    """Starts with `xoxb-`; from "OAuth & Permissions"."""
    app_token: SecretStr = SecretStr("")
    """Starts with `xapp-`, scope `connections:write`; from "Basic Information"."""
    signing_secret: SecretStr = SecretStr("")
    """32 hexadecimal digits; from "Basic Information"."""
    base_url: str = Field(default="https://slack.com/api/", pattern=r"^https?://[^\s/]+(/\S*)?$")
    """Address of the Web API, for GovSlack or a simulator."""
    mode: Literal["socket", "http"] = "socket"
    """`socket` opens a connection to Slack; with `http`, Slack calls the public listener."""
    agent_view: bool = False
    """The app has Slack's agent view: each direct message begins a thread, which is a new
    conversation, and the answer is streamed into it."""

    def required(self) -> tuple[str, ...]:
        """The bot token, and the credential of the chosen mode."""
        return ("bot_token", "app_token" if self.mode == "socket" else "signing_secret")


STREAM: Final = LiveStyle(pause=0.8, appends=True)
"""chat.appendStream is of tier 4, "100+ per minute" (docs.slack.dev, rate limits)."""
UPDATE: Final = LiveStyle(pause=1.5)
"""chat.update is of tier 3, "50+ per minute"; a channel accepts about one message a second."""


def streams(place: Place) -> bool:
    """True where an answer is a stream: in the threads of direct messages."""
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
    abilities=(
        *(CanType, CanFetchFiles, CanReact, CanReadThread),
        *(CanCheckMembership, CanClearButtons),
    ),
    renderer="adapters.slack.render:render",
    load="adapters.slack.connection:SlackAdapter",
    dedupe_for=timedelta(hours=1),
    text_cut=TextCut((4_000, 12_000)),
    pace=SendPace(chat_per_second=1),
    live=live_style,
    loggers=("slack_bolt", "slack_sdk"),
)
"""Slack repeats an event three times within about six minutes, and accepts about one message a
second in a channel (docs.slack.dev, apis/web-api/rate-limits)."""
