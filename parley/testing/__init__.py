"""The adapter kit: the contract suite for an adapter of one's own, and its parts.

A test module names its adapters and takes the suite over:

    from parley.testing import AdapterCase
    from parley.testing.contract import *

    ADAPTER_CASES = (AdapterCase("mychat", MANIFEST, lambda account: MyChatSimulator()),)

and likewise a memory backend:

    from parley.testing import MemoryCase
    from parley.testing.memory_contract import *

    MEMORY_CASES = (MemoryCase("notes", lambda folder: {"memory": {"backend": "notes"}}, "notes"),)

It needs the extra `parley-gateway[testing]`. The program itself does not import it.
"""

from parley.testing.case import PATIENCE, AdapterCase, HostedPlatform, MemoryCase
from parley.testing.memory_stage import MemoryStage, opened_memory
from parley.testing.people import DirectPeople
from parley.testing.platform_server import PlatformServer
from parley.testing.stage import EventRecorder, MemoryState, Stage, make_adapter, on_stage

__all__ = [
    "PATIENCE",
    "AdapterCase",
    "DirectPeople",
    "EventRecorder",
    "HostedPlatform",
    "MemoryCase",
    "MemoryStage",
    "MemoryState",
    "PlatformServer",
    "Stage",
    "make_adapter",
    "on_stage",
    "opened_memory",
]
