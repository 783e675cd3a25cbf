"""May X do Y here? The answer is the decision that a turn makes, with its rule."""

from pathlib import Path
from typing import Any

import pytest

from gateway.outbound.membership import PlatformMembership
from gateway.ports import MembershipStatus
from parley.console.timeline import TITLES
from tests.parley.console.kit import Console, console_in, console_settings
from tests.parley.console.views.configuration.kit import change
from tests.parley.http.api.kit import PROJECT

ROOM = {"audience": "public_room", "channel": "general", "workspace": "guild"}
TABLE: list[tuple[dict[str, str], bool, str, str]] = [
    ({}, True, "no_budget", "budgets"),
    ({"person": "web:main:eve"}, False, "user_blocked", "access.blocked_users"),
    (ROOM, True, "no_budget", "budgets"),
    ({**ROOM, "how": "plain"}, False, "not_addressed", "invocation.triggers"),
    ({**ROOM, "channel": "closed"}, False, "channel_blocked", "access.blocked_channels"),
    ({"action": "tool", "tool": "set_task"}, False, "not_permitted", "tools.set_task"),
    (
        {"action": "tool", "tool": "set_task", "person": "web:main:olga"},
        True,
        "permitted",
        "tools.set_task",
    ),
    ({"action": "read_project", "project": PROJECT}, False, "no_member", "membership"),
    ({**ROOM, "action": "read_project"}, True, "member", "membership"),
    ({**ROOM, "action": "read_project", "outside": "yes"}, False, "no_member", "membership"),
    ({**ROOM, "action": "write_project_notes"}, False, "proposes", "access.operators"),
    (
        {**ROOM, "action": "write_project_notes", "person": "web:main:olga"},
        True,
        "operates",
        "access.operators",
    ),
]


async def asked(console: Console, name: str = "olga", **query: str) -> Any:
    """The answer of the API."""
    client = console.program.api_client(name)
    given = {"person": "web:main:ada", **query}
    return await client("GET", "/console/access/question", params=given)


async def test_every_answer_names_the_rule_that_decides(tmp_path: Path) -> None:
    access = {
        "owners": ["web:oona"],
        "operators": ["web:olga"],
        "blocked_users": ["web:eve"],
        "blocked_channels": ["web:closed"],
    }
    rules = {"set_task": {"role": "operator"}}
    settings = console_settings(tmp_path, access=access, tools=rules)
    async with console_in(settings) as console:
        for query, allowed, reason, rule in TABLE:
            answer = (await asked(console, **query)).json
            decided = answer["deciding"]
            assert (answer["allowed"], decided["reason"]) == (allowed, reason), (query, answer)
            assert decided["rule"].startswith(rule), query
            assert answer["steps"][-1] == decided
            for step in answer["steps"]:
                assert step["stage"] in TITLES, step
        olga = await console.visitor("olga")
        page = await olga.get("/access/question?person=web:main:eve")
        assert "The person is blocked." in page.text
        assert "access.blocked_users" in page.text
        assert '<th scope="row">Role of the person</th>' in page.text


async def test_a_member_who_was_seen_reads_the_project_in_private(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def belongs(_: PlatformMembership, _person: str, _project: str) -> MembershipStatus:
        return MembershipStatus.MEMBER

    monkeypatch.setattr(PlatformMembership, "belongs", belongs)
    query = {"action": "read_project", "project": PROJECT}
    assert (await asked(console, **query)).json["allowed"] is False
    await console.program.api_client("ada").in_room()
    assert (await asked(console, **query)).json["allowed"] is True


async def test_the_answer_follows_a_change_and_agrees_with_what_happens(console: Console) -> None:
    oona = await console.visitor("oona")
    assert (await asked(console)).json["allowed"] is True
    await change(oona, "access.allowed_users", "web:oona", 0)
    answer = (await asked(console)).json
    assert answer["deciding"]["reason"] == "user_not_allowed"
    refused = await console.program.api_client("ada")("GET", "/console/account")
    assert refused.status == 403


async def test_bad_questions_are_explained(console: Console) -> None:
    for query, status in (
        ({"person": "ada"}, 400),
        ({"audience": "public_room"}, 422),
        ({"action": "tool", "tool": "none"}, 404),
        ({"action": "read_project"}, 422),
    ):
        assert (await asked(console, **query)).status == status, query
    assert (await asked(console, "ada")).status == 403
    olga = await console.visitor("olga")
    assert (await olga.get("/access/question")).status == 200
    hostile = await olga.get("/access/question?person=web:main:<script>alert(1)</script>")
    assert "<script>alert(1)" not in hostile.text
