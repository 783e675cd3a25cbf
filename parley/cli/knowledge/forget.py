"""`parley knowledge forget REPO`."""

from pathlib import Path

from memory.knowledge.ingest.work_tree import clear_state
from parley.cli.knowledge.registered import find_one
from parley.cli.knowledge.repositories import OneRepository, Tenant, with_index
from parley.cli.options import Config, Yes, confirmed
from parley.cli.stores import read_settings
from parley.cli.terminal import print_text
from parley.wiring.knowledge import KnowledgeIndex


def forget(
    repo: OneRepository,
    yes: Yes = 0,
    tenant: Tenant = None,
    config: Config = None,
) -> int:
    """Delete a repository from the index, with everything that was read from it. The repository
    itself stays."""
    settings = read_settings(config)

    async def job(index: KnowledgeIndex) -> int:
        store = index.stores.repositories
        repository = await find_one(store, repo, tenant)
        question = f"Delete {repository.name} ({repository.folder}) from the index?"
        if not confirmed([question], yes):
            return 1
        await store.forget(repository.id)
        clear_state(Path(repository.folder))
        print_text(f"{repository.name} is forgotten.\n")
        return 0

    return with_index(settings, job)
