"""Events other than messages: edits, deletions, buttons, commands, reactions, members."""

import copy
import json
from typing import Any

import pytest

from adapters.slack.event_context import SlackBot
from adapters.slack.parse import parse
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    MembershipChanged,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    ReactionChanged,
)
from gateway.people import Audience
from tests.adapters.slack.payloads import (
    ANNA,
    BOT,
    BUTTON,
    COMMAND,
    EVERYTHING,
    MENU,
    ROOM,
    TEAM,
    TS,
    block_actions,
    callback,
    edited,
    message,
)
from tests.adapters.slack.reading import only


class TestChanges:
    def test_an_edit_has_the_new_text_and_the_old_id(self) -> None:
        event = only(callback(edited(message("new", edited={"ts": "1.2"}), message("old"))))
        assert isinstance(event, MessageEdited)
        assert (event.message.id, event.message.content) == (TS, "new")
        assert event.event_id == "Ev0EVENT"

    def test_a_link_preview_is_not_an_edit(self) -> None:
        now = message("see <https://x>", attachments=[{"title": "X"}])
        assert parse(callback(edited(now, message("see <https://x>")))) == []

    def test_a_reply_in_its_thread_is_not_an_edit(self) -> None:
        now = message("root", thread_ts=TS, reply_count=1, latest_reply="2.0")
        assert parse(callback(edited(now, message("root")))) == []

    def test_a_deletion_is_parsed(self) -> None:
        event = only(EVERYTHING[6])
        assert isinstance(event, MessageDeleted)
        assert event.message_ids == (TS,)

    def test_a_deleted_first_message_of_a_thread_is_a_deletion(self) -> None:
        tomb = message("This message was deleted.", subtype="tombstone", thread_ts=TS)
        event = only(callback(edited(tomb, message("root"))))
        assert isinstance(event, MessageDeleted)
        assert event.message_ids == (TS,)


class TestInteractions:
    def test_a_button_and_a_menu_are_parsed(self) -> None:
        pressed, chosen = parse(block_actions(BUTTON, MENU))
        assert isinstance(pressed, ButtonPressed)
        assert isinstance(chosen, ButtonPressed)
        assert (pressed.value, pressed.label, pressed.message_id) == ("yes", "Yes", TS)
        assert (chosen.value, chosen.label) == ("2", "Two")
        assert pressed.event_id != chosen.event_id
        assert pressed.reply_handle.startswith("https://hooks.slack.com/")

    def test_a_press_in_a_thread_has_the_thread(self) -> None:
        container = {"type": "message", "message_ts": "2.0", "channel_id": ROOM, "thread_ts": TS}
        event = only(block_actions(BUTTON, container=container))
        assert event.place.thread_id == TS

    @pytest.mark.parametrize(
        ("name", "audience"),
        [
            ("directmessage", Audience.DIRECT),
            ("privategroup", Audience.PRIVATE_ROOM),
            ("mpdm-anna--ben-1", Audience.PRIVATE_ROOM),
            ("general", Audience.PUBLIC_ROOM),
        ],
    )
    def test_the_audience_of_a_press_follows_from_the_channel_name(
        self, name: str, audience: Audience
    ) -> None:
        pressed = only(block_actions(BUTTON, channel={"id": ROOM, "name": name}))
        invoked = only(COMMAND | {"channel_name": name})
        assert pressed.place.audience is invoked.place.audience is audience

    def test_a_payload_as_a_form_is_parsed(self) -> None:
        assert parse({"payload": json.dumps(block_actions(BUTTON))}) == parse(block_actions(BUTTON))

    def test_a_slash_command_is_parsed(self) -> None:
        event = only(COMMAND)
        assert isinstance(event, CommandInvoked)
        assert (event.name, event.arguments) == ("ask", "what does @ben say & #room")
        assert (event.author.id, event.author.name) == (ANNA, "anna")
        assert event.event_id == "command:9.8.7"

    @pytest.mark.parametrize(
        "payload",
        [
            {"type": "view_submission", "user": {"id": ANNA}, "view": {"id": "V1"}},
            {"type": "view_closed", "user": {"id": ANNA}},
            {"type": "shortcut", "user": {"id": ANNA}, "callback_id": "x"},
            {"type": "message_action", "user": {"id": ANNA}, "message": message()},
            {"type": "block_suggestion", "user": {"id": ANNA}},
            block_actions(BUTTON, container={"type": "view"}, channel=None),
            block_actions({"type": "datepicker", "action_id": "d"}),
            {"type": "url_verification", "challenge": "c"},
            {"type": "hello"},
            {"envelope_id": 12345, "type": "integration-test"},
            {"payload": "{"},
            {},
        ],
    )
    def test_other_payloads_are_ignored(self, payload: dict[str, Any]) -> None:
        assert parse(payload) == []


