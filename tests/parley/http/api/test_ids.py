"""Access over HTTP is decided by all ids of a person, and by those of linked identities."""

from datetime import timedelta
from pathlib import Path

import pytest

from gateway.people import KnownIds, PersonId
from gateway.ports import keep_ids
from gateway.ports.clock import SystemClock
from memory.ports.people import LinkSide
from parley.app import App
from parley.config import Settings
from parley.http.api.authentication import Authenticator
from parley.http.api.errors import Refused
from parley.security.keys import token_key
from parley.security.tokens import TokenClaims, issue, person_of
from tests.parley.http.api.kit import ApiClient, Program, running, settings_in


@pytest.mark.parametrize("listed", ["whatsapp:4915550001", "4915550001", "whatsapp:DE.eve"])
async def test_a_block_matches_every_id_that_the_platform_reports_for_a_person(
    tmp_path: Path, listed: str
) -> None:
    async with running(settings_in(tmp_path, access={"blocked_users": [listed]})) as program:
        await wrote(program, KnownIds(("DE.eve", "4915550001")))
        response = await whatsapp(program)("GET", "/brain")
        assert (response.status, response.code) == (403, "not_served")


async def test_a_former_id_can_block_a_person_but_gives_no_rights(tmp_path: Path) -> None:
    former = KnownIds(("DE.eve", "4915550002"), ("4915550001",))
    for access, status in (
        ({"blocked_users": ["4915550001"]}, 403),
        ({"allowed_users": ["4915550001"]}, 403),
        ({"allowed_users": ["4915550002"]}, 200),
        ({"allowed_users": ["whatsapp:DE.eve"]}, 200),
    ):
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        async with running(settings_in(folder, access=access)) as program:
            await wrote(program, former)
            assert (await whatsapp(program)("GET", "/brain")).status == status


async def test_a_role_requires_an_id_that_the_platform_reports_now(tmp_path: Path) -> None:
    access = {"operators": ["whatsapp:4915550002"]}
    body = {"content": "We deploy on Tuesdays", "type": "instruction", "scope": "global"}
    async with running(settings_in(tmp_path, access=access)) as program:
        eve = whatsapp(program)
        assert (await eve("POST", "/brain/memories", body)).status == 202
        await wrote(program, KnownIds(("DE.eve", "4915550002")))
        assert (await eve("POST", "/brain/memories", body)).status == 201


async def test_a_person_whose_other_ids_are_unknown_must_write_first(tmp_path: Path) -> None:
    settings = settings_in(
        tmp_path,
        platforms={"web": {"enabled": True}, "whatsapp": WHATSAPP},
    )
    app = App(settings)
    await app.storage.start()
    try:
        stores = app.storage.memory
        key = token_key(settings)
        authenticator = Authenticator(key, stores.tokens, stores.agents, app.services)
        holder = authenticator.holder(f"Bearer {held(settings)}")
        with pytest.raises(Refused) as refused:
            await authenticator.caller_of(holder)
        assert (refused.value.status, refused.value.code) == (403, "not_served")
        state = app.storage.stores.states.of("whatsapp", "main")
        await keep_ids(state, "DE.eve", KnownIds(("DE.eve", "")))
        caller, _ = await authenticator.caller_of(holder)
        assert caller.principal.person.id == "DE.eve"
    finally:
        await app.storage.stop()


async def test_a_block_applies_to_every_linked_identity(tmp_path: Path) -> None:
    access = {"blocked_users": ["whatsapp:4915550001"]}
    async with running(settings_in(tmp_path, access=access)) as program:
        ada = program.api_client("ada")
        assert (await ada("GET", "/brain")).status == 200
        await wrote(program, KnownIds(("DE.eve", "4915550001")))
        await linked(program, ada.principal.person, person_of("whatsapp:main:DE.eve"))
        response = await ada("GET", "/brain")
        assert (response.status, response.code) == (403, "not_served")
        assert (await program.api_client("eve")("GET", "/brain")).status == 200


WHATSAPP = {
    "access_token": "EAAsimulated",
    "app_secret": "app-secret-app-secret-app-secret",
    "verify_token": "verify",
    "phone_number_id": "111",
}


async def wrote(program: Program, known: KnownIds) -> None:
    """Somebody wrote on WhatsApp, who is known there by these ids."""
    state = program.app.storage.stores.states.of("whatsapp", "main")
    await keep_ids(state, "DE.eve", known)


def held(settings: Settings) -> str:
    until = SystemClock().now() + timedelta(days=1)
    key = token_key(settings).get_or_create()
    return issue(key, TokenClaims(person_of("whatsapp:main:DE.eve"), "default", until))


def whatsapp(program: Program) -> ApiClient:
    """The person of WhatsApp, with a token."""
    return ApiClient(program, "eve", held(program.settings))


async def linked(program: Program, one: PersonId, other: PersonId) -> None:
    links, now = program.app.storage.memory.links, SystemClock().now()
    until = now + timedelta(minutes=10)
    await links.offer("default", LinkSide(str(one)), "code", until)
    await links.redeem("default", LinkSide(str(other)), "code", "r", now, until)
    for person in (other, one):
        await links.confirm("default", str(person), "r", f"by {person}", now)
