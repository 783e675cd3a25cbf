"""Answers go out through the real HTTP client, and every refusal becomes the right error."""

import asyncio

import pytest

from adapters.whatsapp.connection import WhatsAppAdapter
from adapters.whatsapp.messages import WhatsAppExtras
from adapters.whatsapp.service_window import MAX_REFUSED
from gateway.errors import (
    Ambiguous,
    Permanent,
    PlatformFailed,
    TemplateRefused,
    Transient,
    WindowClosed,
)
from gateway.message import Button, Outbound, OutboundFile, Part, Place
from gateway.ports import (
    CanDiagnose,
    CanFetchFiles,
    CanMarkRead,
    CanReact,
    CanTellReach,
    CanType,
    Check,
    PlatformAdapter,
    PlatformReach,
)
from gateway.ports.adapter import unpacked
from simulators.base import Fault
from simulators.whatsapp import TEMPLATE, payloads
from simulators.whatsapp.errors import GraphError
from tests.adapters.whatsapp.rig import (
    Rig,
    context_of,
    direct,
    running,
    settings_of,
    text_to,
)
from tests.support.waiting import eventually

FOLLOW_UP = {"name": TEMPLATE, "language": "en_US"}


async def greeted(rig: Rig, name: str = "Ada") -> Place:
    """The chat with somebody who has just written."""
    person = rig.sim.person(name)
    await rig.sim.say(person, rig.sim.direct(person), "hi")
    return (await rig.message()).place


async def test_the_adapter_has_its_declared_abilities() -> None:
    async with running() as rig:
        for ability in (
            PlatformAdapter,
            CanType,
            CanMarkRead,
            CanReact,
            CanFetchFiles,
            CanDiagnose,
            CanTellReach,
        ):
            assert isinstance(rig.adapter, ability)


async def test_a_text_is_shown_as_a_reply_without_markup() -> None:
    async with running() as rig:
        place = await greeted(rig)
        question = (await rig.message()).id
        receipt = await rig.adapter.send(
            text_to(place, "*bold* _it_ `x*y*` <b>", reply_to_id=question)
        )
        shown = rig.sim.shown(rig.sim.direct(rig.sim.person("Ada")))[-1]
    assert shown.id == receipt.message_id
    assert shown.reply_to_id == question
    assert shown.text == "bold it x*y* <b>"
    assert shown.html == "<b>bold</b> <i>it</i> <code>x*y*</code> &lt;b&gt;"


async def test_three_short_choices_are_buttons_that_return_their_value() -> None:
    async with running() as rig:
        place = await greeted(rig)
        buttons = tuple(Button(label, f"v:{label}") for label in ("Yes", "No", "Later"))
        receipt = await rig.adapter.send(text_to(place, "Sure?", buttons=buttons))
        ada = rig.sim.person("Ada")
        sent = rig.sim.calls[-1].body["interactive"]
        await rig.sim.press(ada, rig.sim.direct(ada), receipt.message_id, "Later")
        pressed = (await rig.sink.wait(2))[1]
    assert isinstance(sent, dict)
    assert sent["type"] == "button"
    assert pressed.kind == "button"
    assert (pressed.value, pressed.label) == ("v:Later", "Later")
    assert pressed.message_id == receipt.message_id


@pytest.mark.parametrize(
    ("text", "buttons"),
    [
        ("short", tuple(Button(f"n{i}", f"v{i}") for i in range(4))),
        ("short", tuple(Button(f"n{i}", f"v{i}") for i in range(10))),
        ("short", (Button("a", "1", "with a description"),)),
        ("short", (Button("a label of more than twenty characters", "1"),)),
        ("long " * 300, (Button("a", "1"), Button("b", "2"))),
        ("twins", (Button("same", "1"), Button("same", "2"))),
    ],
)
async def test_other_choices_are_a_list(text: str, buttons: tuple[Button, ...]) -> None:
    async with running() as rig:
        place = await greeted(rig)
        receipt = await rig.adapter.send(text_to(place, text, buttons=buttons))
        ada = rig.sim.person("Ada")
        shown = rig.sim.shown(rig.sim.direct(ada))[-1]
        await rig.sim.press(ada, rig.sim.direct(ada), receipt.message_id, shown.buttons[-1].label)
        pressed = (await rig.sink.wait(2))[1]
    assert shown.payload["interactive"]["type"] == "list"  # type: ignore[index] # a payload of ours
    assert shown.text.strip() == text.strip(), "nothing of the text is lost"
    assert pressed.kind == "button"
    assert pressed.value == buttons[-1 if text != "twins" else 0].value


