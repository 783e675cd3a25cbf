"""`parley knowledge status [REPO]`."""

from parley.cli.knowledge.index_status import IndexStores, VectorModel, status_text
from parley.cli.knowledge.quick_status import note_configuration
from parley.cli.knowledge.repositories import SomeRepository, Tenant, with_index
from parley.cli.options import AsJson, Config
from parley.cli.stores import read_settings
from parley.cli.terminal import print_text
from parley.wiring.knowledge import KnowledgeIndex, knowledge_file
from parley.wiring.recall import embedding_problem, models_folder, vector_model


def status(
    repo: SomeRepository = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
    config: Config = None,
) -> int:
    """Show the repositories in the index, and if they are at the latest commits."""
    settings = read_settings(config)
    model = VectorModel(vector_model(settings), embedding_problem(settings))

    async def job(index: KnowledgeIndex) -> str:
        stores = IndexStores(index.stores.repositories, index.stores.files, index.vectors)
        return await status_text(stores, model, repo, tenant, as_json=as_json)

    print_text(with_index(settings, job))
    file = knowledge_file(settings)
    if file is not None:
        note_configuration(config, file, model, models_folder(settings))
    return 0
