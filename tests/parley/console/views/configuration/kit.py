"""Changes of the configuration in the running console."""

import json
from collections.abc import Mapping

from parley.console.views.configuration.page import ConfigurationOut
from tests.parley.console.kit import Console, Page, Visitor
from tests.parley.http.api.kit import ApiResponse


async def change(visitor: Visitor, key: str, value: str, based_on: int) -> Page:
    """Change a value by the form of the page."""
    fields = {"key": key, "value": value, "based_on": str(based_on)}
    return await visitor.post("/configuration/change", fields)


async def told(console: Console, name: str, body: Mapping[str, object]) -> ApiResponse:
    """Change a value by the API."""
    return await console.signed_in(name)("POST", "/console/configuration/change", body)


async def listed(console: Console, name: str = "oona", **query: str) -> ConfigurationOut:
    """The configuration as the API returns it."""
    client = console.program.api_client(name)
    answer = await client("GET", "/console/configuration", params=query)
    assert answer.status == 200, answer.json
    return ConfigurationOut.model_validate_json(json.dumps(answer.json))


def value_of(shown: ConfigurationOut, key: str) -> tuple[str, str]:
    """The text and the source of a value."""
    found = [one for section in shown.sections for one in section.values if one.key == key]
    assert len(found) == 1, key
    return found[0].text, found[0].source