class TestOthers:
    def test_a_reaction_is_parsed(self) -> None:
        event = only(EVERYTHING[7])
        assert isinstance(event, ReactionChanged)
        assert (event.emoji, event.message_id, event.added) == ("👍", TS, True)

    def test_own_reactions_are_ignored(self) -> None:
        item = {"type": "message", "channel": ROOM, "ts": TS}
        event = {"type": "reaction_added", "user": BOT, "reaction": "eyes", "item": item}
        assert parse(callback(event)) == []

    def test_a_skin_tone_and_an_unknown_emoji_are_parsed(self) -> None:
        for name, emoji in (("+1::skin-tone-2", "👍"), ("partyparrot", ":partyparrot:")):
            payload = copy.deepcopy(EVERYTHING[7])
            payload["event"]["reaction"] = name
            event = only(payload)
            assert isinstance(event, ReactionChanged)
            assert event.emoji == emoji

    def test_changes_of_membership_are_parsed(self) -> None:
        event = only(EVERYTHING[8])
        assert isinstance(event, MembershipChanged)
        assert event.joined
        assert event.is_self


class TestWhoIsFromOutside:
    @pytest.mark.parametrize(
        "more",
        [
            {"team": "T0OTHER"},
            {"user_team": "T0OTHER"},
            {"source_team": "T0OTHER"},
            {"user_profile": {"team": "T0OTHER"}},
            {"user_profile": {"is_restricted": True}},
            {"user_profile": {"is_ultra_restricted": True}},
            {"user_profile": {"is_stranger": True}},
        ],
    )
    def test_authors_of_another_team_and_guests_are_outside_people(
        self, more: dict[str, Any]
    ) -> None:
        for me in (None, SlackBot(team_id=TEAM)):
            (event,) = parse(callback(message(**more)), me)
            assert isinstance(event, MessageReceived)
            assert event.message.author.outside

    @pytest.mark.parametrize("more", [{}, {"user_team": TEAM}, {"team": "E0ORG"}])
    def test_an_author_of_the_bots_team_is_not_an_outside_person(
        self, more: dict[str, Any]
    ) -> None:
        (event,) = parse(callback(message(**more)), SlackBot(team_id=TEAM))
        assert isinstance(event, MessageReceived)
        assert not event.message.author.outside

    def test_a_press_and_a_command_of_another_team_are_of_an_outside_person(self) -> None:
        me = SlackBot(team_id=TEAM)
        (ours,) = parse({**COMMAND, "team_id": TEAM}, me)
        (theirs,) = parse({**COMMAND, "team_id": "T0OTHER"}, me)
        assert isinstance(ours, CommandInvoked)
        assert isinstance(theirs, CommandInvoked)
        assert (ours.author.outside, theirs.author.outside) == (False, True)

    @pytest.mark.parametrize(("flag", "outsiders"), [(True, True), (False, False), ("x", False)])
    def test_a_shared_channel_has_outside_readers(self, flag: object, outsiders: bool) -> None:
        (event,) = parse(callback(message(), is_ext_shared_channel=flag))
        assert isinstance(event, MessageReceived)
        assert event.message.place.outsiders is outsiders


class TestAUserThatChanged:
    @pytest.mark.parametrize(
        "about", [{"deleted": True}, {"is_restricted": True}, {"is_ultra_restricted": True}]
    )
    def test_a_deactivated_or_restricted_person_leaves_the_workspace(
        self, about: dict[str, Any]
    ) -> None:
        changed = {"type": "user_change", "user": {"id": ANNA, **about}, "event_ts": TS}
        (event,) = parse(callback(changed), SlackBot(user_id=BOT, team_id=TEAM))
        assert isinstance(event, MembershipChanged)
        assert (event.member.id, event.joined, event.is_self) == (ANNA, False, False)
        assert event.whole_workspace
        assert event.place.workspace_id == TEAM

    @pytest.mark.parametrize("user", [{"id": ANNA}, {"deleted": True}, {}, "U0ANNA", None])
    def test_other_changes_of_people_are_ignored(self, user: object) -> None:
        assert parse(callback({"type": "user_change", "user": user}), SlackBot(team_id=TEAM)) == []
