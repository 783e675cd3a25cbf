"""The tutorial of the features is followed in the demo: what it says is seen, is seen."""

import re
from collections.abc import Iterator
from typing import Final

from parley.demo.documents import LEASE
from parley.demo.player import CLOCK, Player, SceneOutcome
from parley.demo.run import running
from parley.demo.story import Expect, Scene
from parley.demo.world import DIRECT, Where
from tests.docs.blocks import ROOT

PAGE: Final = ROOT / "docs" / "tutorials" / "features.md"
PLACE: Final = re.compile(r"^Choose \*\*(\w+)\*\*, \*(?:#(\w+)|Direct message)\*")
ROW: Final = re.compile(r"^\| (Ada|Ben|Cleo) \| `([^`]+)`(.*?) \| (.+) \|$")
SILENCE: Final = "no answer"
WITHOUT_MENTION: Final = ", without *Mention*"
WITH_FILE: Final = f", with `{LEASE}`"


def steps() -> Iterator[tuple[Scene, str]]:
    """The messages of the page in their places, each with what is seen."""
    place = ("", "")
    for line in PAGE.read_text("utf-8").splitlines():
        if chosen := PLACE.match(line):
            place = (chosen[1].lower(), chosen[2] or DIRECT)
        if row := ROW.match(line):
            assert row[3] in ("", WITHOUT_MENTION, WITH_FILE), line
            yield scene(Where(*place, row[1]), row[2], row[3], row[4]), row[4]


def scene(where: Where, written: str, how: str, seen: str) -> Scene:
    expect = Expect.SILENCE if seen == SILENCE else Expect.ANSWER
    return Scene(
        written,
        "a step of the page",
        where,
        "" if written.startswith("/") else written.replace("{", "{{").replace("}", "}}"),
        command=written.removeprefix("/") if written.startswith("/") else "",
        mention=where.room != DIRECT and how != WITHOUT_MENTION,
        file=LEASE if how == WITH_FILE else "",
        expect=Expect.REMINDED if CLOCK in seen else expect,
    )


def is_seen(told: str, outcome: SceneOutcome) -> bool:
    """Return True if the answers have the words of the page in this order; `…` is any text."""
    shown = " ".join(" ".join(one.shown.text for one in outcome.answers).split())
    words = ".*?".join(re.escape(part.strip()) for part in told.split("…"))
    return re.search(words, shown.replace("`", "")) is not None


async def test_every_step_shows_what_the_page_says() -> None:
    told = list(steps())
    assert {one.where.platform for one, _ in told} == {"discord", "slack", "telegram", "whatsapp"}
    assert len(told) == 11
    async with running(0, {}) as demo:
        player = Player(demo.world, demo.app.decisions)
        outcomes = [outcome async for outcome in player.play([one for one, _ in told])]
    failed = {
        outcome.scene.name: [one.shown.text for one in outcome.answers]
        for outcome, (_, seen) in zip(outcomes, told, strict=True)
        if not outcome.ok or (seen != SILENCE and not is_seen(seen, outcome))
    }
    assert failed == {}
    [chart] = [one for one in outcomes if "draw_chart" in one.scene.name]
    assert [file.mime for one in chart.answers for file in one.shown.files] == ["image/png"]
