"""References between decision records are resolved within their repository."""

import pytest

from memory.knowledge.search import Supersession

RECORDS = [
    ("r", "adr/0003-queue.md", ()),
    ("r", "adr/adr-012-broker.md", ("ADR 3",)),
    ("s", "adr/0003-other.md", ()),
]


@pytest.mark.parametrize(
    "reference",
    ["adr-012-broker.md", "ADR-12", "ADR 012", "12", "#12", "docs/adr/adr-012-broker.md"],
)
def test_a_reference_names_a_record(reference: str) -> None:
    result = Supersession(RECORDS).replaces("r", "adr/0001-x.md", reference)
    assert result == "adr/adr-012-broker.md"


def test_a_reference_to_nothing_stays_as_it_is_said() -> None:
    assert Supersession(RECORDS).replaces("r", "adr/0001-x.md", "the new plan") == "the new plan"
    assert Supersession(RECORDS).replaces("s", "adr/0001-x.md", "ADR 12") == "ADR 12"


def test_what_a_newer_record_says_counts_in_its_repository_only() -> None:
    supersession = Supersession(RECORDS)
    assert supersession.replaces("r", "adr/0003-queue.md", "") == "adr/adr-012-broker.md"
    assert supersession.replaces("s", "adr/0003-other.md", "") == ""
    assert supersession.replaces("r", "adr/adr-012-broker.md", "") == ""
