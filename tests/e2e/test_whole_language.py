"""No English remains where a person reads another language: every sentence of the catalogues stands
between marks, and a conversation shows nothing outside of them but data."""

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from gateway.languages.catalogue import catalogue_of, parts_of
from gateway.text import BUTTON, COMMAND, HOLE, MAX_DESCRIPTION, MAX_LABEL
from simulators.anthropic import Answer, AnthropicSimulator
from simulators.base import Fault, Shown
from tests.e2e.conftest import only, open_lab, open_lab_with_model
from tests.e2e.harness import Lab
from tests.e2e.test_memory import KEY, Talk, direct

LIMITS = {BUTTON: MAX_LABEL, COMMAND: MAX_DESCRIPTION}
MARKED = re.compile(r"⟦[^⟦⟧]*⟧")
REFERENCE = re.compile(r"\b[0-9a-f]{12,}\b")
WORD = re.compile(r"[A-Za-z]{2,}")
CONNECTIONS = only("discord", "slack-socket", "telegram-polling", "whatsapp")


def marked(msgid: str, context: str) -> str:
    limit = LIMITS.get(context, 0)
    if not limit or len(msgid) + 2 <= limit:
        return f"⟦{msgid}⟧"
    return f"⟦{''.join(f'{{{hole}}}' for hole in HOLE.findall(msgid)) or msgid[: limit - 2]}⟧"


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def in_marks(folder: Path) -> Mapping[str, object]:
    """Write a catalogue with every sentence between marks; returns the section `languages`."""
    template = files("gateway.languages").joinpath("catalogues", "parley.pot").read_text("utf-8")
    entries = ['msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n']
    for key in filter(None, catalogue_of(template, translated=False)):
        context, msgid, plural = parts_of(key)
        lines = [f"msgctxt {quoted(context)}"] if context else []
        lines.append(f"msgid {quoted(msgid)}")
        if plural:
            lines.append(f"msgid_plural {quoted(plural)}")
            lines.append(f"msgstr[0] {quoted(marked(msgid, context))}")
            lines.append(f"msgstr[1] {quoted(marked(plural, context))}")
        else:
            lines.append(f"msgstr {quoted(marked(msgid, context))}")
        entries.append("\n".join(lines) + "\n")
    catalogues = folder / "languages"
    catalogues.mkdir()
    (catalogues / "de.po").write_text("\n".join(entries), encoding="utf-8")
    return {"default": "de", "offered": ["en", "de"], "folder": str(catalogues)}


def english_in(shown: Shown, *data: str) -> list[str]:
    """Return the words outside of marks that are no data."""
    found = []
    for text in (shown.text, *(button.label for button in shown.buttons)):
        left = text
        for words in data:
            left = left.replace(words, "")
        while (less := MARKED.sub("", left)) != left:
            left = less
        found += WORD.findall(left)
    return found


@CONNECTIONS
async def test_every_end_of_an_answer_is_in_the_language_of_its_reader(
    variant: str, tmp_path: Path
) -> None:
    words = "Wale singen."
    ends = {
        "length": Answer(words, stop="max_tokens"),
        "reasoning": Answer("", stop="max_tokens"),
        "declined": Answer("", stop="refusal"),
        "declined after text": Answer(words, stop="refusal"),
        "empty": Answer(""),
    }
    languages = in_marks(tmp_path)
    async with open_lab_with_model(variant, tmp_path, {"languages": languages}) as (lab, model):
        ada = in_their_app(lab)
        for end, answer in ends.items():
            model.reply = lambda _, answer=answer: answer  # type: ignore[misc]  # binds this answer
            shown = await ada.say(f"what is a whale? {end}")
            assert "⟦" in shown.text, end
            assert not english_in(shown, words, *REFERENCE.findall(shown.text)), (end, shown.text)
        model.reply = lambda _: words
        await ada.say("and now?")
        history = str(model.bodies[-1])
        assert words in history
        assert "⟦" not in history, "the model reads no sentence of the program"
        assert "length limit" not in history


def in_their_app(lab: Lab) -> Talk:
    """Return somebody whose app tells the marked language, on platforms that tell one."""
    ada = direct(lab)
    if hasattr(lab.platform, "world") and hasattr(lab.platform.world, "languages"):
        lab.platform.world.languages[ada.person.id] = "de"
    return ada


@CONNECTIONS
async def test_a_failing_model_and_a_secret_are_told_in_the_language_of_the_reader(
    variant: str, tmp_path: Path
) -> None:
    model = AnthropicSimulator(reply=lambda _: "Gut.")
    await model.start()
    section = {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}
    settings = {"model": {**section, "retry_seconds": 1.0}, "languages": in_marks(tmp_path)}
    try:
        async with open_lab(variant, tmp_path, settings) as lab:
            ada = in_their_app(lab)
            secret = await ada.say(f"my key is {KEY}")
            assert "⟦" in secret.text
            assert not english_in(secret, "Gut."), secret.text
            model.faults.add(Fault("*", "server_error", times=99))
            failed = await ada.say("what is a whale?")
            assert "⟦" in failed.text
            assert not english_in(failed, *REFERENCE.findall(failed.text)), failed.text
    finally:
        await model.stop()
