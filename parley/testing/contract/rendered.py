"""The platform accepts rendered parts unchanged and complete, with their buttons."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from gateway.llm.offline_samples import SAMPLES, everything, long_text
from gateway.message import Button, Part
from gateway.platforms import renderer_of
from gateway.render import render, render_with
from parley.testing.stage import Stage
from simulators.base import Shown

NASTY: Final = """\
<b>no bold</b> &amp; a < b > c && "quotes" <@U123> <!here> @everyone [not a link]( `tick

````
```
a fence in a fence & <tags>
```
````

> quoted **bold *both* bold** ~~gone~~ ||secret||

\\*escaped\\* _under_score_ snake_case_name 2 * 3 ünïcödé 🎉👩‍👩‍👧

| a \\| b | `c` |
|---|---|
| **x** | <y> |
"""
TEXTS: Final = {
    **{name: "\n\n".join(sample) for name, sample in SAMPLES.items()},
    "everything": everything(),
    "long": long_text(),
    "nasty": NASTY,
}
BUTTONS: Final = (Button("Delete", "confirm:x:yes"), Button("Keep", "confirm:x:no"))


@pytest.mark.parametrize("markdown", TEXTS.values(), ids=list(TEXTS))
async def test_the_platform_accepts_every_part_unchanged_and_no_word_is_lost(
    stage: Stage, markdown: str
) -> None:
    place = (await stage.hear()).place
    parts = render_with(renderer_of(stage.case.manifest), markdown)
    for number, part in enumerate(parts):
        await stage.adapter.send(stage.outbound("", place, part=part, key=f"long:{number}"))
    seen = await said_in_full(stage, parts)
    expected = words(" ".join(part.text for part in render(markdown, "plain")))
    assert expected <= words(" ".join(message.text for message in seen))


async def said_in_full(stage: Stage, parts: Sequence[Part]) -> list[Shown]:
    """Return the messages once every part has arrived; on other platforms a part is one message."""
    if not stage.case.whole_parts:
        ends = str(parts[-1].payload).split()[-1]
        return await stage.shown(
            stage.room, lambda messages: bool(messages) and messages[-1].text.endswith(ends)
        )
    seen = await stage.shown(stage.room, lambda messages: len(messages) == len(parts))
    for part, message in zip(parts, seen, strict=True):
        assert contains(message.payload, part.payload), "the platform got something else"
    return seen


async def test_the_last_part_of_an_answer_has_its_buttons(stage: Stage) -> None:
    place = (await stage.hear()).place
    parts = render_with(renderer_of(stage.case.manifest), "Forget **everything**?")
    outbound = stage.outbound("", place, part=parts[-1], buttons=BUTTONS)
    await stage.adapter.send(outbound)
    (seen,) = await stage.shown(stage.room, bool)
    offered = stage.adapter.capabilities.max_buttons >= len(BUTTONS)
    assert [one.label for one in seen.buttons] == (["Delete", "Keep"] if offered else [])
    assert words(seen.text) >= {"Forget", "everything"}


def words(text: str) -> set[str]:
    """The words of a text; addresses may be shown as links, numbers of a list by the platform."""
    every = re.findall(r"\w+", re.sub(r"https?://\S+", " ", text))
    return {word for word in every if not word.isdigit()}


def contains(sent: object, expected: object) -> bool:
    """True when `expected` is a part of the body of a request, unchanged."""
    if isinstance(expected, Mapping):
        return isinstance(sent, Mapping) and all(sent.get(k) == v for k, v in expected.items())
    if isinstance(sent, Mapping):
        return any(contains(value, expected) for value in sent.values())
    return sent == expected
