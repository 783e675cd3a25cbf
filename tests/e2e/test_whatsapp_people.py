"""A person on WhatsApp is one to the chat, the terminal and HTTP, by number and by user id."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
import yaml

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.people import PersonId
from parley.app import App
from parley.cli.known_people import resolve_person
from parley.security.keys import token_key
from parley.security.tokens import TokenClaims, issue
from simulators.base import SimPerson
from simulators.whatsapp import WhatsAppSimulator
from tests.e2e.harness import Lab, app_on, configuration, running, simulated
from tests.e2e.test_memory import Talk
from tests.parley.cli.kit import parley


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    whatsapp = WhatsAppSimulator()
    async with running({"whatsapp": whatsapp}, tmp_path) as app:
        yield Lab(app, whatsapp)


def sim(lab: Lab) -> WhatsAppSimulator:
    assert isinstance(lab.platform, WhatsAppSimulator)
    return lab.platform


def talk(lab: Lab, person: SimPerson) -> Talk:
    return Talk(lab, person, lab.platform.direct(person))


async def known(app: App, id_: str) -> PersonId | None:
    """Return the person for whom `parley token whatsapp:main:ID` issues a token."""
    return await resolve_person(PersonId("whatsapp", "main", id_), app.storage.stores.states)


async def memories(app: App, person: PersonId) -> str:
    """Return the memories that HTTP returns for this person's token."""
    until = app.services.clock.now() + timedelta(days=1)
    token = issue(token_key(app.settings).get_or_create(), TokenClaims(person, "default", until))
    url = f"{app.local.base_url}/api/v1/brain/memories"
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.text()


def spellings(phone: str) -> list[str]:
    return [phone, f"+{phone}", f"+{phone[:2]} {phone[2:5]} {phone[5:]}"]


async def test_a_number_and_a_user_id_lead_to_the_same_memory(lab: Lab) -> None:
    ada = sim(lab).person("Ada")
    human = sim(lab).world.of(ada)
    assert human.bsuid != human.phone
    await talk(lab, ada).command("remember", "I collect zebra stamps")
    for id_ in (human.bsuid, *spellings(human.phone)):
        person = await known(lab.app, id_)
        assert person is not None, id_
        assert "zebra stamps" in await memories(lab.app, person), id_


async def test_a_person_known_by_number_first_stays_one_person(lab: Lab) -> None:
    ada = sim(lab).person_without_bsuid("Ada")
    phone = sim(lab).world.of(ada).phone
    await talk(lab, ada).command("remember", "I collect zebra stamps")
    assert await known(lab.app, f"+{phone}") == PersonId("whatsapp", "main", phone)
    sim(lab).gain_bsuid(ada, "US.13491208655302741918")
    await talk(lab, ada).command("remember", "I live in Rome")
    for id_ in (phone, f"+{phone}", "US.13491208655302741918"):
        person = await known(lab.app, id_)
        assert person == PersonId("whatsapp", "main", phone)
        result = await memories(lab.app, person)
        assert "zebra stamps" in result
        assert "Rome" in result


async def test_a_reassigned_number_gives_no_access_to_its_former_owner(lab: Lab) -> None:
    ada, ben = sim(lab).person("Ada"), sim(lab).person("Ben")
    await talk(lab, ada).command("remember", "I collect zebra stamps")
    number = sim(lab).world.of(ada).phone
    before = await known(lab.app, number)
    sim(lab).world.of(ada).phone = "491555999999"
    sim(lab).world.of(ben).phone = number
    await talk(lab, ben).command("remember", "I live in Rome")
    after = await known(lab.app, number)
    assert before is not None
    assert after is not None
    assert before != after
    assert "zebra" in await memories(lab.app, before)  # a token of then is Ada's for good
    assert "zebra" not in await memories(lab.app, after)


async def test_an_ambiguous_number_is_refused(lab: Lab) -> None:
    ada, ben = sim(lab).person_without_bsuid("Ada"), sim(lab).person("Ben")
    number = sim(lab).world.of(ada).phone
    await talk(lab, ada).command("remember", "I collect zebra stamps")
    sim(lab).gain_bsuid(ada, "US.13491208655302741918")
    await talk(lab, ada).command("remember", "I live in Rome")
    sim(lab).world.of(ada).phone = "491555999999"
    sim(lab).world.of(ben).phone = number
    await talk(lab, ben).command("remember", "I live in Lyon")
    with pytest.raises(BadInput, match="write the one that you mean"):
        await known(lab.app, number)
    ben_is = await known(lab.app, sim(lab).world.of(ben).bsuid)
    assert ben_is is not None
    assert "Lyon" in await memories(lab.app, ben_is)


async def test_people_who_never_wrote_are_unknown(lab: Lab) -> None:
    assert await known(lab.app, "4915550999999") is None
    other = replace(PersonId("whatsapp", "main", "4915550999999"), platform="telegram")
    assert await resolve_person(other, lab.app.storage.stores.states) == other


async def test_the_command_line_accepts_both_ids(tmp_path: Path) -> None:
    whatsapp = WhatsAppSimulator()
    async with simulated({"whatsapp": whatsapp}) as port:
        whole = configuration({"whatsapp": whatsapp}, tmp_path, port)
        (tmp_path / "config").mkdir()
        (tmp_path / "config" / "parley.yaml").write_text(yaml.safe_dump(whole))
        async with app_on({"whatsapp": whatsapp}, tmp_path, port) as app:
            lab, ada = Lab(app, whatsapp), whatsapp.person("Ada")
            await talk(lab, ada).command("remember", "I collect zebra stamps")
            human = whatsapp.world.of(ada)
            for id_ in (f"+{human.phone}", human.bsuid):
                who = f"whatsapp:main:{id_}"
                made = await parley("token", who, cwd=tmp_path)
                assert f"For whatsapp:main:{human.bsuid}" in made.err
                listed = await parley("memory", "list", "--person", who, cwd=tmp_path)
                assert "zebra stamps" in listed.out
            nobody = await parley("token", "whatsapp:main:4915550999999", cwd=tmp_path)
            assert nobody.status == 1
            assert "Ask the person to write once" in nobody.err
