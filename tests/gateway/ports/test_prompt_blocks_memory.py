"""In which block a memory has its place."""

import pytest

from gateway.ports.prompt_blocks import BlockKind, block_for


@pytest.mark.parametrize(
    ("kind", "scope", "block"),
    [
        ("preference", "user", BlockKind.SYSTEM),
        ("preference", "project", BlockKind.PROJECT),
        ("preference", "global", BlockKind.PROJECT),
        ("instruction", "user", BlockKind.SYSTEM),
        ("correction", "project", BlockKind.PROJECT),
        ("fact", "project", BlockKind.KNOWLEDGE),
        ("decision", "project", BlockKind.KNOWLEDGE),
        ("context", "user", BlockKind.KNOWLEDGE),
        ("", "", BlockKind.KNOWLEDGE),
    ],
)
def test_the_block_depends_on_kind_and_scope(kind: str, scope: str, block: BlockKind) -> None:
    assert block_for(kind, scope) is block


def test_the_block_of_a_standing_fact_depends_on_its_owner() -> None:
    assert block_for("fact", "user", standing=True) is BlockKind.SYSTEM
    assert block_for("fact", "project", standing=True) is BlockKind.PROJECT
