"""The stores and services that memory consists of, and the same bound to one request."""

from collections.abc import Sequence

from msgspec import Struct, field

from gateway.ports import Clock
from gateway.ports.conversations import History
from memory.agents.share_reviews import ShareReviews
from memory.documents.service import DocumentService
from memory.knowledge.access import KnowledgeReader
from memory.model.scope import AccessScope, RequestScope
from memory.ports.audit import AuditAction
from memory.ports.memories import MemoryStore
from memory.ports.people import PersonalDataStore, PersonChoices, TurnStart, WorkingMemory
from memory.ports.recall import Recall
from memory.service.index_cleaning import IndexCleaning
from memory.service.links import Links
from memory.service.people import People
from memory.stores.audit import Audit
from memory.stores.reviews import ReviewStore
from memory.write.consolidation import Consolidation
from memory.write.imports import ImportRateLimit
from memory.write.write_path import WritePath


class MemoryDependencies(Struct, frozen=True):
    """Everything that the services use. `working` is None where no conversations are kept."""

    memories: MemoryStore
    reviews: ReviewStore
    people: People
    path: WritePath
    audit: Audit
    clock: Clock
    documents: DocumentService
    consolidation: Consolidation
    retriever: Recall
    links: Links
    history: History
    holders: Sequence[PersonalDataStore] = ()
    working: WorkingMemory | None = None
    imports: ImportRateLimit = field(default_factory=ImportRateLimit)
    shares: ShareReviews | None = None
    cleaning: IndexCleaning | None = None
    """Takes deleted words out of the pages of indexes, where that is needed."""
    repositories: KnowledgeReader | None = None
    """Searches repositories, where that is enabled."""


class RequestMemory(Struct, frozen=True):
    """Memory for one request. Every method raises `StoreUnavailable`."""

    dependencies: MemoryDependencies
    """The services and stores."""
    request: RequestScope
    access: AccessScope
    """The memories that the request may read and change."""
    start: TurnStart
    """The person, session and documents, read once."""

    @property
    def choices(self) -> PersonChoices:
        """This person's choices about memory, and the notices that wait for them."""
        return self.start.who

    async def audit(self, action: AuditAction, **details: str | int) -> None:
        """Record an action of this person."""
        await self.dependencies.audit.note(action, self.request, **details)

    async def clean_indexes(self) -> None:
        """Take deleted words out of the pages of indexes."""
        if self.dependencies.cleaning is not None:
            await self.dependencies.cleaning.run()

    async def store_waiting_turns(self) -> None:
        """Store the waiting turns of this person and of this room."""
        await self.dependencies.consolidation.of_access(self.access)
