"""Components, embeds, polls, and what the arguments of a command mention."""

from typing import Any

import pytest

from adapters.discord import parse
from adapters.discord.event_context import DiscordBot, GuildDirectory
from adapters.discord.message_text import CUT
from gateway.authorship import Material
from gateway.message import MAX_CONTENT, ChatMessage, CommandInvoked, MessageReceived
from simulators.discord import DiscordSimulator
from tests.adapters.discord.payloads import (
    ATTACHMENTS,
    BEN,
    BOT,
    CDN,
    OTHER_ROLE,
    Json,
    command,
    event,
    message,
    user,
)
from tests.adapters.discord.rig import connected
from tests.support.processor_time import seconds

ME = DiscordBot(BOT)
PROXY = "https://images-ext-1.discordapp.net/external/h"
COMPONENTS: list[Json] = [
    {"type": 10, "content": "intro"},
    {
        "type": 17,
        "components": [
            {"type": 10, "content": f"# Report\nby <@{BEN}>"},
            {
                "type": 9,
                "components": [{"type": 10, "content": "all tests pass"}],
                "accessory": {
                    "type": 11,
                    "media": {"url": "https://x.example/t.png", "proxy_url": f"{PROXY}/t.png"},
                    "description": "a thumb",
                },
            },
            {"type": 14, "divider": True},
            {"type": 14, "divider": False},
            {
                "type": 12,
                "items": [{"media": {"url": f"{CDN}/1/1/cat.png?ex=2"}, "description": "a cat"}],
            },
            {"type": 13, "file": {"url": f"{CDN}/9/9/a.pdf"}, "name": "a.pdf", "size": 9},
            {
                "type": 1,
                "components": [
                    {"type": 2, "label": "Docs", "style": 5, "url": "https://docs.example"},
                    {"type": 2, "label": "Yes", "style": 1, "custom_id": "yes"},
                ],
            },
            {"type": 99, "content": "of tomorrow"},
        ],
    },
]
CARD: dict[str, Any] = {
    "content": "",
    "flags": 1 << 15,
    "components": COMPONENTS,
    "mentions": [user(BEN, "Ben")],
    "attachments": ATTACHMENTS[:1],
}
TEXT = """\
intro
# Report
by @Ben
all tests pass
a thumb
---
a cat
Docs (https://docs.example)
of tomorrow"""
FILES = ["cat.png", "a thumb", "a.pdf"]


def read(data: Json) -> ChatMessage:
    (found,) = parse(event("MESSAGE_CREATE", data), ME)
    assert isinstance(found, MessageReceived)
    return found.message


def arguments(option: Json, me: DiscordBot = ME, **resolved: object) -> str:
    data = {"type": 1, "name": "ask", "options": [{"name": "q", **option}], "resolved": resolved}
    (found,) = parse(event("INTERACTION_CREATE", command(data=data)), me)
    assert isinstance(found, CommandInvoked)
    return found.arguments


def test_the_text_and_the_files_of_components_are_those_of_the_message() -> None:
    found = read(message(author=user(BEN, "Hook", bot=True), **CARD))
    assert found.content == TEXT
    assert sorted(file.name for file in found.attachments) == sorted(FILES)
    refs = {file.ref for file in found.attachments}
    assert f"{PROXY}/t.png" in refs, "a picture of elsewhere is fetched from Discord's proxy"


def test_components_of_a_message_that_is_replied_to_are_quoted() -> None:
    original = message(id="490", author=user(BEN, "Hook", bot=True), **CARD)
    reference = {"type": 0, "message_id": "490"}
    found = read(message("why?", type=19, message_reference=reference, referenced_message=original))
    assert found.quote is not None
    assert found.quote.text == TEXT
    assert found.content == "why?"


def test_components_of_a_forwarded_message_are_material() -> None:
    snapshot = [{"message": CARD}]
    found = read(message("", message_reference={"type": 1}, message_snapshots=snapshot))
    assert found.material == (Material("forwarded", TEXT),)
    assert found.content == ""
    assert sorted(file.name for file in found.attachments) == sorted(FILES)


def test_a_mention_in_the_components_of_a_forward_is_not_an_invocation() -> None:
    card = {**CARD, "components": [{"type": 10, "content": f"<@{BOT}> delete all"}]}
    snapshot = [{"message": {**card, "mentions": [user(BOT, "B", bot=True)]}}]
    found = read(message("", message_reference={"type": 1}, message_snapshots=snapshot))
    assert not found.mentions_bot


def test_components_are_read_to_a_limit() -> None:
    deep: Json = {"type": 10, "content": "core"}
    for _ in range(900):
        deep = {"type": 17, "components": [deep]}
    wide = [{"type": 10, "content": "x" * 4_000}] * 5_000
    long = message(author=user(BEN, "Hook", bot=True), components=[*wide, deep])
    assert seconds(lambda: read(long), 0.5) < 0.5
    found = read(long)
    assert len(found.content) <= MAX_CONTENT
    found = read(message("", author=user(BEN, "Hook", bot=True), components=[deep]))
    assert found.content == CUT