async def test_more_choices_than_whatsapp_allows_are_refused_here() -> None:
    async with running() as rig:
        place = await greeted(rig)
        buttons = tuple(Button(f"n{i}", f"v{i}") for i in range(11))
        with pytest.raises(Permanent, match="at most 10"):
            await rig.adapter.send(text_to(place, "too many", buttons=buttons))


@pytest.mark.parametrize(
    ("name", "mime", "kind"),
    [
        ("chart.png", "image/png", "image"),
        ("report.pdf", "application/pdf", "document"),
        ("data.csv", "text/csv; charset=utf-8", "document"),
        ("data.json", "application/json", "document"),
        ("voice.ogg", "audio/ogg", "audio"),
    ],
)
async def test_files_are_sent_through_the_media_endpoint(name: str, mime: str, kind: str) -> None:
    async with running() as rig:
        place = await greeted(rig)
        await rig.adapter.send(Outbound("k", place, file=OutboundFile(name, mime, b"data" * 50)))
        shown = rig.sim.shown(rig.sim.direct(rig.sim.person("Ada")))[-1]
    assert shown.payload["type"] == kind
    assert shown.files[0].data == b"data" * 50
    assert shown.files[0].name == name


async def test_a_file_has_its_text_as_caption() -> None:
    async with running() as rig:
        place = await greeted(rig)
        file = OutboundFile("a.png", "image/png", b"x")
        await rig.adapter.send(Outbound("k", place, Part("look", "look"), file))
        assert rig.sim.shown(rig.sim.direct(rig.sim.person("Ada")))[-1].text == "look"


@pytest.mark.parametrize(
    "file",
    [
        OutboundFile("a.zip", "application/zip", b"x"),
        OutboundFile("a.png", "image/png", bytes(5 * 1024 * 1024 + 1)),
    ],
)
async def test_files_that_meta_refuses_are_refused_here(file: OutboundFile) -> None:
    async with running() as rig:
        place = await greeted(rig)
        before = len(rig.sim.calls)
        with pytest.raises(Permanent):
            await rig.adapter.send(Outbound("k", place, file=file))
        assert len(rig.sim.calls) == before


async def test_typing_and_the_read_mark_are_one_request() -> None:
    async with running() as rig:
        place = await greeted(rig)
        message = await rig.message()
        before = len(rig.sim.calls)
        await rig.adapter.typing(place, message.id)
        assert list(rig.sim.graph.state.typing) == list(rig.sim.graph.state.read) == [message.id]
        assert len(rig.sim.calls) == before + 1
        await rig.adapter.mark_read(place, message.id)
        assert len(rig.sim.graph.state.typing) == 1


async def test_a_reaction_is_sent_to_its_message() -> None:
    async with running() as rig:
        place = await greeted(rig)
        message = await rig.message()
        await rig.adapter.react(place, message.id, "👍")
        assert list(rig.sim.graph.state.reactions) == [(message.id, "👍")]


# --- the window ----------------------------------------------------------------------------------


async def test_after_24_hours_no_free_text_is_sent() -> None:
    async with running() as rig:
        place = await greeted(rig)
        rig.later(hours=23, minutes=59)
        await rig.adapter.send(text_to(place, "in time"))
        rig.later(minutes=2)
        calls = len(rig.sim.calls)
        with pytest.raises(WindowClosed):
            await rig.adapter.send(text_to(place, "too late"))
        assert len(rig.sim.calls) == calls, "Meta is not even asked"


