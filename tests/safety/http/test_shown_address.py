"""Addresses are shown without what may be a secret in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safety.http.shown_address import hidden_parts, shown_address, without_secrets


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://api.example.org/v1", "https://api.example.org/v1"),
        ("https://api.example.org/v1beta/openai/", "https://api.example.org/v1beta/openai/"),
        ("https://mcp.example.org/mcp/sse", "https://mcp.example.org/mcp/sse"),
        ("https://h.example/x/mcp?key=abc", "https://h.example/x/mcp?…"),
        ("https://h.example/mcp#abc", "https://h.example/mcp#…"),
        ("https://ada:pw@h.example:8443/mcp", "https://…@h.example:8443/mcp"),
        ("https://token@h.example/mcp", "https://…@h.example/mcp"),
        (
            "https://hooks.example.org/services/T024BE7LD/B0AAAA/abcdEFGHijkl",
            "https://hooks.example.org/services/…/…/…",
        ),
        ("https://h.example/s/k3y-abcdefghijkl/mcp", "https://h.example/s/…/mcp"),
        ("https://h.example/CANARY", "https://h.example/…"),
        ("https://h.example/qzjxkvbwprtm", "https://h.example/…"),
        ("https://h.example/12345678", "https://h.example/…"),
        ("https://h.example/%41%42c", "https://h.example/…"),
        ("https://h.example/a;b=secret", "https://h.example/…"),
        ("https://h.example/issues/{number}", "https://h.example/issues/{number}"),
        ("https://h.example/${PART}/mcp?key=${KEY}", "https://h.example/${PART}/mcp?key=${KEY}"),
        ("https://h.example/mcp?key=${KEY}&more=abc", "https://h.example/mcp?…"),
        ("postgresql://parley:${PW}@db/parley", "postgresql://parley:${PW}@db/parley"),
        ("postgresql://ada:pa/ss@db/parley", "postgresql://…"),
        ("redis://:pa#ss@h:6379/0", "redis://…"),
        ("redis://:pw@[::1]:6379/0", "redis://…@[::1]:6379/0"),
        ("sqlite:////var/lib/parley/p4rl3y_data.db", "sqlite:////var/lib/parley/p4rl3y_data.db"),
        ("sqlite:///a.db?key=hunter2", "sqlite:///a.db?…"),
        ("", ""),
        ("unix:///run/redis.sock?password=x", "unix:///run/…?…"),
    ],
)
def test_an_address_is_shown_without_user_query_and_parts_that_are_no_words(
    address: str, shown: str
) -> None:
    assert shown_address(address) == shown
    assert without_secrets(f"see {address} there") == f"see {shown} there"


@given(st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=13, max_size=80))
def test_a_long_part_is_never_shown(secret: str) -> None:
    for address in (
        f"https://h.example/{secret}/mcp",
        f"https://h.example/mcp?{secret}={secret}",
        f"https://{secret}@h.example/",
        f"https://h.example/mcp#{secret}",
    ):
        assert secret not in shown_address(address)


def test_the_log_is_searched_for_what_looks_generated() -> None:
    address = "https://ada:pa55word@h.example/hooks/T0K3n9f8a7b6c5d4?sslmode=require&k=Zx81kQ77aPq2"

    assert {"pa55word", "T0K3n9f8a7b6c5d4", "Zx81kQ77aPq2"} == set(hidden_parts(address))
