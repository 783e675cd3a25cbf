"""Registered repositories for attacks: real ones, read by the program's own ingest."""

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gateway.ports.clock import SystemClock
from memory.git.errors import NotARepository
from memory.git.location import locate
from memory.knowledge.model import Repository
from parley.wiring.ingest import ingester_of
from parley.wiring.knowledge import open_knowledge
from tests.attacks.scene import Scene
from tests.support.git import TestRepository, new_repository

ELSEWHERE: Final = "discord:main:another-server"
"""A project to which nobody of a scene belongs."""


def made(scene: Scene, name: str) -> TestRepository:
    """A new repository in a folder of its own."""
    return new_repository(scene.stage.folder / "code" / scene.tag / name)


async def registered(
    scene: Scene, git: TestRepository, *, project: str = "", private: bool = True
) -> dict[str, str]:
    """Register a repository of a project, or of the whole tenant, and ingest it. Those of earlier
    scenes are forgotten. Returns the reasons of skipped files, by their number as text."""
    index = open_knowledge(scene.stage.app.settings)
    await index.start()
    try:
        store = index.stores.repositories
        for one in await store.all():
            if scene.tag not in one.folder:
                await store.forget(one.id)
        repository = _repository(git.folder, project, private=private)
        assert await store.add(repository), "the name is taken"
        ingester = ingester_of(scene.stage.app.settings, index, SystemClock())
        outcome = await ingester.ingest(repository, lambda _: None)
        return {
            reason.value: str(count)
            for branch in outcome.branches
            for reason, count in branch.skipped.items()
        }
    finally:
        await index.stop()


async def ingested(scene: Scene) -> None:
    """Bring all repositories of the scene to their latest commits."""
    index = open_knowledge(scene.stage.app.settings)
    await index.start()
    try:
        ingester = ingester_of(scene.stage.app.settings, index, SystemClock())
        for one in await index.stores.repositories.all():
            if scene.tag in one.folder:
                await ingester.ingest(one, lambda _: None)
    finally:
        await index.stop()


def is_refused(folder: Path) -> bool:
    """True if a folder cannot be read as a repository."""
    try:
        locate(folder)
    except NotARepository:
        return True
    return False


def _repository(folder: Path, project: str, *, private: bool) -> Repository:
    place = locate(folder)
    return Repository(
        id=uuid.uuid4().hex,
        tenant="default",
        project=project,
        name=f"{folder.name}-{folder.parent.name}",
        folder=str(place.folder),
        git_dir=str(place.common_dir),
        remote="",
        private=private,
        rooms=(),
        branches=(),
        created_at=SystemClock().now(),
    )


def decision(number: int, text: str, status: str = "Accepted") -> Mapping[str, str]:
    """A decision record by its path."""
    path = f"docs/adrs/ADR-{number:03}-queue.md"
    return {path: f"# ADR-{number:03}: Use a queue\n\nStatus: {status}\n\n{text}\n"}