async def test_the_window_survives_a_restart() -> None:
    async with running() as rig:
        place = await greeted(rig)
        context = context_of(rig.listener, rig.clock, rig.state, rig.counts, "again")
        reborn = WhatsAppAdapter(settings_of(rig.sim), context)
        await reborn.connect(rig.sink)
        await reborn.send(text_to(place, "still open"))
        await reborn.disconnect()


async def test_the_window_starts_at_the_time_of_the_message() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        await rig.sim.say(ada, rig.sim.direct(ada), "sent long ago")
        await rig.sim.settled()
        late = rig.sim.webhooks.deliveries[-1].payload
        rig.state.kept.clear()
        rig.later(hours=25)
        assert await rig.sim.deliver(late) == 200
        message = await rig.message()
        with pytest.raises(WindowClosed):
            await rig.adapter.send(text_to(message.place, "hello?"))
    assert not unpacked(WhatsAppExtras, message.extras).window_open


async def test_outside_the_window_a_template_contains_the_text() -> None:
    async with running(template=FOLLOW_UP) as rig:
        place = await greeted(rig)
        rig.later(hours=25)
        await rig.adapter.send(text_to(place, "Your order\nis  \t ready."))
        shown = rig.sim.shown(rig.sim.direct(rig.sim.person("Ada")))[-1]
    assert shown.text == "We have an update on your question: Your order is ready."


@pytest.mark.parametrize(
    ("body", "parameters", "shown"),
    [
        (
            "Hello from {{1}}: {{2}} ({{1}}, {{3}})",
            {"1": "{assistant}", "2": "{text}", "3": "Acme"},
            "Hello from Parley: It is {{3}} ready. (Parley, Acme)",
        ),
        (
            "{{who}} writes: {{answer}}",
            {"answer": "{text}", "who": "{assistant}"},
            "Parley writes: It is {{3}} ready.",
        ),
    ],
)
async def test_a_template_can_have_several_variables(
    body: str, parameters: dict[str, str], shown: str
) -> None:
    expected = {"name": "several", "language": "de", "parameters": parameters, "body": body}
    async with running(template=expected) as rig:
        rig.sim.world.templates["several", "de"] = body
        place = await greeted(rig)
        rig.later(hours=25)
        await rig.adapter.send(text_to(place, "It is {{3}}\nready."))
        assert rig.sim.shown(rig.sim.direct(rig.sim.person("Ada")))[-1].text == shown


async def test_a_text_that_does_not_fit_the_template_is_refused_and_not_cut() -> None:
    async with running(template={**FOLLOW_UP, "max_chars": 20}) as rig:
        place = await greeted(rig)
        rig.later(hours=25)
        with pytest.raises(WindowClosed, match="do not fit"):
            await rig.adapter.send(text_to(place, "word " * 10))
        with pytest.raises(WindowClosed):
            await rig.adapter.send(text_to(place, "choose", buttons=(Button("a", "1"),)))


async def test_a_window_that_meta_reports_closed_is_closed_for_the_next_send() -> None:
    async with running() as rig:
        place = await greeted(rig)
        rig.sim.advance(25 * 3600)
        receipt = await rig.adapter.send(text_to(place, "accepted, but not delivered"))
        await eventually(lambda: rig.counts["delivery_failed:131047"] == 1)
        assert await rig.sim.settled()
        assert await rig.adapter.reach(place) == PlatformReach("closed", 0, (receipt.message_id,))
        with pytest.raises(WindowClosed):
            await rig.adapter.send(text_to(place, "now we know"))


