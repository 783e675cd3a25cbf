"""The filter of memories that a backend returned."""

from datetime import timedelta

import pytest

from gateway.immutable import replace
from memory.backends.matching import fits
from memory.model.record import SourceType, Trust
from memory.ports.memories import Filter
from tests.memory.stores.records import AT, access, record


@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        (Filter(sources=(SourceType.IMPORT, SourceType.TOOL_OUTPUT)), True),
        (Filter(sources=(SourceType.EXPLICIT_SAVE,)), False),
        (Filter(trusts=(Trust.LOW,)), True),
        (Filter(trusts=(Trust.HIGH, Trust.MEDIUM)), False),
        (Filter(sources=(SourceType.IMPORT,), trusts=(Trust.HIGH,)), False),
    ],
)
def test_sources_and_trusts_are_filtered(filters: Filter, passes: bool) -> None:
    one = record("I drink tea.")
    provenance = replace(one.provenance, source=SourceType.IMPORT, trust=Trust.LOW)
    imported = replace(one, provenance=provenance)
    assert fits(imported, access(), filters, AT + timedelta(seconds=1)) is passes
