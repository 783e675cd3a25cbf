"""Linked accounts in the running console."""

import re

import pytest

from tests.parley.console.kit import Console, Visitor

CODE = re.compile(r"/link ([0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4})")
REQUEST = re.compile(r'name="request" value="([0-9a-f]+)"')


async def code_of(visitor: Visitor) -> str:
    found = CODE.search((await visitor.post("/memory/accounts/code")).text)
    assert found is not None
    return found[1]


async def test_a_link_needs_a_code_and_both_confirmations(either_console: Console) -> None:
    ada, sister = await _two_platforms(either_console)
    entered = await sister.post("/memory/accounts/enter", {"code": await code_of(ada)})
    assert "Link this account?" in entered.text
    found = REQUEST.search(entered.text)
    assert found is not None
    fields = {"request": found[1]}
    assert "A link is not complete" in (await ada.get("/memory/accounts")).text
    agreed = await sister.post("/memory/accounts/confirm", fields)
    assert "You have confirmed." in agreed.text
    assert "Link this account?" in (await ada.get("/memory/accounts")).text
    assert "not linked" not in (await ada.post("/memory/accounts/confirm", fields)).text
    linked = (await ada.get("/memory/accounts")).text
    assert "Telegram" in linked
    assert "Separate this account" in linked
    apart = await ada.post("/memory/accounts/unlink")
    assert "This account is separated." in apart.text
    assert "No other account is linked" in (await sister.get("/memory/accounts")).text


async def test_a_wrong_code_and_a_cancelled_request_link_nothing(console: Console) -> None:
    ada, sister = await _two_platforms(console)
    wrong = await sister.post("/memory/accounts/enter", {"code": "0000-0000-0000"})
    assert wrong.status == 422
    assert "not valid" in wrong.text
    entered = await sister.post("/memory/accounts/enter", {"code": await code_of(ada)})
    found = REQUEST.search(entered.text)
    assert found is not None
    cancelled = await ada.post("/memory/accounts/cancel", {"request": found[1]})
    assert "Nothing new is linked." in cancelled.text
    gone = await sister.post("/memory/accounts/confirm", {"request": found[1]})
    assert gone.status == 422


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("accounts/code", None),
        ("accounts/enter", {"code": "0000-0000-0000"}),
        ("accounts/confirm", {"request": "00"}),
        ("tokens/create", {"name": "x"}),
    ],
)
async def test_a_token_gives_no_lasting_access(
    console: Console, path: str, body: dict[str, str] | None
) -> None:
    answer = await console.program.api_client("ada")("POST", f"/console/memory/{path}", body)
    assert (answer.status, answer.code) == (403, "needs_session")


async def _two_platforms(console: Console) -> tuple[Visitor, Visitor]:
    """The same person on two platforms: only such accounts can be linked."""
    ada = await console.visitor("ada")
    sister = console.stranger()
    link = await console.app.console_sessions.link("default", "telegram:main:42")
    assert (await sister.use(link)).status == 303
    return ada, sister
