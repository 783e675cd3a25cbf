"""Asking a platform for the facts about a workspace."""

import asyncio
from dataclasses import dataclass

import pytest

from gateway.errors import Permanent, Transient
from gateway.outbound.space_descriptions import (
    MAX_ADMINISTRATORS,
    MAX_DESCRIPTION,
    MAX_TITLE,
    SpaceDescriptions,
)
from gateway.platforms import ConnectedAccount
from gateway.ports import SpaceDescription
from tests.support.adapter import MANIFEST, RecordingAdapter

PROJECT = "test:main:W1"
TEA = SpaceDescription("Tea", "About tea.", ("Ada", "Bob"))


@dataclass
class Tells:
    """Describes a workspace, fails, or never answers."""

    about: SpaceDescription = TEA
    failure: Exception | None = None
    silent: bool = False

    async def describe_space(self, space: str) -> SpaceDescription:
        if self.failure is not None:
            raise self.failure
        if self.silent:
            await asyncio.Event().wait()
        return self.about if space == "W1" else SpaceDescription("")


def over(tells: Tells | None) -> SpaceDescriptions:
    connected = ConnectedAccount(MANIFEST, RecordingAdapter(), spaces=tells)
    return SpaceDescriptions({("test", "main"): connected})


async def test_a_workspace_is_described() -> None:
    assert await over(Tells()).of(PROJECT) == TEA


@pytest.mark.parametrize("failure", [Transient("busy"), Permanent("no"), ValueError()])
async def test_a_failing_platform_tells_nothing(failure: Exception) -> None:
    assert await over(Tells(failure=failure)).of(PROJECT) is None


async def test_a_silent_platform_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.outbound.space_descriptions.ASK_SECONDS", 0.01)
    assert await over(Tells(silent=True)).of(PROJECT) is None


@pytest.mark.parametrize("project", ["other:main:W1", "test:second:W1", "test:main:", "test", ""])
async def test_unknown_projects_are_not_described(project: str) -> None:
    assert await over(Tells()).of(project) is None
    assert await over(None).of(PROJECT) is None


async def test_what_is_told_has_bounds_and_one_line() -> None:
    names = tuple(f"Person {number}" for number in range(50))
    about = SpaceDescription("T" * 999, "one\n\ntwo \u202e" * 999, ("", *names))
    told = await over(Tells(about)).of(PROJECT)
    assert told is not None
    assert len(told.title) == MAX_TITLE
    assert len(told.description) <= MAX_DESCRIPTION
    assert not {"\n", "\u202e"} & {*told.description}
    assert told.administrators == names[: MAX_ADMINISTRATORS - 1]
