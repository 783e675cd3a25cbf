"""One text that a client sent as several messages, over the real client libraries."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.message import MAX_CONTENT
from gateway.policy.cut_text import LEFT_OUT
from simulators.anthropic import AnthropicSimulator
from simulators.anthropic.answers import last_user_text
from simulators.base import SimFile
from simulators.telegram import TelegramSimulator
from tests.e2e.conftest import EVERY_CONNECTION, ROOMS, VARIANTS, only, open_lab_with_model
from tests.e2e.harness import FAST, Lab
from tests.support.databases import migrated_database
from tests.support.servers import PostgresServer, RedisServer

LIMITS = {"discord": 2_000, "slack": 4_000, "telegram": 4_096, "whatsapp": 65_536}
SETTINGS = {"delivery": FAST}
TAIL = "and that is the end. Please summarise all of it."


def pieces_of(lab: Lab) -> tuple[str, str]:
    """A text that is longer than a message, and the cut in the middle of a line."""
    limit = LIMITS[lab.platform.platform]
    head = ("The whale swims in the sea and " * 2_200)[:limit].rstrip()
    return head, TAIL


@asynccontextmanager
async def opened(
    variant: str, folder: Path, settings: Mapping[str, object] = SETTINGS
) -> AsyncIterator[tuple[Lab, AnthropicSimulator]]:
    """A lab whose model answers briefly; the bot of Telegram reads everything in groups."""
    async with open_lab_with_model(variant, folder, settings) as (lab, model):
        model.reply = lambda _: "a short answer"
        if isinstance(lab.platform, TelegramSimulator):
            lab.platform.api.privacy = False
        yield lab, model


@EVERY_CONNECTION
async def test_both_pieces_are_one_question_with_one_answer(variant: str, tmp_path: Path) -> None:
    async with opened(variant, tmp_path) as (lab, model):
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        head, tail = pieces_of(lab)
        await lab.platform.say(ada, room, head)
        await lab.platform.say(ada, room, tail)
        await lab.answer(room)
        assert len(await lab.quiet(room)) == 1
        (question,) = [last_user_text(body) for body in model.bodies]
        if variant == "whatsapp":  # its messages are longer than what is kept of one
            assert question == f"{head[:MAX_CONTENT]}{LEFT_OUT}{tail}"
            return
        assert question in (f"{head} {tail}", f"{head}{tail}")
        assert question == f"{head} {tail}" or len(head) == LIMITS[lab.platform.platform]


@ROOMS
async def test_in_a_room_the_rest_needs_no_mention(variant: str, tmp_path: Path) -> None:
    async with opened(variant, tmp_path) as (lab, model):
        ada, eve = lab.platform.person("Ada"), lab.platform.person("Eve")
        room = lab.platform.room("general")
        head, tail = pieces_of(lab)
        await lab.platform.say(ada, room, head[:-100], mention=True)
        await lab.platform.say(eve, room, "a word between the pieces")
        await lab.platform.say(ada, room, tail)
        await lab.platform.say(ada, room, "a word after them")
        await lab.answer(room)
        assert len(await lab.quiet(room)) == 1
        question = last_user_text(model.bodies[-1])
        assert question.endswith(TAIL)
        assert "between" not in question
        assert not [text for text in await lab.stored() if "a word" in text]


async def test_the_pieces_pass_through_redis_and_postgresql(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    stores = {
        **SETTINGS,
        "storage": {"url": redis.url},
        "database": {"url": migrated_database(postgres)},
    }
    async with opened("telegram-polling", tmp_path, stores) as (lab, model):
        ada = lab.platform.person("Ada of the pieces")
        room = lab.platform.room("general")
        head, tail = pieces_of(lab)
        await lab.platform.say(ada, room, head[:-100], mention=True)
        await lab.platform.say(ada, room, tail)
        await lab.answer(room)
        assert len(await lab.quiet(room)) == 1
        assert last_user_text(model.bodies[-1]).endswith(TAIL)


@only("discord", "slack-socket")
async def test_a_long_text_that_the_client_made_a_file_belongs_to_the_question(
    variant: str, tmp_path: Path
) -> None:
    async with opened(variant, tmp_path) as (lab, model):
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        file = SimFile("message.txt", "text/plain", b"A very long text. Please summarise it.")
        await lab.platform.say(ada, room, "", files=(file,))
        await lab.answer(room)
        texts = str(model.bodies[-1]["messages"])
        assert "Please summarise it." in texts
        pasted = "never an instruction" not in texts
        assert pasted is (variant == "discord"), "a snippet of Slack is marked by its mode"


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_every_platform_says_where_its_clients_cut(variant: str) -> None:
    limit = LIMITS[variant.partition("-")[0]]
    platform = VARIANTS[variant]().platform
    module = __import__(f"adapters.{platform}.manifest", fromlist=["MANIFEST"])
    assert limit in module.MANIFEST.text_cut.limits
