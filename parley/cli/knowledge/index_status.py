"""The standing of a repository: its branches in the index beside those of git, and the progress of
its vectors.

Imports no library, for `parley.cli.knowledge.quick_status`.
"""

from msgspec import Struct

from memory.knowledge.model import Repository, Totals
from memory.knowledge.ports import ENOUGH
from memory.knowledge.standing import Standing, standings
from memory.knowledge.stores.files import SqlFiles
from memory.knowledge.stores.repositories import SqlRepositories
from memory.knowledge.stores.vectors import SqlChunkVectors
from parley.cli.knowledge.registered import described, find_some, lost_hooks_line, lost_hooks_of
from parley.cli.terminal import json_line


class VectorModel(Struct, frozen=True):
    """The configured model, and the reason why it makes no vectors of repositories; each may be
    empty."""

    name: str
    problem: str


class VectorProgress(Struct, frozen=True):
    """The numbers of chunks or memories with a vector of the configured model, and of all.
    `problem` says why no more of them get one, or why they cannot be counted; `dimensions` are the
    numbers of vectors by their dimension."""

    model: str = ""
    made: int = 0
    of: int = 0
    problem: str = ""
    dimensions: dict[int, int] = {}

    @property
    def made_anew(self) -> str:
        """A sentence on vectors of several dimensions; "" if all have the same one."""
        if len(self.dimensions) < 2:
            return ""
        several = ", ".join(f"{count:,} with {one}" for one, count in self.dimensions.items())
        return (
            f"They have different dimensions ({several}): the model gives others than before. The "
            "running program makes the old ones anew; until then a search for them uses words only."
        )

    @property
    def text(self) -> str:
        """The progress in one line, with what a search uses."""
        told = f"{self.made:,} of {self.of:,} chunks have a vector"
        if self.model:
            told += f" of {self.model}"
        if self.made < ENOUGH * self.of or not self.model:
            told += "; a search uses words only"
        told = f"{told}; no more are made, because {self.problem}" if self.problem else told
        return f"{told}. {self.made_anew}" if self.made_anew else told


async def progress_of(
    model: VectorModel, vectors: SqlChunkVectors, repository: Repository | None = None, of: int = 0
) -> VectorProgress:
    """The progress of all repositories, or of one with `of` chunks. Raises `StoreUnavailable`."""
    if repository is None:
        made, of = await vectors.embedded(model.name)
        dimensions = await vectors.dimensions(model.name)
    else:
        dimensions = {}
        made = await vectors.embedded_of(model.name, repository.id)
    problem = model.problem or await vectors.problem(model.name)
    return VectorProgress(model.name, made, of, problem, dimensions)


class IndexStores(Struct, frozen=True):
    """The stores of an index that its status is read from."""

    repositories: SqlRepositories
    files: SqlFiles
    vectors: SqlChunkVectors


async def status_text(
    index: IndexStores, model: VectorModel, repo: str | None, tenant: str | None, *, as_json: bool
) -> str:
    """The status of the repositories that an argument means. Raises `BadInput`."""
    texts = []
    for repository in await find_some(index.repositories, repo, tenant):
        states = await index.files.branches(repository.id)
        totals = await index.files.totals(repository.id)
        branches, problem = standings(repository, states)
        vectors = await progress_of(model, index.vectors, repository, totals.chunks)
        if as_json:
            texts.append(json_line(_as_json(repository, branches, totals, vectors, problem)))
        else:
            texts.append(_as_text(repository, branches, totals, vectors, problem))
    return "".join(texts)


def _as_text(
    repository: Repository,
    branches: list[Standing],
    totals: Totals,
    vectors: VectorProgress,
    problem: str,
) -> str:
    lines = [described(repository)]
    for one in branches:
        at = f"{one.state.ingested_at:%Y-%m-%d %H:%M} UTC" if one.state.ingested_at else "never"
        where = one.state.commit[:12] or "nothing"
        lines.append(f"  {one.state.name}: {one.text}, at {where}, ingested {at}")
    if not branches:
        lines.append("  not ingested yet; run `parley knowledge ingest`")
    lines.append(f"  in the index: {totals.files:,} files, {totals.chunks:,} chunks")
    lines.append(f"  {vectors.text}")
    lines += [f"  skipped, {reason.value}: {count:,}" for reason, count in totals.skipped.items()]
    if problem:
        lines.append(f"  {problem}")
    text = "".join(f"{line}\n" for line in lines)
    return f"{text}{lost_hooks_line(repository, lost_hooks_of(repository))}"


def _as_json(
    repository: Repository,
    branches: list[Standing],
    totals: Totals,
    vectors: VectorProgress,
    problem: str,
) -> dict[str, object]:
    listed = [
        {
            "branch": one.state.name,
            "state": one.text,
            "commit": one.state.commit,
            "latest": one.commit,
            "ingested_at": one.state.ingested_at,
        }
        for one in branches
    ]
    return {
        "repository": repository.name,
        "tenant": repository.tenant,
        "project": repository.project,
        "private": repository.private,
        "rooms": list(repository.rooms),
        "folder": repository.folder,
        "branches": listed,
        "files": totals.files,
        "chunks": totals.chunks,
        "skipped": {reason.value: count for reason, count in totals.skipped.items()},
        "vectors": {
            "model": vectors.model,
            "made": vectors.made,
            "problem": vectors.problem,
        },
        "problem": problem,
        "lost_hooks": lost_hooks_of(repository),
    }
