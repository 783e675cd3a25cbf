"""The simulated Slack refuses what Slack refuses, in Slack's words."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from simulators.base import Fault
from simulators.slack import SlackSimulator


@pytest.fixture
async def slack() -> AsyncIterator[SlackSimulator]:
    simulator = SlackSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


@pytest.fixture
def client(slack: SlackSimulator) -> AsyncWebClient:
    section = slack.settings()
    return AsyncWebClient(
        token=str(section["bot_token"]), base_url=str(section["base_url"]), retry_handlers=[]
    )


def plain(text: str) -> dict[str, str]:
    return {"type": "plain_text", "text": text}


def button(**changes: Any) -> dict[str, Any]:
    return {"type": "button", "text": plain("Go"), "action_id": "a", "value": "v"} | changes


def rich(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text", "elements": list(elements)}


def cell(text: str) -> dict[str, str]:
    return {"type": "raw_text", "text": text}


SECTION = {"type": "section", "text": plain("x")}
TABLE = {"type": "table", "rows": [[cell("a")]]}


def data_table(rows: list[object], **fields: object) -> dict[str, object]:
    return {"type": "data_table", "caption": "c", "rows": rows, **fields}


RAW = {"type": "raw_text", "text": "a"}

WRONG: list[tuple[list[Any], str]] = [
    ([SECTION] * 51, "no more than 50 items allowed [json-pointer:/blocks]"),
    ([{"type": "section"}], "missing required field: text"),
    (
        [{"type": "section", "text": plain("x" * 3001)}],
        "must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
    ),
    ([{"type": "section", "text": plain("")}], "must be more than 0 characters"),
    ([{"type": "section", "text": {"type": "markdown", "text": "x"}}], "must be one of"),
    ([{"type": "section", "fields": [plain("x")] * 11}], "no more than 10 items"),
    ([{"type": "header", "text": plain("x" * 151)}], "must be less than 151 characters"),
    ([{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}], "must be one of: plain_text"),
    ([{"type": "actions", "elements": [button()] * 26}], "no more than 25 items"),
    ([{"type": "actions", "elements": []}], "missing required field: elements"),
    ([{"type": "actions", "elements": [button(), button()]}], "action_id already exists"),
    ([{"type": "actions", "elements": [button(text=plain("x" * 76))]}], "less than 76"),
    ([{"type": "actions", "elements": [button(value="x" * 2001)]}], "less than 2001"),
    ([{"type": "actions", "elements": [button(action_id="x" * 256)]}], "less than 256"),
    ([{"type": "actions", "elements": [button(style="loud")]}], "must be one of: primary"),
    ([SECTION | {"block_id": "b"}, SECTION | {"block_id": "b"}], "block_id already exists"),
    ([{"type": "blink"}], "unsupported type: blink"),
    (["text"], "must be an object"),
    ([{"type": "table", "rows": [[cell("a")]] * 101}], "no more than 100 items"),
    ([{"type": "table", "rows": [[cell("a")] * 21]}], "no more than 20 items"),
    ([{"type": "table", "rows": [[cell("")]]}], "must be more than 0 characters"),
    ([{"type": "table", "rows": [[cell("x" * 6000)]] * 2}], "must be less than 10001"),
    ([data_table([[RAW]])], "must have 2 to 101 rows"),
    ([data_table([[RAW]] * 102)], "must have 2 to 101 rows"),
    ([data_table([[{"type": "rich_text", "elements": []}]] * 2)], "unsupported type in the header"),
    ([data_table([[RAW], [RAW, RAW]])], "the same number of cells"),
    ([data_table([[RAW]] * 2, page_size=101)], "must be 1 to 100"),
    ([data_table([[RAW]] * 2, caption=None)], "missing required field: caption"),
    ([data_table([[RAW], [cell("x" * 6000)]])] * 2, "no more than 10000 characters in tables"),
    ([{"type": "table", "rows": [[{"type": "text", "text": "a"}]]}], "unsupported type: text"),
    ([rich({"type": "section"})], "unsupported type: section"),
    ([rich({"type": "rich_text_section"})], "missing required field: elements"),
    (
        [rich({"type": "rich_text_section", "elements": [{"type": "text", "text": ""}]})],
        "must be more than 0 characters",
    ),
    (
        [
            rich(
                {
                    "type": "rich_text_section",
                    "elements": [{"type": "text", "text": "x", "style": {"blink": True}}],
                }
            )
        ],
        "additional property: blink",
    ),
    (
        [rich({"type": "rich_text_preformatted", "elements": [{"type": "emoji", "name": "x"}]})],
        "unsupported type: emoji",
    ),
    ([rich({"type": "rich_text_list", "style": "star", "elements": []})], "must be one of: bullet"),
    (
        [rich({"type": "rich_text_list", "style": "bullet", "indent": 9, "elements": [{}]})],
        "must be from 0 to 8",
    ),
]


@pytest.mark.parametrize(("blocks", "problem"), WRONG)
async def test_invalid_blocks_are_refused(
    slack: SlackSimulator, client: AsyncWebClient, blocks: list[Any], problem: str
) -> None:
    room = slack.room("general")
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=room.id, text="x", blocks=blocks)
    assert caught.value.response["error"] == "invalid_blocks"
    messages = caught.value.response["response_metadata"]["messages"]
    assert any(problem in message for message in messages), messages
    assert slack.shown(room) == []


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"text": ""}, "no_text"),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"blocks": [TABLE, TABLE]}, "invalid_attachments"),
        ({"blocks": [{"type": "markdown", "text": "x" * 7000}] * 2}, "msg_blocks_too_long"),
        ({"blocks": "[{"}, "invalid_blocks_format"),
        ({"channel": "C0NONE", "text": "x"}, "channel_not_found"),
        ({"thread_ts": "1.2", "text": "x"}, "thread_not_found"),
    ],
)
async def test_invalid_messages_are_refused(
    slack: SlackSimulator, client: AsyncWebClient, arguments: dict[str, Any], error: str
) -> None:
    call = {"channel": slack.room("general").id, **arguments}
    with pytest.raises(SlackApiError) as caught:
        await client.api_call("chat.postMessage", json=call)
    assert caught.value.response["error"] == error


async def test_everything_at_its_limit_is_accepted(
    slack: SlackSimulator, client: AsyncWebClient
) -> None:
    room = slack.room("general")
    actions = [button(action_id=f"a{n}", text=plain("x" * 75)) for n in range(25)]
    messages: list[list[dict[str, Any]]] = [
        [{"type": "divider"}] * 50,
        [{"type": "section", "text": plain("x" * 3000)}] * 4,
        [{"type": "header", "text": plain("x" * 150)}, {"type": "actions", "elements": actions}],
        [{"type": "table", "rows": [[cell("abcd")] * 20] * 100}],
        [{"type": "markdown", "text": "x" * 12_000}],
    ]
    for blocks in messages:
        await client.chat_postMessage(channel=room.id, text="x", blocks=blocks)
    await client.chat_postMessage(channel=room.id, text="x" * 40_000)
    assert len(slack.shown(room)) == 6


async def test_a_bot_outside_the_channel_is_refused(
    slack: SlackSimulator, client: AsyncWebClient
) -> None:
    for kind, error in (("public", "not_in_channel"), ("private", "channel_not_found")):
        room = slack.room("away", "public" if kind == "public" else "private")
        await slack.remove_bot(room)
        with pytest.raises(SlackApiError) as caught:
            await client.chat_postMessage(channel=room.id, text="x")
        assert caught.value.response["error"] == error


async def test_tokens_and_scopes_are_checked(slack: SlackSimulator, client: AsyncWebClient) -> None:
    answer = await client.auth_test()
    assert "chat:write" in answer.headers["x-oauth-scopes"].split(",")
    client.token = "xoxb-wrong"
    with pytest.raises(SlackApiError, match="invalid_auth"):
        await client.auth_test()
    client.token = slack.server.bot_token
    slack.scopes.discard("users:read")
    with pytest.raises(SlackApiError) as caught:
        await client.users_info(user=slack.person("Anna").id)
    assert caught.value.response["error"] == "missing_scope"
    assert caught.value.response["needed"] == "users:read"
    with pytest.raises(SlackApiError, match="not_allowed_token_type"):
        await client.apps_connections_open(app_token=slack.server.bot_token)
    with pytest.raises(SlackApiError, match="unknown_method"):
        await client.api_call("chat.shout")


async def test_a_rate_limit_states_its_duration(
    slack: SlackSimulator, client: AsyncWebClient
) -> None:
    slack.faults.add(Fault("*", "rate_limit", retry_after=30))
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=slack.room("general").id, text="x")
    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "30"
    assert [call.status for call in slack.calls] == [429]


async def test_a_connection_is_cut_before_or_after_the_work(
    slack: SlackSimulator, client: AsyncWebClient
) -> None:
    room = slack.room("general")
    for kind, count in (("drop_before", 0), ("drop_after", 1)):
        slack.faults.add(Fault("*", "drop_before" if kind == "drop_before" else "drop_after"))
        with pytest.raises(aiohttp.ClientError):
            await client.chat_postMessage(channel=room.id, text="x")
        assert len(slack.shown(room)) == count


async def test_a_slow_response_is_delayed_and_correct(
    slack: SlackSimulator, client: AsyncWebClient
) -> None:
    slack.faults.add(Fault("chat.postMessage", "slow", delay=0.05))
    answer = await client.chat_postMessage(channel=slack.room("general").id, text="x")
    assert answer["ok"]


async def test_the_web_api_supports_a_whole_conversation(
    slack: SlackSimulator, client: AsyncWebClient
) -> None:
    anna, room = slack.person("Anna"), slack.room("general")
    first = await client.chat_postMessage(channel=room.id, text="root")
    await client.chat_postMessage(channel=room.id, text="reply", thread_ts=first["ts"])
    answer = await client.conversations_replies(channel=room.id, ts=first["ts"])
    assert [m["text"] for m in answer["messages"]] == ["root", "reply"]
    assert (await client.conversations_info(channel=room.id))["channel"]["name"] == "general"
    opened = await client.conversations_open(users=anna.id)
    assert opened["channel"]["id"] == slack.direct(anna).id
    with pytest.raises(SlackApiError, match="user_not_found"):
        await client.chat_postEphemeral(channel=room.id, user="U0NOBODY", text="x")
    await client.assistant_threads_setStatus(
        channel_id=room.id, thread_ts=first["ts"], status="is thinking"
    )
    await client.reactions_add(channel=room.id, timestamp=first["ts"], name="eyes")
    with pytest.raises(SlackApiError, match="already_reacted"):
        await client.reactions_add(channel=room.id, timestamp=first["ts"], name="eyes")
    await client.reactions_remove(channel=room.id, timestamp=first["ts"], name="eyes")
    await client.files_upload_v2(channel=room.id, filename="a.txt", content="hello")
    assert slack.shown(room)[-1].files[0].data == b"hello"
