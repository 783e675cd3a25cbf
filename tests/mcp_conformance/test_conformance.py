"""The official conformance suite passes, at both revisions."""

from pathlib import Path

import pytest

from tests.mcp_conformance.run import all_runs
from tests.mcp_conformance.suite import REVISIONS, SuiteMissing, installed_suite

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.timeout(1_200),
    # The suite also calls what the present revision deprecates: sampling and logging.
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]


async def test_every_required_scenario_passes_or_has_a_known_cause(tmp_path: Path) -> None:
    try:
        suite = installed_suite()
    except SuiteMissing as missing:
        pytest.skip(str(missing))
    runs = await all_runs(suite, tmp_path)
    assert [one.revision for one in runs] == list(REVISIONS) * 3
    for one in runs:
        assert not one.unexpected(), "\n".join(one.lines())
        if one.target.fixtures:
            assert {scenario.name for scenario in one.measured()} == one.required
