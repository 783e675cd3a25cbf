"""The manifest of the local web page, which is one more platform."""

from typing import Final

from pydantic import Field

from gateway.message import Place
from gateway.ports import (
    AccountSettings,
    AdapterManifest,
    CanClearButtons,
    CanFetchFiles,
    CanType,
    Capabilities,
    LiveStyle,
)

MAX_BUTTONS: Final = 10
"""As many as WhatsApp's lists, the largest choice any other platform offers."""


class WebSettings(AccountSettings, extra="forbid", frozen=True):
    """The keys under `platforms.web`. The page lives on the local listener, below `/chat/`.

    There are no credentials: who may open the page is decided by the listener it is served from.
    """

    enabled: bool = False
    history: int = Field(default=200, ge=10, le=2_000)
    """Messages kept per conversation, for a page that is loaded again."""
    max_people: int = Field(default=64, ge=1, le=1_000)
    """Conversations kept; beyond that the one that was quiet for longest is forgotten."""
    max_upload_bytes: int = Field(default=5_000_000, ge=1_000, le=25_000_000)
    """Size of one file a person may send."""
    max_files_bytes: int = Field(default=64_000_000, ge=1_000, le=512_000_000)
    """Bytes of all files kept in memory; beyond that the oldest are forgotten."""

    def configured(self) -> bool:
        """True when the page is switched on."""
        return self.enabled


_LIVE: Final = LiveStyle(pause=0.25, costs=False)


def live_style(place: Place) -> LiveStyle:
    """Often: the page is on this machine or near it, and no limit of a platform holds."""
    return _LIVE


MANIFEST: Final = AdapterManifest(
    platform="web",
    title="the web page",
    settings=WebSettings,
    capabilities=Capabilities(
        idempotent_sends=True,
        max_buttons=MAX_BUTTONS,
    ),
    abilities=(CanType, CanFetchFiles, CanClearButtons),
    renderer="adapters.web.render:render",
    load="adapters.web.connection:WebAdapter",
    live=live_style,
)
