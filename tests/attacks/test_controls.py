"""The checks of the suite can fail: permitted people take the same steps, and are detected."""

import pytest

from gateway.immutable import replace
from tests.attacks.conftest import Theatre
from tests.attacks.rows.contradictions import (
    asks_the_api,
    plants_pairs,
    presses_made_up,
    tries_all,
    unchanged,
)
from tests.attacks.rows.identity import asks_directly, project
from tests.attacks.scene import GotThrough, Scene
from tests.attacks.steps import not_remembered, says
from tests.attacks.table import EVERYWHERE, ROOMS

pytestmark = [
    pytest.mark.asyncio(loop_scope="package"),
    pytest.mark.xdist_group("attacks-sqlite"),
]


async def opened(theatre: Theatre, platform: str) -> Scene:
    """A scene on SQLite in which Ada counts as an attacker on her own data."""
    scene = Scene(await theatre.stage("sqlite", "open"), platform)
    scene.begin()
    scene.attackers.add("ada")
    return scene


def disown(scene: Scene) -> None:
    """From now on nobody may read any canary."""
    scene.canaries = [replace(one, owners=frozenset()) for one in scene.canaries]


@pytest.mark.parametrize("platform", EVERYWHERE)
async def test_a_canary_in_a_prompt_is_detected(theatre: Theatre, platform: str) -> None:
    scene = await opened(theatre, platform)
    await scene.plant("ada")
    scene.readings.clear()
    await scene.say("ada", 'CALL memory_search {"query": "drawer"}')
    scene.judge()
    disown(scene)
    with pytest.raises(GotThrough, match="in prompt"):
        scene.judge()


@pytest.mark.parametrize("platform", ROOMS)  # WhatsApp takes no file of this type
async def test_a_canary_in_a_message_and_in_a_file_is_detected(
    theatre: Theatre, platform: str
) -> None:
    scene = await opened(theatre, platform)
    await scene.plant("ada")
    scene.readings.clear()
    await scene.command("ada", "privacy", "export")
    disown(scene)
    with pytest.raises(GotThrough, match="ada read ada_memory in message"):
        scene.judge()


@pytest.mark.parametrize("platform", EVERYWHERE)
async def test_an_explicit_statement_of_a_person_becomes_a_memory(
    theatre: Theatre, platform: str
) -> None:
    """Otherwise the rows on poisoned memory would prove nothing."""
    scene = await opened(theatre, platform)
    sentence = "I like $mark tea"
    order = '{"type": "fact", "content": "I like $mark tea", "quote": "I like $mark tea"}'
    await says("ada", f"{sentence}. CALL memory_store {order}")(scene)
    with pytest.raises(GotThrough, match="became a memory of ada"):
        await not_remembered("ada")(scene)


@pytest.mark.parametrize("platform", ROOMS)
async def test_members_of_a_project_read_its_project_notes(theatre: Theatre, platform: str) -> None:
    scene = await opened(theatre, platform)
    await project(scene)
    scene.readings.clear()
    await asks_directly(scene)
    with pytest.raises(GotThrough, match="mallory read bible"):
        scene.judge()


async def test_a_configured_secret_in_a_message_and_in_the_log_is_detected(
    theatre: Theatre,
) -> None:
    scene = await opened(theatre, "telegram")
    secret = scene.stage.secrets[0]
    await scene.say("mallory", f"SAY {secret}")
    with pytest.raises(GotThrough, match="mallory read a secret"):
        scene.judge()
    scene = await opened(theatre, "telegram")
    scene.stage.log.write(secret)
    with pytest.raises(GotThrough, match="the log holds a secret"):
        scene.judge()


@pytest.mark.parametrize("platform", EVERYWHERE)
async def test_a_person_settles_their_own_pair_by_a_button(theatre: Theatre, platform: str) -> None:
    """Otherwise the rows on contradictions would prove nothing."""
    scene = await opened(theatre, platform)
    await plants_pairs(scene)
    await unchanged(scene)
    with pytest.raises(GotThrough, match="the pairs are"):
        await presses_made_up(scene, by="ada")


async def test_a_person_settles_their_own_pair_by_id_and_over_the_api(theatre: Theatre) -> None:
    scene = await opened(theatre, "telegram")
    await plants_pairs(scene)
    with pytest.raises(GotThrough, match="settled with one"):
        await tries_all(scene, await scene.handle("ada"))
    with pytest.raises(GotThrough, match="the pairs are"):
        await unchanged(scene)
    scene = await opened(theatre, "telegram")
    await plants_pairs(scene)
    with pytest.raises(GotThrough, match="settle answers 200"):
        await asks_the_api(scene, by="ada")
