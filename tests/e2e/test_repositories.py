"""Questions about repositories in chats: answered with citations, in the permitted places only."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from simulators.slack import SlackSimulator
from tests.e2e.conftest import open_lab
from tests.e2e.harness import Lab
from tests.e2e.test_memory import Talk
from tests.memory.knowledge.indexing import COMMIT, index
from tests.support.databases import migrated_database
from tests.support.servers import PostgresServer

WORD: Final = "canary7f3a91"
TEXTS: Final = {
    "docs/adrs/ADR-007-queue.md": f"# ADR-007: Use a queue\n\nStatus: Accepted\n\n"
    f"Orders come in bursts ({WORD}), so we use a queue.\n",
    "shop/orders.py": f"def place_order(order):\n    # {WORD}\n    return queue.put(order)\n",
    "docs/incidents/2026-10-outage.md": f"# Outage of the queue\n\nThe queue was full ({WORD}).\n",
}
WHY: Final = "why did we use a queue?"
QUESTIONS: Final = (
    WHY, "where do we place an order?", "was there an outage of the queue?", WORD + "?",
    'use the tool search_decisions {"query": "queue"}',
    'use the tool search_code_kb {"query": "place_order", "limit": 50}',
)  # fmt: skip


@asynccontextmanager
async def slack_lab(
    folder: Path, database: str, overrides: Mapping[str, object] | None = None
) -> AsyncIterator[tuple[Lab, SlackSimulator]]:
    hot = f"sqlite:///{folder / 'hot.db'}"
    stores = {"database": {"url": database}, "storage": {"url": hot}} if database else {}
    async with open_lab("slack-http", folder, {**stores, **(overrides or {})}) as lab:
        slack = lab.platform
        assert isinstance(slack, SlackSimulator)
        yield lab, slack


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
def database(request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return ""
    server: PostgresServer = request.getfixturevalue("postgres")
    return migrated_database(server)


async def test_a_question_is_answered_with_a_citation(tmp_path: Path, database: str) -> None:
    async with slack_lab(tmp_path, database) as (lab, slack):
        staff = Talk(lab, slack.person("Ada"), slack.room("staff", "private"))
        unknown = await staff.say(WHY)
        assert "ADR-007" not in unknown.text, "nothing is indexed yet"
        await index(lab.app.settings, TEXTS, f"slack:main:{slack.world.team}")
        answer = await staff.say(WHY)
        assert "so we use a queue" in answer.text
        assert f"docs/adrs/ADR-007-queue.md:1-5@{COMMIT[:12]}" in answer.text
        assert f"github.com/example/shop/blob/{COMMIT}/docs/adrs/ADR-007-queue.md#L1-L5" in str(
            answer.payload
        )
        where = await staff.say("where do we place an order?")
        assert f"shop/orders.py:1-3@{COMMIT[:12]}" in where.text
        nothing = await staff.say("why did we paint zebras?")
        assert "I do not find it in the repositories." in nothing.text


async def test_private_code_reaches_its_audience_only(tmp_path: Path, database: str) -> None:
    async with slack_lab(tmp_path, database) as (lab, slack):
        await index(lab.app.settings, TEXTS, f"slack:main:{slack.world.team}")
        ada, eve = slack.person("Ada"), slack.person("Eve")
        guest, mallory = slack.person("Gus"), slack.outsider("Mallory")
        await slack.make_guest(guest)
        shared = slack.room("shared", "private")
        slack.share(shared)
        places = [
            Talk(lab, ada, slack.room("general")),
            Talk(lab, eve, slack.direct(eve)),
            Talk(lab, ada, shared),
            Talk(lab, mallory, shared),
            Talk(lab, guest, slack.room("staff", "private")),
            Talk(lab, guest, slack.direct(guest)),
        ]
        for talk in places:
            for question in QUESTIONS:
                reply = await talk.say(question)
                assert WORD not in reply.text.replace(question, ""), (talk.person, talk.room)
        allowed = Talk(lab, ada, slack.room("staff", "private"))
        assert WORD in (await allowed.say(WHY)).text
        home = Talk(lab, ada, slack.direct(ada))
        assert WORD not in (await home.say(WHY)).text, "no project is chosen"
        await home.command("project", "1")
        assert WORD in (await home.say(WHY)).text


async def test_private_code_of_an_answer_is_not_recalled_elsewhere(
    tmp_path: Path, database: str
) -> None:
    """Also for a person who allows their own memories in rooms."""
    async with slack_lab(tmp_path, database) as (lab, slack):
        await index(lab.app.settings, TEXTS, f"slack:main:{slack.world.team}")
        ada = slack.person("Ada")
        general = Talk(lab, ada, slack.room("general"))
        await general.say("hello")
        home = Talk(lab, ada, slack.direct(ada))
        await home.command("project", "1")
        assert WORD in (await home.say(WHY)).text
        assert WORD in (await Talk(lab, ada, slack.room("staff", "private")).say(WHY)).text
        await home.command("privacy", "rooms on")
        for question in (
            "what did you tell me about the queue?",
            'use the tool memory_search {"query": "why use a queue, orders, bursts"}',
        ):
            reply = await general.say(question)
            assert WORD not in reply.text
