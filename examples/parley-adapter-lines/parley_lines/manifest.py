"""The facts about this platform that Parley reads before it uses it: no network, no heavy
imports."""

from typing import Final

from pydantic import Field, SecretStr

from gateway.ports import AccountSettings, AdapterManifest


class LinesSettings(AccountSettings, frozen=True):
    """The keys under `platforms.lines`."""

    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(default=7000, ge=0, le=65_535)
    """TCP port; 0 takes a free one."""
    password: SecretStr | None = None
    """The text that people write after their name in their first line."""

    def configured(self) -> bool:
        """True once there is a password; without one nobody could be let in."""
        return self.password is not None and bool(self.password.get_secret_value())


MANIFEST: Final = AdapterManifest(
    platform="lines",
    title="Lines over TCP",
    settings=LinesSettings,
    load="parley_lines.adapter:LinesAdapter",
    renderer="parley_lines.render:render",
)
