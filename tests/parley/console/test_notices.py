"""The sentence after an action: shown once, and never by an address."""

import re

from parley.console.routes import ROUTES
from parley.console.security import NOTICE
from tests.parley.console.kit import OPERATOR, OWNER, PERSON, Console

SENTENCES = [str(route.done) for route in ROUTES if route.done]


async def test_no_address_shows_the_sentence_of_an_action(console: Console) -> None:
    olga = await console.visitor(OPERATOR)
    for route in ROUTES:
        if not route.done:
            continue
        page = route.then.replace("{id}", "x")
        for query in (f"done={route.name}", f"notice={route.done!s}", f"said={route.done!s}"):
            text = (await olga.get(f"{page}?{query}")).text
            assert str(route.done) not in text, (route.name, query)
    assert "The approval is revoked" not in (await olga.get("/access?done=revoke_approval")).text


async def test_the_sentence_is_shown_once(console: Console) -> None:
    ada = await console.visitor(PERSON)
    done = await ada.post("/account/zone", {"zone": "Europe/Zurich"})
    assert (done.status, done.location) == (303, "/console/account")
    assert "The time zone is changed." in (await ada.get("/account")).text
    assert ada.cookies[NOTICE] == ""
    assert "The time zone is changed." not in (await ada.get("/account")).text


async def test_a_forged_or_foreign_notice_is_not_shown(console: Console) -> None:
    ada, oona = await console.visitor(PERSON), await console.visitor(OWNER)
    await ada.post("/account/zone", {"zone": "Europe/Zurich"})
    genuine = ada.cookies[NOTICE]
    name, until, signature = genuine.split(".")
    for value in (
        f"revoke_approval.{until}.{signature}",
        f"{name}.{int(until) + 9}.{signature}",
        f"{name}.{until}.",
        f"{name}.{until}.ä",
        "revoke_approval",
        "..",
        genuine,  # of another session
    ):
        oona.cookies[NOTICE] = value
        text = (await oona.get("/account")).text
        assert not [one for one in SENTENCES if one in text], value


async def test_no_parameter_of_a_page_becomes_a_statement(console: Console) -> None:
    """What an address holds stands in fields of forms only, never in a sentence of the page."""
    owner = await console.visitor(OWNER)
    shown = list[str]()
    mark = "web:main:everything-is-fine"
    for route in ROUTES:
        if route.method != "GET" or not route.template or "{id}" in route.path:
            continue
        for name in route.params.model_fields:
            values = {**route.example, name: mark}
            if name == "project" and "of" in route.params.model_fields:
                values["of"] = "project"
            query = "&".join(f"{key}={value}" for key, value in values.items())
            text = (await owner.get(f"{route.path}?{query}")).text
            outside = re.sub(r'"[^"]*"|<option[^>]*>[^<]*</option>', "", text)
            if mark in outside:
                shown.append(f"{route.path}?{name}")
    assert shown == []
