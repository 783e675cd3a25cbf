"""Fixtures for tests of the configuration: two invented platforms and a function that loads a
text."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import Field, SecretStr, field_validator

from gateway.platforms import Discovery
from gateway.ports import AccountSettings, AdapterManifest, Capabilities
from parley.config import Settings, SettingsError, load


class PigeonSettings(AccountSettings, frozen=True):
    """A platform with two credentials."""

    ring_number: SecretStr | None = None
    loft: str = ""
    altitude: int = 100
    feathers: tuple[str, ...] = ()
    windy: bool = False
    perch: str = Field(default="", pattern=r"^(https?://\S+)?$")
    flock: str = Field(default="", pattern=r"^\d*$")

    @field_validator("loft")
    @classmethod
    def _talkative(cls, value: str) -> str:
        if value.startswith("bad"):
            raise ValueError(f"{value!r} is no loft")
        return value

    def configured(self) -> bool:
        return self.ring_number is not None and bool(self.loft)

    def missing(self) -> tuple[str, ...]:
        have = {"ring_number": self.ring_number is not None, "loft": bool(self.loft)}
        return tuple(k for k, there in have.items() if not there) if any(have.values()) else ()


class DrumSettings(AccountSettings, frozen=True):
    """A platform without credentials, which names what it lacks also when nothing is set."""

    enabled: bool = False

    def configured(self) -> bool:
        return self.enabled

    def missing(self) -> tuple[str, ...]:
        return () if self.enabled else ("enabled",)


def manifest(platform: str, settings: type[AccountSettings]) -> AdapterManifest:
    """A manifest whose adapter is never loaded."""
    return AdapterManifest(
        platform=platform,
        title=platform.title(),
        settings=settings,
        capabilities=Capabilities(),
        load=f"nowhere.{platform}:Adapter",
    )


PLATFORMS = Discovery(
    {"pigeon": manifest("pigeon", PigeonSettings), "drum": manifest("drum", DrumSettings)}
)


def load_text(folder: Path, text: str, env: Mapping[str, str] | None = None) -> Settings:
    """Load a configuration file with this text."""
    path = folder / "parley.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path, env or {}, PLATFORMS)


def refusal(folder: Path, text: str, env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The reasons why a configuration is refused: sentences by path."""
    with pytest.raises(SettingsError) as refused:
        load_text(folder, text, env)
    return {p.path: f"{p.text} {p.advice}".strip() for p in refused.value.problems}
