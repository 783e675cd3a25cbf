"""WhatsApp's own checks accept every composed message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.whatsapp import send
from adapters.whatsapp.service_window import WhatsAppTemplate
from gateway.errors import Permanent, WindowClosed
from gateway.message import Button
from simulators.whatsapp.checks import Draft, check
from tests.support.messages import AT

TEXT = st.text(min_size=1, max_size=4096).filter(lambda text: bool(text.strip()))
LABEL = st.text(min_size=1, max_size=80).filter(lambda text: bool(text.strip()))
BUTTONS = st.lists(
    st.builds(
        Button,
        LABEL,
        st.text("abcdef0123456789:-_", min_size=1, max_size=64),
        st.text(max_size=100),
    ),
    min_size=1,
    max_size=10,
    unique_by=lambda button: button.value,
)
ADDRESS = st.sampled_from(["4915550000042", "DE.13491208655302741918", "US.ENT.11815799212886"])


@given(ADDRESS, TEXT, BUTTONS)
def test_choices_fit_and_keep_their_text(address: str, text: str, buttons: list[Button]) -> None:
    body = {**send.message_to(address), **send.choice_message(text, tuple(buttons))}
    draft = check(body)
    assert isinstance(draft, Draft)
    assert draft.text == text
    assert draft.address == address
    assert [choice.id for choice in draft.choices] == [button.value for button in buttons]
    for button, choice in zip(buttons, draft.choices, strict=True):
        if len(button.label) <= 72:
            assert button.label in (choice.title, *[choice.description[: len(button.label)]])


@pytest.mark.parametrize(("length", "fits"), [(send.LIST_BODY, True), (send.LIST_BODY + 1, False)])
def test_a_text_that_is_too_long_above_a_list_is_refused(length: int, fits: bool) -> None:
    rows = tuple(Button(f"Row {number}", str(number)) for number in range(5))
    if fits:
        assert isinstance(check(choices_to_ada("x" * length, rows)), Draft)
    else:
        with pytest.raises(Permanent, match=str(length)):
            choices_to_ada("x" * length, rows)


def choices_to_ada(text: str, rows: tuple[Button, ...]) -> send.Body:
    return {**send.message_to("4915550000042"), **send.choice_message(text, rows)}


def parameters(body: send.Body) -> object:
    template = body["template"]
    assert isinstance(template, dict)
    return template["components"][0]["parameters"]


@given(ADDRESS, TEXT)
def test_texts_fit_the_limit(address: str, text: str) -> None:
    draft = check({**send.message_to(address, "wamid.X"), **send.text_message(text)})
    assert isinstance(draft, Draft)
    assert (draft.text, draft.reply_to) == (text, "wamid.X")


@given(st.text(min_size=1, max_size=2000))
def test_a_template_contains_the_complete_text_or_is_refused(text: str) -> None:
    template = WhatsAppTemplate(name="follow_up")
    try:
        body = send.template_message(text, template, "Parley", AT)
    except WindowClosed:
        assert not text.strip() or len(" ".join(text.split())) > template.max_chars
        return
    draft = check({**send.message_to("4915550000042"), **body})
    assert isinstance(draft, Draft)
    assert "".join(draft.parameters[0].split()) == "".join(text.split())


def test_a_named_parameter_has_its_name() -> None:
    template = WhatsAppTemplate(name="x", parameter="answer")
    body = send.template_message("hi", template, "Parley", AT)
    assert parameters(body) == [{"type": "text", "text": "hi", "parameter_name": "answer"}]


def test_several_variables_are_in_numeric_order() -> None:
    template = WhatsAppTemplate.model_validate(
        {"name": "x", "parameters": {2: "{text}", 1: "{assistant} of Acme", 3: "{date}"}}
    )
    body = send.template_message("Your {date} \n is set", template, "Parley", AT)
    assert parameters(body) == [
        {"type": "text", "text": "Parley of Acme"},
        {"type": "text", "text": "Your {date} is set"},
        {"type": "text", "text": "2026-11-21"},
    ]


def test_several_variables_can_have_names() -> None:
    values = {"who": "{assistant}", "answer": "{text}"}
    template = WhatsAppTemplate(name="x", parameters=values)
    body = send.template_message("hi", template, "Parley", AT)
    assert parameters(body) == [
        {"type": "text", "text": "Parley", "parameter_name": "who"},
        {"type": "text", "text": "hi", "parameter_name": "answer"},
    ]


@pytest.mark.parametrize(("address", "field"), [("4915", "to"), ("DE.4915", "recipient")])
def test_phone_numbers_and_user_ids_have_separate_fields(address: str, field: str) -> None:
    assert send.message_to(address)[field] == address
