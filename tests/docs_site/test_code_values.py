"""The pages on the program's own interfaces say what every field and every method means."""

import pytest

from docs_site.reference import adapter_methods, extensions
from docs_site.reference.code_values import fields, value
from gateway.extensions import ExtensionRegistry
from gateway.message import Place
from gateway.policy.decision import Decision
from gateway.ports import memory_backend
from parley.wiring.extensions import POINTS

SHOWN: set[type] = {
    *(one for group in adapter_methods.VALUES.values() for one in group),
    *extensions.VALUES,
    *(memory_backend.Statement, memory_backend.BackendAccess, memory_backend.FoundStatement),
    ExtensionRegistry,
}
"""The values that authors of adapters, extensions and memory backends receive and return."""


@pytest.mark.parametrize("shown", sorted(SHOWN, key=str))
def test_every_public_field_says_what_it_means(shown: type) -> None:
    silent = [one.name for one in fields(shown) if not one.meaning]
    assert silent == [], "write a text under the field"


def test_a_value_is_a_table_of_its_fields() -> None:
    assert {one.name for one in fields(Decision)} == set(Decision._fields)
    kept = {one.name: one for one in fields(Place)}
    assert (kept["audience"].kind, kept["audience"].default) == ("Audience", "")
    assert kept["present_channel_id"].default == '""'
    assert "| `platform` | `str` | required | The platform's name, in lower case. |" in value(Place)


def test_every_method_of_an_extension_is_in_the_table_with_its_result() -> None:
    text = extensions.extensions()
    for part, (protocol, methods) in POINTS.items():
        assert extensions.PARTS[part] is protocol
        for name in methods:
            assert f"| `{name}` | " in text
            assert f"def {name}(self, " in text
