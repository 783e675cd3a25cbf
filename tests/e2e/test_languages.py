"""The language of a person: their app tells it, or they choose it, on every platform."""

from pathlib import Path

from tests.e2e.conftest import only, open_lab
from tests.e2e.harness import Lab
from tests.e2e.test_memory import direct

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
