"""The language of a person: their app tells it, or they choose it, on every platform."""

import re
from pathlib import Path

from tests.e2e.conftest import only, open_lab, open_lab_with_model
from tests.e2e.harness import Lab
from tests.e2e.test_memory import direct

CHANGING = re.compile(
    r"Today is [^.]*|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8}\b"
)
"""Ids, which are drawn anew, and the time."""
TELL = only("discord", "slack-socket", "telegram-polling")


async def test_a_person_chooses_a_language(lab: Lab) -> None:
    ada = direct(lab)
    assert "**" not in (shown := (await ada.say("/language")).text)
    assert "日本語" in shown
    assert "Deutsch" in (await ada.say("/language Deutsch")).text
    assert "Deutsch" in (await ada.say("/language")).text.split("English")[0]


@TELL
async def test_the_app_of_a_person_tells_their_language(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path) as lab:
        ada = direct(lab)
        lab.platform.world.languages[ada.person.id] = "fr"  # type: ignore[attr-defined]  # these have one
        assert "Français" in (await ada.command("language")).text.split("English")[0]
        stored = await lab.app.storage.people_languages.of(
            "default", f"{lab.platform.platform}:main:{ada.person.id}"
        )
        assert (stored.chosen, stored.told) == ("", "fr")


@TELL
async def test_a_choice_wins_over_the_app_and_the_app_over_the_installation(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab(variant, tmp_path, {"languages": {"default": "it"}}) as lab:
        ada, eve = direct(lab), direct(lab, "Eve")
        told = lab.platform.world.languages  # type: ignore[attr-defined]  # these have one
        told[ada.person.id], told[eve.person.id] = "fr", "sw"
        assert "Italiano" in (await eve.command("language")).text.split("English")[0]
        assert "Français" in (await ada.command("language")).text.split("English")[0]
        await ada.command("language", "Deutsch")
        assert "Deutsch" in (await ada.command("language")).text.split("English")[0]
        assert "Français" in (await ada.command("language", "auto")).text


@only("telegram-polling")
async def test_the_model_reads_the_same_whatever_language_the_person_reads(
    variant: str, tmp_path: Path
) -> None:
    asked: dict[str, list[str]] = {}
    for language in ("en", "ja", "ar"):
        folder = tmp_path / language
        folder.mkdir()
        async with open_lab_with_model(variant, folder) as (lab, model):
            ada = direct(lab)
            lab.platform.world.languages[ada.person.id] = language  # type: ignore[attr-defined]
            await ada.command("remember", "I drink tea")
            await ada.command("soul", "Answer briefly.")
            await ada.say("what do I drink?")
            await ada.say("and why?")
            asked[language] = [CHANGING.sub("…", str(body)) for body in model.bodies]
    assert "I drink tea" in asked["en"][-1]
    assert asked["ja"] == asked["ar"] == asked["en"]