@pytest.mark.parametrize(("code", "reach"), [(132015, "closed"), (131026, "template")])
async def test_only_what_may_be_sent_after_the_person_wrote_is_noted_as_refused(
    code: int, reach: str
) -> None:
    async with running(template=FOLLOW_UP) as rig:
        place = await greeted(rig)
        rig.later(hours=25)
        number, human = rig.sim.world.number, rig.sim.world.people["Ada"]
        at, error = int(rig.sim.world.now()), GraphError(code, "afterwards").in_status()
        for nth in range(MAX_REFUSED + 5):
            failed = payloads.status(number, human.sender(), f"wamid.{nth}", "failed", at, [error])
            assert await rig.sim.deliver(failed) == 200
        known = await rig.adapter.reach(place)
        assert known.reach == reach
        last = [f"wamid.{nth}" for nth in range(5, MAX_REFUSED + 5)]
        assert list(known.refused) == (last if code == 132015 else [])
        rig.later(hours=2)
        assert (await rig.adapter.reach(place)).refused == ()


async def test_a_window_refused_immediately_is_the_same_error() -> None:
    async with running() as rig:
        place = await greeted(rig)
        rig.sim.graph.state.window_error = "response"
        rig.sim.advance(25 * 3600)
        with pytest.raises(WindowClosed):
            await rig.adapter.send(text_to(place, "refused"))


async def test_a_person_who_never_wrote_gets_no_message() -> None:
    async with running() as rig:
        with pytest.raises(WindowClosed):
            await rig.adapter.send(text_to(direct("DE.5"), "hello stranger"))


async def test_the_reach_is_that_of_the_window() -> None:
    async with running(template={**FOLLOW_UP, "max_chars": 500}) as rig:
        place = await greeted(rig)
        assert await rig.adapter.reach(place) == PlatformReach("open")
        rig.later(hours=23, minutes=54)
        assert await rig.adapter.reach(place) == PlatformReach("open")
        rig.later(minutes=1)
        assert await rig.adapter.reach(place) == PlatformReach("template", 500)
        assert (await rig.adapter.reach(direct("DE.5"))).reach == "template"
    async with running() as rig:
        place = await greeted(rig)
        rig.later(hours=24)
        assert await rig.adapter.reach(place) == PlatformReach("closed")


async def test_a_template_that_meta_refuses_is_not_used_for_an_hour() -> None:
    async with running(template=FOLLOW_UP) as rig:
        place = await greeted(rig)
        rig.later(hours=25)
        rig.sim.fail_next("messages", GraphError(132015, "paused for low quality"))
        with pytest.raises(TemplateRefused, match="132015"):
            await rig.adapter.send(text_to(place, "a word"))
        assert rig.counts["template_refused"] == 1
        assert (await rig.adapter.reach(place)).reach == "closed"
        rig.later(minutes=61)
        assert (await rig.adapter.reach(place)).reach == "template"
        await rig.adapter.send(text_to(place, "again"))
        assert rig.sim.shown(rig.sim.direct(rig.sim.person("Ada")))[-1].text.endswith("again")


async def test_a_person_whom_meta_does_not_reach_says_nothing_about_the_template() -> None:
    async with running(template=FOLLOW_UP) as rig:
        place = await greeted(rig)
        rig.later(hours=25)
        rig.sim.fail_next("messages", GraphError(131026, "undeliverable"))
        with pytest.raises(Permanent, match="131026"):
            await rig.adapter.send(text_to(place, "a word"))
        assert (await rig.adapter.reach(place)).reach == "template"


# --- what goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected", "pause"),
    [
        (4, Transient, None),
        (80007, Transient, None),
        (130429, Transient, None),
        (131056, Transient, 6.0),
        (131000, Transient, None),
        (131016, Transient, None),
        (2, Transient, None),
        (131047, WindowClosed, None),
        (10, Permanent, None),
        (100, Permanent, None),
        (190, Permanent, None),
        (200, Permanent, None),
        (368, Permanent, None),
        (131026, Permanent, None),
        (131030, Permanent, None),
        (131048, Permanent, None),
        (132000, TemplateRefused, None),
        (132001, TemplateRefused, None),
        (132005, Permanent, None),
        (132007, TemplateRefused, None),
        (132012, TemplateRefused, None),
        (132015, TemplateRefused, None),
        (132016, TemplateRefused, None),
        (132018, Permanent, None),
        (133010, Permanent, None),
    ],
)
async def test_the_codes_of_meta_are_mapped_to_error_types(
    code: int, expected: type[Exception], pause: float | None
) -> None:
    async with running() as rig:
        place = await greeted(rig)
        rig.sim.fail_next("messages", GraphError(code, "because"))
        with pytest.raises(expected, match=str(code)) as error:
            await rig.adapter.send(text_to(place, "x"))
        assert type(error.value) is expected
        if isinstance(error.value, Transient):
            assert error.value.retry_after == pause
            assert error.value.whole_account == (code in (4, 80007, 130429))


