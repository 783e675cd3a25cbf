"""Connecting, the lasting connection, several accounts, and the report of `parley doctor`."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from adapters.slack import socket
from adapters.slack.connection import SlackAdapter
from adapters.slack.manifest import MANIFEST, SlackSettings
from gateway.errors import StartError
from gateway.message import MessageReceived, Outbound, Part, Place
from gateway.people import Audience
from gateway.ports import (
    AdapterContext,
    CanDelete,
    CanDiagnose,
    CanFetchFiles,
    CanReact,
    CanShowLive,
    CanType,
    PlatformAdapter,
)
from gateway.ports.clock import SystemClock
from parley.http.webhook_listener import WebhookListener
from simulators.base import Fault
from simulators.slack import SlackSimulator
from tests.adapters.slack.conftest import Mode, Rig, connected
from tests.support.adapter_context import EventRecorder, NoState, unavailable
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually


def an_adapter(slack: SlackSimulator, **changes: object) -> SlackAdapter:
    settings = SlackSettings.model_validate(slack.settings() | changes)
    context = AdapterContext(
        "main", "Parley", SystemClock(), NoState(), WebhookListener(), lambda what, detail="": None
    )
    return SlackAdapter(settings, context)


@pytest.fixture
async def slack() -> AsyncIterator[SlackSimulator]:
    simulator = SlackSimulator(ack_within=3.0, retry_after=(0.0, 0.1))
    await simulator.start()
    yield simulator
    await simulator.stop()


def test_the_adapter_has_its_declared_capabilities(slack: SlackSimulator) -> None:
    adapter = an_adapter(slack)
    assert isinstance(adapter, PlatformAdapter)
    for ability in (CanDelete, CanReact, CanFetchFiles, CanDiagnose, CanType, CanShowLive):
        assert isinstance(adapter, ability)
    assert adapter.capabilities == MANIFEST.capabilities


class TestRefusedCredentials:
    @pytest.mark.parametrize(
        ("changes", "named"),
        [
            ({"bot_token": "xoxb-wrong"}, "bot_token: invalid_auth"),
            ({"app_token": "xapp-wrong"}, "app_token: invalid_auth"),
            ({"app_token": ""}, "platforms.slack.app_token"),
        ],
    )
    async def test_a_wrong_credential_is_a_permanent_start_error(
        self, slack: SlackSimulator, changes: dict[str, object], named: str
    ) -> None:
        adapter = an_adapter(slack, **changes)
        with pytest.raises(StartError, match=named) as caught:
            await adapter.connect(EventRecorder())
        assert caught.value.permanent
        assert caught.value.advice

    async def test_swapped_tokens_are_recognised(self, slack: SlackSimulator) -> None:
        section = slack.settings()
        adapter = an_adapter(slack, bot_token=section["app_token"], app_token=section["bot_token"])
        with pytest.raises(StartError, match="mixed up") as caught:
            await adapter.connect(EventRecorder())
        assert caught.value.permanent

    async def test_no_secret_is_shown(self, slack: SlackSimulator) -> None:
        adapter = an_adapter(slack, bot_token="xoxb-very-secret")
        with pytest.raises(StartError) as caught:
            await adapter.connect(EventRecorder())
        assert "very-secret" not in str(caught.value)
        assert "very-secret" not in repr(SlackSettings(bot_token="xoxb-very-secret"))  # type: ignore[arg-type]

    @pytest.mark.parametrize("method", ["auth.test", "apps.connections.open"])
    async def test_a_failure_of_slack_is_temporary(
        self, slack: SlackSimulator, method: str
    ) -> None:
        slack.faults.add(Fault(method, "server_error"))
        adapter = an_adapter(slack)
        with pytest.raises(StartError) as caught:
            await adapter.connect(EventRecorder())
        assert not caught.value.permanent
        await adapter.connect(EventRecorder())
        await adapter.disconnect()

    async def test_an_unreachable_server_is_temporary(self, slack: SlackSimulator) -> None:
        adapter = an_adapter(slack, base_url="http://127.0.0.1:9/api/")
        with pytest.raises(StartError) as caught:
            await adapter.connect(EventRecorder())
        assert not caught.value.permanent


class TestLife:
    async def test_disconnect_works_twice_and_before_connect(self, slack: SlackSimulator) -> None:
        adapter = an_adapter(slack)
        await adapter.disconnect()
        await adapter.connect(EventRecorder())
        await adapter.disconnect()
        await adapter.disconnect()
        assert slack.sockets.sockets == []

    async def test_it_connects_again_after_disconnect(self, rig: Rig) -> None:
        await rig.adapter.disconnect()
        await rig.adapter.connect(rig.sink)
        await rig.slack.wait_connected()
        anna = rig.slack.person("Anna")
        await rig.slack.say(anna, rig.slack.direct(anna), "back?")
        await rig.sink.first(MessageReceived)

    async def test_events_in_progress_are_stored_and_acknowledged_before_disconnect(
        self, rig: Rig
    ) -> None:
        rig.sink.hold = asyncio.Event()
        anna = rig.slack.person("Anna")
        rig.slack.sockets.ack_within = rig.slack.http.ack_within = PATIENCE
        await rig.slack.say(anna, rig.slack.direct(anna), "last words")
        await eventually(lambda: [c for c in rig.slack.calls if c.method == "users.info"])
        leaving = asyncio.create_task(rig.adapter.disconnect())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(leaving), 0.3)
        rig.sink.hold.set()
        await leaving
        await rig.slack.deliveries.settled(PATIENCE)
        assert [e.message.content for e in rig.sink.of(MessageReceived)] == ["last words"]
        assert rig.slack.sockets.given_up + rig.slack.http.given_up == []

    async def test_a_revoked_token_ends_the_connection_permanently(self, socket_rig: Rig) -> None:
        socket_rig.slack.server.app_token = "xapp-another"
        await socket_rig.slack.drop_connections()
        with pytest.raises(StartError, match="app_token: invalid_auth") as caught:
            await asyncio.wait_for(socket_rig.adapter.wait_closed(), PATIENCE)
        assert caught.value.permanent

    async def test_a_long_outage_ends_the_connection_for_a_restart(
        self, socket_rig: Rig, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(socket, "CONNECTION_DEADLINE", 0.2)
        socket_rig.slack.faults.add(Fault("apps.connections.open", "server_error", times=100))
        await socket_rig.slack.drop_connections()
        with pytest.raises(StartError, match="lost") as caught:
            await asyncio.wait_for(socket_rig.adapter.wait_closed(), PATIENCE)
        assert not caught.value.permanent


class TestAccounts:
    @pytest.mark.parametrize("mode", ["socket", "http"])
    async def test_two_workspaces_at_the_same_time_are_separate(self, mode: Mode) -> None:
        async with connected(mode) as one, connected(mode, account="second") as two:
            for rig in (one, two):
                anna = rig.slack.person("Anna")
                await rig.slack.say(anna, rig.slack.direct(anna), f"hi {rig.adapter.account}")
                message = (await rig.sink.first(MessageReceived)).message
                assert message.content == f"hi {rig.adapter.account}"
                assert message.person.account == rig.adapter.account
                there = Place("slack", rig.adapter.account, message.channel_id, Audience.DIRECT)
                await rig.adapter.send(Outbound("k", there, Part("yes", "yes")))
                assert rig.slack.shown(rig.slack.direct(anna))[-1].text == "yes"
            assert len(one.sink.events) == len(two.sink.events) == 1


class TestHttpRequests:
    """Requests that anybody can send to the public path."""

    async def post(self, rig: Rig, body: bytes, content: str = "application/json") -> int:
        status, _ = await rig.slack.http.post(body, {"Content-Type": content})
        return status

    async def test_a_wrong_signature_is_refused(self, http_rig: Rig) -> None:
        http_rig.slack.http.signing_secret = "0" * 32
        assert await self.post(http_rig, b'{"type": "url_verification", "challenge": "x"}') == 401
        anna = http_rig.slack.person("Anna")
        await http_rig.slack.say(anna, http_rig.slack.direct(anna), "forged")
        await http_rig.slack.deliveries.settled(5.0)
        assert http_rig.slack.http.statuses[-3:] == [401, 401, 401]
        assert http_rig.sink.events == []

    @pytest.mark.parametrize("age", [-301, 301])
    async def test_a_stale_timestamp_is_refused(self, http_rig: Rig, age: int) -> None:
        now = SystemClock().now().timestamp()
        http_rig.slack.http.now = lambda: now + age
        assert await self.post(http_rig, b"{}") == 401

    async def test_the_challenge_is_answered(self, http_rig: Rig) -> None:
        body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
        headers = {"Content-Type": "application/json"}
        assert await http_rig.slack.http.post(body, headers) == (200, "abc")

    async def test_the_certificate_check_of_slack_is_answered(self, http_rig: Rig) -> None:
        form = "application/x-www-form-urlencoded"
        assert await self.post(http_rig, b"ssl_check=1&token=x", form) == 200

    @pytest.mark.parametrize("body", [b"{", b'{"a":' * 5000, b"\xff\xfe", b"&" * 5000])
    async def test_a_malformed_body_is_refused(self, http_rig: Rig, body: bytes) -> None:
        assert await self.post(http_rig, body) in (200, 400)
        assert http_rig.sink.events == []

    async def test_a_large_body_is_refused(self, http_rig: Rig) -> None:
        assert await self.post(http_rig, b"x" * 1_000_001) == 413

    async def test_a_full_disk_is_answered_with_503(self, http_rig: Rig) -> None:
        http_rig.sink.failures = unavailable(3)
        anna = http_rig.slack.person("Anna")
        await http_rig.slack.say(anna, http_rig.slack.direct(anna), "lost?")
        await http_rig.slack.deliveries.settled(5.0)
        assert http_rig.slack.http.statuses[-3:] == [503, 503, 503]
        assert len(http_rig.slack.http.given_up) == 1


class TestDoctor:
    async def test_doctor_finds_no_problem_of_a_working_account(
        self, slack: SlackSimulator
    ) -> None:
        for mode in ("socket", "http"):
            checks = await an_adapter(slack, mode=mode).diagnose()
            assert len(checks) == 3
            assert all(check.ok for check in checks), checks

    async def test_doctor_names_each_missing_scope(self, slack: SlackSimulator) -> None:
        slack.scopes.clear()
        slack.scopes.update({"chat:write", "commands"})
        checks = await an_adapter(slack).diagnose()
        missing = [c for c in checks if c.name.startswith("Slack scope: ")]
        assert "Slack scope: files:read" in [c.name for c in missing]
        assert not any(c.ok for c in missing)
        assert all("Bot Token Scopes" in str(c.advice) for c in missing)

    @pytest.mark.parametrize(
        ("changes", "name", "detail"),
        [
            ({"bot_token": "xoxb-wrong"}, "Slack bot token", "invalid_auth"),
            ({"bot_token": "xapp-1"}, "Slack bot token", "xapp-"),
            ({"bot_token": ""}, "Slack bot token", "not set"),
            ({"app_token": "xapp-wrong"}, "Slack app token", "invalid_auth"),
            ({"app_token": ""}, "Slack app token", "not set"),
            ({"mode": "http", "signing_secret": ""}, "Slack signing secret", "not set"),
            ({"mode": "http", "signing_secret": "abc"}, "Slack signing secret", "32"),
            ({"base_url": "http://127.0.0.1:9/api/"}, "Slack bot token", "cannot be reached"),
        ],
    )
    async def test_doctor_reports_problems_with_advice(
        self, slack: SlackSimulator, changes: dict[str, object], name: str, detail: str
    ) -> None:
        checks = await an_adapter(slack, **changes).diagnose()
        result = next(check for check in checks if check.name == name)
        assert not result.ok
        assert detail in str(result.detail)
        assert result.advice
