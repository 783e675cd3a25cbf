"""The settings of an account that needs credentials."""

from typing import ClassVar

from gateway.ports import AccountSettings


class CredentialSettings(AccountSettings, extra="forbid", frozen=True):
    """Settings whose account is complete when every required field has a value."""

    credentials: ClassVar[tuple[str, ...]]
    """Fields of which any one shows that the account is being set up."""

    def required(self) -> tuple[str, ...]:
        """The fields that must have a value."""
        return self.credentials

    def absent(self) -> tuple[str, ...]:
        """The required fields without a value."""
        return tuple(name for name in self.required() if not getattr(self, name))

    def configured(self) -> bool:
        """True when every required field has a value."""
        return not self.absent()

    def missing(self) -> tuple[str, ...]:
        """The fields that are still needed once any credential is set."""
        return self.absent() if any(getattr(self, name) for name in self.credentials) else ()