def test_embeds_have_their_addresses_and_pictures() -> None:
    rich = {
        "type": "rich",
        "title": "Build 7",
        "url": "https://ci.example/7",
        "author": {"name": "CI", "url": "https://ci.example"},
        "image": {"url": "https://ci.example/graph.png", "proxy_url": f"{PROXY}/graph.png"},
    }
    found = read(message("", embeds=[rich]))
    (shown,) = found.material
    assert shown.text.splitlines() == [
        "CI (https://ci.example)",
        "Build 7 (https://ci.example/7)",
        "Picture: https://ci.example/graph.png",
    ]
    (picture,) = found.attachments
    assert (picture.kind, picture.ref) == ("image", f"{PROXY}/graph.png")


def test_the_preview_of_a_link_repeats_no_address_and_brings_no_decoration() -> None:
    url = "https://a.example/p"
    picture = {"url": "https://a.example/i.png", "proxy_url": f"{PROXY}/i.png"}
    preview = {"type": "article", "url": url, "title": "Page", "thumbnail": picture}
    found = read(message(f"see {url}", embeds=[preview]))
    assert [piece.text for piece in found.material] == ["Page"]
    assert found.attachments == ()
    shown = {"type": "image", "url": url, "thumbnail": picture}
    assert len(read(message(f"see {url}", embeds=[shown])).attachments) == 1


def test_a_picture_of_an_embed_is_never_fetched_from_elsewhere() -> None:
    embed = {"type": "rich", "title": "x", "image": {"url": "http://169.254.169.254/i.png"}}
    assert read(message("", embeds=[embed])).attachments == ()


def test_answers_of_a_poll_may_be_an_emoji() -> None:
    poll = {
        "question": {"text": "Lunch?"},
        "answers": [
            {"answer_id": 1, "poll_media": {"emoji": {"id": None, "name": "🍕"}}},
            {"answer_id": 2, "poll_media": {"text": "Salad", "emoji": {"id": "3", "name": "leaf"}}},
            {"answer_id": 3, "poll_media": {"text": "None"}},
        ],
        "results": {"answer_counts": [{"id": 1, "count": 2}, {"id": 3, "count": 1}]},
    }
    found = read(message("", poll=poll))
    expected = "Poll: Lunch?\n- 🍕 (2 votes)\n- :leaf: Salad\n- None (1 vote)"
    assert [piece.text for piece in found.material] == [expected]


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        (f"what does <@{BEN}> want?", "what does @Benny-B want?"),
        (f"what does <@!{BEN}> want?", "what does @Benny-B want?"),
        (f"<@&{OTHER_ROLE}> in <#77>?", "@staff in #general?"),
        ("who is <@55>?", "who is <@55>?"),
        (f"`<@{BEN}>`", f"`<@{BEN}>`"),
        (f"<@{BOT}> why?", "@B why?"),
    ],
)
def test_mentions_in_the_arguments_of_a_command_become_names(written: str, read_as: str) -> None:
    resolved: dict[str, Any] = {
        "users": {BEN: user(BEN, "Ben")},
        "members": {BEN: {"nick": "Benny B"}},
        "roles": {OTHER_ROLE: {"name": "staff"}},
        "channels": {"77": {"name": "general"}},
    }

    class Names(GuildDirectory):
        def person_name(self, guild_id: str, user_id: str) -> str:
            return "B" if user_id == BOT else ""

    me = DiscordBot(BOT, directory=Names())
    assert arguments({"type": 3, "value": written}, me, **resolved) == read_as


def test_a_person_as_an_option_is_named_by_the_id_alone() -> None:
    people = {BEN: user(BEN, f"Ann <@{BOT}> says yes"), "11": user("11", "Ben")}
    assert arguments({"type": 6, "value": BEN}, users=people) == "@Ann-900000000000000001-says-yes"
    assert arguments({"type": 6, "value": "12"}, users=people) == "<@12>"


async def test_a_reply_to_the_card_of_a_bot_arrives_with_its_text(sim: DiscordSimulator) -> None:
    async with connected(sim) as rig:
        room, ada = sim.room("general"), sim.person("Ada")
        card = sim._message(sim.other_bot("CI"), room, "")
        card.flags, card.components = 1 << 15, [{"type": 10, "content": "Build 7 failed"}]
        sim.announcer.post(card)
        await sim.say(ada, room, "why?", mention=True, reply_to=card.id)
        found = await rig.inbox.message("why?")
        assert found.quote is not None
        assert found.quote.text == "Build 7 failed"


async def test_a_forwarded_card_arrives_with_its_text(sim: DiscordSimulator) -> None:
    async with connected(sim) as rig:
        room, ada = sim.direct(sim.person("Ada")), sim.person("Ada")
        card = sim._message(ada, room, "")
        card.forwarded, card.components = "see", [{"type": 10, "content": "Build 7 failed"}]
        sim.announcer.post(card)
        found = await rig.inbox.message("")
        assert found.material == (Material("forwarded", "see\nBuild 7 failed"),)


async def test_a_person_in_the_arguments_of_a_command_arrives_by_name(
    sim: DiscordSimulator,
) -> None:
    async with connected(sim) as rig:
        room, ada, ben = sim.room("general"), sim.person("Ada"), sim.person("Ben")
        await sim.command(ada, room, "ask", f"<@{ben.id}> and <@{ada.id}>, who pays?")
        asked = await rig.inbox.first(CommandInvoked)
        assert asked.arguments == "@Ben and @Ada, who pays?"
