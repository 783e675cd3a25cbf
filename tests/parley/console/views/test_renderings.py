"""An answer as each platform shows it."""

import pytest

from parley.console.views.renderings import MAX_PARTS
from tests.parley.console.kit import OPERATOR, OTHER, PERSON, Console
from tests.parley.console.talk import ROOM, Talk, direct

ANSWER = "**Roses** & `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |"
PLATFORMS = ["web", "discord", "slack", "telegram", "whatsapp"]


@pytest.fixture
def talk(console: Console) -> Talk:
    return Talk(console.app)


async def test_an_answer_is_shown_as_each_platform_receives_it(
    console: Console, talk: Talk
) -> None:
    turn = await talk(direct(PERSON), PERSON, "roses?", ANSWER)
    client = console.program.api_client(PERSON)
    answer = await client("GET", f"/console/conversations/{turn}/rendering")
    made = {one["platform"]: one for one in answer.json["renderings"]}
    assert list(made) == PLATFORMS
    assert [one["here"] for one in made.values()] == [True, False, False, False, False]
    assert made["whatsapp"]["parts"][0]["body"]["text"].startswith("*Roses* & `code`")
    assert made["telegram"]["parts"][0]["body"]["text"].startswith("<b>Roses</b> &amp;")
    assert '"blocks"' in made["slack"]["parts"][0]["body"]["text"]
    assert made["slack"]["parts"][0]["text"]["text"].startswith("Roses & code")
    page = await (await console.visitor(PERSON)).get(f"/conversations/{turn}/rendering")
    for shown in ("WhatsApp", "Slack", "&lt;b&gt;Roses&lt;/b&gt; &amp;amp;", "it went here"):
        assert shown in page.text


async def test_the_answer_in_a_direct_message_is_for_its_person_only(
    console: Console, talk: Talk
) -> None:
    turn = await talk(direct(PERSON), PERSON, "roses?", ANSWER)
    path = f"/conversations/{turn}/rendering"
    page = await (await console.visitor(OPERATOR)).get(path)
    assert "Only the person can see the text" in page.text
    assert "Roses" not in page.text
    assert (await (await console.visitor(OTHER)).get(path)).status == 404


async def test_a_long_hostile_answer_stays_within_the_bound(console: Console, talk: Talk) -> None:
    answer = "<script>alert(1)</script> \u202e&\n\n" * 40_000
    path = f"/conversations/{await talk(ROOM, PERSON, 'x', answer)}/rendering"
    page = await (await console.visitor(OPERATOR)).get(path)
    assert page.status == 200
    assert "<script>alert" not in page.text
    assert "only how its beginning looks" in page.text
    assert len(page.text.encode()) < 200_000
    result = (await console.program.api_client(OPERATOR)("GET", f"/console{path}")).json
    assert result["cut"]
    assert max(len(one["parts"]) for one in result["renderings"]) <= MAX_PARTS


async def test_a_message_without_an_answer_says_so(console: Console, talk: Talk) -> None:
    turn = await talk(ROOM, PERSON, "x", outcome="refused:limits")
    page = await (await console.visitor(PERSON)).get(f"/conversations/{turn}/rendering")
    assert "No answer is stored" in page.text
