"""The base of the adapter classes: identity, and the order of connecting and disconnecting."""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from adapters.shared.settings import CredentialSettings
from gateway.errors import StartError
from gateway.ports import AdapterContext, AdapterManifest, Capabilities, EventSink

S = TypeVar("S", bound=CredentialSettings)


class AccountAdapter(ABC, Generic[S]):
    """One account of the platform that `manifest` describes."""

    manifest: ClassVar[AdapterManifest]

    def __init__(self, settings: S, context: AdapterContext) -> None:
        self._settings = settings
        self._context = context

    @property
    def platform(self) -> str:
        """The platform's name, in lower case."""
        return self.manifest.platform

    @property
    def account(self) -> str:
        """The name of this account in the configuration."""
        return self._context.account

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the manifest."""
        return self.manifest.capabilities

    @property
    def webhook_path(self) -> str:
        """The path on the public listener: the account "main" has the short one."""
        path = f"/webhook/{self.platform}"
        return path if self.account == "main" else f"{path}/{self.account}"

    async def connect(self, sink: EventSink) -> None:
        """Connect, and hand events to `sink` from then on. Raises `StartError`."""
        await self.disconnect()
        if absent := self._settings.absent():
            names = ", ".join(f"platforms.{self.platform}.{name}" for name in absent)
            raise StartError(
                f"Missing settings: {names}.",
                f"Set them (docs/platforms/{self.platform}.md), or run `parley init`.",
                permanent=True,
            )
        try:
            await self._open(sink)
        except BaseException:
            await self.disconnect()
            raise

    @abstractmethod
    async def _open(self, sink: EventSink) -> None:
        """Connect; `connect` cleans up after a failure. Raises `StartError`."""

    @abstractmethod
    async def disconnect(self) -> None:
        """Stop receiving and close everything. Safe to call twice, and before `connect`."""
