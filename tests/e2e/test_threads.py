"""Commands in the threads of Slack, which has no slash commands there."""

from pathlib import Path
from typing import Final

import pytest

from tests.e2e.conftest import VARIANTS, only
from tests.e2e.harness import FAST, Lab, app_on, by_bot, simulated
from tests.support.held_model import HeldModel

SLACK: Final = only("slack-socket", "slack-http")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> HeldModel:
    held = HeldModel()
    monkeypatch.setattr("parley.wiring.model.build_provider", lambda *_: held)
    return held


@SLACK
@pytest.mark.parametrize("said", ["/stop", "stop"])
async def test_a_mention_with_the_command_applies_to_the_conversation_of_the_thread(
    variant: str, model: HeldModel, tmp_path: Path, said: str
) -> None:
    slack = VARIANTS[variant]()
    platforms, overrides = {"slack": slack}, {"delivery": {**FAST, "live": False}}
    async with (
        simulated(platforms) as port,
        app_on(platforms, tmp_path, port, overrides) as app,
    ):
        lab, ada, room = Lab(app, slack), slack.person("Ada"), slack.room("general")
        thread = await slack.open_thread(ada, room, "whales")
        await slack.say(ada, thread, "what is a whale?", mention=True)
        await model.asked()
        await slack.command(ada, room, "stop")
        (answer,) = await lab.answers(room, 1)
        assert answer.text.startswith(
            "There is nothing to stop. Each of my answers here has its own thread."
        )
        assert "@Parley /stop" in answer.text
        await slack.say(ada, thread, said, mention=True)
        await slack.wait_for(thread, lambda seen: "Stopped." in [m.text for m in by_bot(seen)])
        assert [m.text for m in await lab.quiet(thread)] == ["Stopped."]
        assert len(model.requests) == 1, "the command is no question"


@SLACK
async def test_the_conversation_of_a_thread_is_shown_and_cleared_inside_it(
    variant: str, model: HeldModel, tmp_path: Path
) -> None:
    slack = VARIANTS[variant]()
    platforms = {"slack": slack}
    async with simulated(platforms) as port, app_on(platforms, tmp_path, port) as app:
        lab, ada, room = Lab(app, slack), slack.person("Ada"), slack.room("general")
        thread = await slack.open_thread(ada, room, "whales")
        model.write("A mammal.")
        model.end()
        await slack.say(ada, thread, "what is a whale?", mention=True)
        await lab.answers(thread, 1)
        await slack.say(ada, thread, "/context", mention=True)
        reply = await lab.answers(thread, 2)
        assert "I see the last 2 messages of" in reply[1].text
        await slack.say(ada, thread, "/clear", mention=True)
        reply = await lab.answers(thread, 3)
        await slack.press(ada, thread, reply[2].id, "Delete history")
        await lab.until_stored([])
