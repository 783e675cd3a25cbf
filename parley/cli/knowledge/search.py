"""`parley knowledge search QUERY`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Final

import typer

from gateway.errors import UsageError
from memory.knowledge.access import KnowledgeAccess
from memory.knowledge.answers import citation_of, link_of
from memory.knowledge.model import ChunkHit, FileKind, KnowledgeQuery, Repository
from memory.knowledge.ports import Nearness
from memory.knowledge.search import MAX_LIMIT, Searcher
from memory.knowledge.stores.word_index import word_index_on
from parley.cli.knowledge.registered import NONE
from parley.cli.knowledge.repositories import Tenant, with_index
from parley.cli.options import AsJson, Config
from parley.cli.stores import read_settings
from parley.cli.terminal import show
from parley.config import Settings
from parley.wiring.knowledge import KnowledgeIndex, nearness_on
from parley.wiring.recall import embedding_problem, recall_models, vector_model

Query = Annotated[str, typer.Argument(metavar="QUERY", help="A question, a symbol or a path.")]
Kinds = Annotated[
    list[FileKind] | None,
    typer.Option("--kind", help="Only this kind of file. Can be given several times."),
]
Services = Annotated[
    list[str] | None, typer.Option("--service", help="Only files of this service. Repeatable.")
]
Topics = Annotated[
    list[str] | None, typer.Option("--topic", help="Only files on this topic. Repeatable.")
]
Limit = Annotated[int, typer.Option("--limit", min=1, max=MAX_LIMIT, help="Results.")]
LINES_SHOWN: Final = 4
LOAD_SECONDS: Final = 30.0
"""How long a search waits for its model, which it has to load first."""


def search(
    query: Query,
    kind: Kinds = None,
    service: Services = None,
    topic: Topics = None,
    limit: Limit = 10,
    tenant: Tenant = None,
    as_json: AsJson = False,
    config: Config = None,
) -> int:
    """Search the repositories of a tenant, as its operator: all of them."""
    settings = read_settings(config)
    asked = KnowledgeQuery(
        query, frozenset(kind or ()), tuple(service or ()), tuple(topic or ()), limit
    )

    async def job(index: KnowledgeIndex) -> list[ChunkHit]:
        access = operator_access(await index.stores.repositories.all(), tenant)
        async with _nearness(settings, index) as nearness:
            words = word_index_on(index.database)
            return await Searcher(index.database, words, nearness=nearness).search(access, asked)

    hits = with_index(settings, job)
    texts = [_as_text(hit) for hit in hits] or ["Nothing found."]
    show(map(_as_json, hits), texts, as_json=as_json)
    return 0


@asynccontextmanager
async def _nearness(settings: Settings, index: KnowledgeIndex) -> AsyncIterator[Nearness | None]:
    """The search by meaning. A model is loaded only if there are vectors of it."""
    model = vector_model(settings)
    if embedding_problem(settings) or not (await index.vectors.embedded(model))[0]:
        yield None
        return
    models = recall_models(settings)
    try:
        yield nearness_on(settings, index.database, models, LOAD_SECONDS)
    finally:
        await models.close()


def operator_access(repositories: Sequence[Repository], tenant: str | None) -> KnowledgeAccess:
    """The access of an operator: all repositories of the tenant, or of the only one there is.
    Raises `BadInput`."""
    tenants = sorted({one.tenant for one in repositories if tenant in {None, one.tenant}})
    if not tenants:
        raise UsageError(NONE)
    if len(tenants) > 1:
        raise UsageError(
            f"There are several tenants: add --tenant with one of {', '.join(tenants)}."
        )
    projects = {one.project for one in repositories if one.project and one.tenant == tenants[0]}
    return KnowledgeAccess(tenants[0], tuple(sorted(projects)), public=False, member=True)


def _as_text(hit: ChunkHit) -> str:
    told = [f"{hit.repository.name}  {citation_of(hit)}"]
    about = [hit.symbol or hit.heading, hit.status]
    if hit.superseded_by:
        about.append(f"superseded by {hit.superseded_by}")
    told += [f"  {text}" for text in [", ".join(one for one in about if one), link_of(hit)] if text]
    shown = [line.rstrip() for line in hit.text.splitlines() if line.strip()]
    told += [f"    {line[:100]}" for line in shown[:LINES_SHOWN]]
    return "\n".join(told)


def _as_json(hit: ChunkHit) -> dict[str, object]:
    return {
        "repository": hit.repository.name,
        "citation": citation_of(hit),
        "link": link_of(hit),
        "path": hit.path,
        "branch": hit.branch,
        "commit": hit.commit,
        "first_line": hit.first_line,
        "last_line": hit.last_line,
        "symbol": hit.symbol,
        "heading": hit.heading,
        "kind": hit.kind.value,
        "title": hit.title,
        "status": hit.status,
        "superseded_by": hit.superseded_by,
        "score": round(hit.score, 3),
        "text": hit.text,
    }
