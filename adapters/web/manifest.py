"""The manifest of the local web page, which is one more platform."""

from typing import Final

from pydantic import Field

from gateway.message import Place
from gateway.ports import (
    AccountSettings,
    AdapterManifest,
    CanClearButtons,
    CanFetchFiles,
    CanShowEnd,
    CanType,
    Capabilities,
    LiveStyle,
)

MAX_BUTTONS: Final = 10
"""As many as WhatsApp's lists, the largest choice any other platform offers."""


class WebSettings(AccountSettings, extra="forbid", frozen=True):
    """The keys under `platforms.web`. The local listener serves the page below `/chat/`.

    There are no credentials: the access rules of the local listener apply.
    """

    enabled: bool = False
    """Serve the page."""
    history: int = Field(default=200, ge=10, le=2_000)
    """Messages stored per conversation, which a reloaded page shows."""
    max_people: int = Field(default=64, ge=1, le=1_000)
    """Maximum of conversations in the program's memory; beyond it, the least recently used one is
    read again from the database when somebody opens it."""
    max_upload_bytes: int = Field(default=5_000_000, ge=1_000, le=25_000_000)
    """Maximum size of a file from a person."""
    max_files_bytes: int = Field(default=64_000_000, ge=1_000, le=512_000_000)
    """Maximum size of all files in memory; beyond it the oldest are deleted."""

    def configured(self) -> bool:
        """True when the page is switched on."""
        return self.enabled


_LIVE: Final = LiveStyle(pause=0.25, costs=False)


def live_style(place: Place) -> LiveStyle:
    """A frequent style: the page is on this machine or near it, and no platform limits the rate."""
    return _LIVE


MANIFEST: Final = AdapterManifest(
    platform="web",
    title="the web page",
    settings=WebSettings,
    capabilities=Capabilities(
        idempotent_sends=True,
        max_buttons=MAX_BUTTONS,
    ),
    abilities=(CanType, CanShowEnd, CanFetchFiles, CanClearButtons),
    renderer="adapters.web.render:render",
    load="adapters.web.connection:WebAdapter",
    live=live_style,
)
