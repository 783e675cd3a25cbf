"""Puts together what ingests repositories; a running program does not load it."""

from typing import Final

from gateway.ports.clock import Clock
from memory.knowledge.ingest.ingester import Ingester, IngestLimits, Splitter
from memory.knowledge.reading.rules import Rules
from memory.knowledge.splitting import split_file
from parley.config import Settings
from parley.config.agent_file import read_agent_file
from parley.wiring.knowledge import KnowledgeIndex

SPLITTING: Final = 3
"""The version of splitting, of the word index and of the names of secrets. A larger number splits
everything again."""


def ingester_of(settings: Settings, index: KnowledgeIndex, clock: Clock) -> Ingester:
    """The parts that ingest repositories into an index."""

    def rules(content: bytes | None) -> Rules:
        return read_agent_file(content).rules(settings.knowledge.max_file_size_kb)

    own = settings.knowledge
    limits = IngestLimits(
        files=own.max_files,
        paths=own.max_paths,
        megabytes=own.max_total_mb,
        minutes=own.max_minutes,
    )
    return Ingester(index.stores, rules, Splitter(split_file, SPLITTING), clock.now, limits)