@pytest.mark.parametrize(
    ("status", "expected"), [(400, Permanent), (429, Transient), (503, PlatformFailed)]
)
async def test_an_unknown_code_is_mapped_by_its_status(
    status: int, expected: type[Exception]
) -> None:
    async with running() as rig:
        place = await greeted(rig)
        rig.sim.fail_next("messages", GraphError(999_999, status=status))
        with pytest.raises(expected):
            await rig.adapter.send(text_to(place, "x"))


async def test_a_server_error_is_transient() -> None:
    async with running() as rig:
        place = await greeted(rig)
        rig.sim.faults.add(Fault("messages", "server_error"))
        with pytest.raises(Transient):
            await rig.adapter.send(text_to(place, "x"))


@pytest.mark.parametrize(("kind", "shown"), [("drop_before", 0), ("drop_after", 1)])
async def test_an_interrupted_connection_is_ambiguous(kind: str, shown: int) -> None:
    async with running() as rig:
        place = await greeted(rig)
        rig.sim.faults.add(Fault("messages", kind))  # type: ignore[arg-type] # parametrised
        with pytest.raises(Ambiguous):
            await rig.adapter.send(text_to(place, "did you get this?"))
        lines = rig.sim.shown(rig.sim.direct(rig.sim.person("Ada")))
        assert sum(line.by_bot for line in lines) == shown


async def test_a_failed_upload_delivers_nothing() -> None:
    async with running() as rig:
        place = await greeted(rig)
        rig.sim.fail_next("media", GraphError(999_999, status=503))
        with pytest.raises(Transient):
            await rig.adapter.send(
                Outbound("k", place, file=OutboundFile("a.png", "image/png", b"x"))
            )


async def test_an_interrupted_upload_delivers_nothing() -> None:
    async with running() as rig:
        place = await greeted(rig)
        rig.sim.faults.add(Fault("media", "drop_after"))
        file = OutboundFile("a.png", "image/png", b"x")
        with pytest.raises(Transient):
            await rig.adapter.send(Outbound("k", place, file=file))


async def test_a_closed_connection_is_opened_again() -> None:
    async with running() as rig:
        place = await greeted(rig)
        await rig.adapter.send(text_to(place, "one"))
        await rig.sim.drop_connections()
        await asyncio.sleep(0)
        try:
            await rig.adapter.send(text_to(place, "two"))
        except Ambiguous:
            await rig.adapter.send(text_to(place, "two"))
        ada = rig.sim.person("Ada")
        await rig.sim.say(ada, rig.sim.direct(ada), "webhooks too")
        await rig.sink.wait(2)


async def test_the_token_is_never_in_an_error() -> None:
    async with running() as rig:
        place = await greeted(rig)
        rig.sim.fail_next("messages", GraphError(190))
        with pytest.raises(Permanent) as error:
            await rig.adapter.send(text_to(place, "x"))
        token = str(rig.sim.settings()["access_token"])
        assert token not in repr(error.value)
        assert token not in repr(settings_of(rig.sim))


# --- doctor --------------------------------------------------------------------------------------


async def test_doctor_finds_no_problem_of_a_working_account() -> None:
    async with running() as rig:
        checks = await rig.adapter.diagnose()
        assert all(check.ok for check in checks), checks
        assert {"access token", "phone number id", "app secret"} <= {c.name for c in checks}


