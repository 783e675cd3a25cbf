"""The progress of the vectors of chunks, and the reason why there are none."""

from msgspec import Struct

from memory.knowledge.model import Repository
from memory.knowledge.ports.vectors import ENOUGH
from memory.knowledge.stores.vectors import SqlChunkVectors


class VectorModel(Struct, frozen=True):
    """The configured model, and the reason why it makes no vectors of repositories; each may be
    empty."""

    name: str
    problem: str


class VectorProgress(Struct, frozen=True):
    """The numbers of chunks with a vector of the configured model, and of all; `problem` says why
    no more of them get one."""

    model: str = ""
    made: int = 0
    of: int = 0
    problem: str = ""

    @property
    def text(self) -> str:
        """The progress in one line, with what a search uses."""
        told = f"{self.made:,} of {self.of:,} chunks have a vector"
        if self.model:
            told += f" of {self.model}"
        if self.made < ENOUGH * self.of or not self.model:
            told += "; a search uses words only"
        return f"{told}; no more are made, because {self.problem}" if self.problem else told


async def progress_of(
    model: VectorModel, vectors: SqlChunkVectors, repository: Repository | None = None, of: int = 0
) -> VectorProgress:
    """The progress of all repositories, or of one with `of` chunks. Raises `StoreUnavailable`."""
    if repository is None:
        made, of = await vectors.embedded(model.name)
    else:
        made = await vectors.embedded_of(model.name, repository.id)
    problem = model.problem or await vectors.problem(model.name)
    return VectorProgress(model.name, made, of, problem)
