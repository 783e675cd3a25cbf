"""A running program with its MCP servers."""

from collections.abc import AsyncIterator

import pytest

from tests.parley.http.api.conftest import members, program  # noqa: F401 - fixtures
from tests.parley.http.api.kit import Program
from tests.parley.http.mcp.kit import ERAS, Servers, served


@pytest.fixture
async def servers(program: Program) -> AsyncIterator[Servers]:  # noqa: F811 - the fixture
    async with served(program) as running:
        yield running


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)