@pytest.mark.parametrize(
    ("wrong", "name", "advice"),
    [
        ({"access_token": "old"}, "access token", "system user"),
        ({"phone_number_id": "102290129340398"}, "phone number id", "Business Account ID"),
        ({"phone_number_id": ""}, "phone number id", "Phone number ID"),
        ({"app_secret": ""}, "app secret", "App settings"),
        ({"verify_token": ""}, "verify token", "Configuration"),
        ({"api_version": "v17.0"}, "api version", "v25.0"),
    ],
)
async def test_doctor_reports_problems_with_advice(
    wrong: dict[str, str], name: str, advice: str
) -> None:
    async with running() as rig:
        adapter = WhatsAppAdapter(
            settings_of(rig.sim, **wrong),
            context_of(rig.listener, rig.clock, rig.state, rig.counts, "ill"),
        )
        bad = [check for check in await adapter.diagnose() if not check.ok]
    assert [check.name for check in bad] == [name]
    assert advice in str(bad[0].advice)


async def test_doctor_raises_nothing_without_a_server() -> None:
    async with running() as rig:
        # aiohttp repeats a lost GET once
        rig.sim.faults.add(Fault("phone_number", "drop_before", times=2))
        bad = [check for check in await rig.adapter.diagnose() if not check.ok]
        assert [check.name for check in bad] == ["platform reachable"]


@pytest.mark.parametrize(
    ("statuses", "ok", "detail"),
    [
        ({}, True, "Meta has approved it"),
        ({(TEMPLATE, "en_US"): "PAUSED"}, False, "its status is PAUSED"),
        ({(TEMPLATE, "de"): "REJECTED"}, True, "Meta has approved it"),
    ],
)
async def test_doctor_asks_meta_if_the_template_is_approved(
    statuses: dict[tuple[str, str], str], ok: bool, detail: str
) -> None:
    async with running(template=FOLLOW_UP) as rig:
        rig.sim.world.templates[TEMPLATE, "de"] = "{{1}}"
        rig.sim.graph.state.template_statuses.update(statuses)
        check = template_check(await rig.adapter.diagnose())
    assert (check.ok, bool(check.advice)) == (ok, not ok)
    assert str(check.detail).endswith(detail)


async def test_doctor_names_a_template_that_the_account_does_not_have() -> None:
    async with running(template={"name": "conversation", "language": "en_US"}) as rig:
        check = template_check(await rig.adapter.diagnose())
    assert (check.ok, str(check.detail)) == (
        False,
        "the account has no template conversation (en_US)",
    )
    assert "WhatsApp Manager" in str(check.advice)


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (GraphError(200, "no right"), "whatsapp_business_management"),
        (GraphError(2, "down"), "Try again in a few minutes."),
    ],
)
async def test_a_refused_question_for_templates_says_nothing_against_them(
    error: GraphError, advice: str
) -> None:
    async with running(template=FOLLOW_UP) as rig:
        rig.sim.fail_next("message_templates", error)
        check = template_check(await rig.adapter.diagnose())
    assert check.ok
    assert f"error {error.code}" in str(check.detail)
    assert advice in str(check.advice)


async def test_a_lost_answer_about_templates_is_reported() -> None:
    async with running(template=FOLLOW_UP) as rig:
        rig.sim.faults.add(Fault("message_templates", "drop_before", times=2))
        check = template_check(await rig.adapter.diagnose())
    assert (check.ok, check.cause) == (False, "unreachable")


async def test_doctor_does_not_ask_about_templates_without_a_number() -> None:
    async with running(template=FOLLOW_UP) as rig:
        rig.sim.faults.add(Fault("phone_number", "drop_before", times=2))
        await rig.adapter.diagnose()
        assert "message_templates" not in {call.method for call in rig.sim.calls}


def template_check(checks: list[Check]) -> Check:
    """The check of the template."""
    (check,) = [check for check in checks if check.name == "template"]
    return check
