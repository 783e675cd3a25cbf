"""What each platform gets for addresses, underlined text and code with fences."""

import pytest
import structlog

from gateway.markdown.text_renderer import BREAK
from gateway.markdown.tree import Document
from gateway.render import render
from tests.gateway.render.readers import letters, read
from tests.support.for_each import for_each

PLATFORMS = ["discord", "slack", "telegram", "whatsapp", "web", "plain"]
NESTED = "# Title\n\n```bash\nnpm i `x`\n```\n\n*end*"


def payload(markdown: str, platform: str) -> str:
    (part,) = render(markdown, platform)
    return str(part.payload)


@pytest.mark.parametrize("platform", ["discord", "telegram", "whatsapp", "plain"])
@for_each(
    ("markdown", "seen"),
    {
        "[mail](mailto:a@b.c)": "mail (a@b.c)",
        "[call](tel:+4930123)": "call (+4930123)",
        "[+49 30 123](tel:+4930123)": "+49 30 123",
        "<me@e.org>": "me@e.org",
    }.items(),
)
def test_mail_addresses_and_telephone_numbers_are_text(
    markdown: str, seen: str, platform: str
) -> None:
    assert payload(markdown, platform) == seen


def test_slack_opens_mail_addresses_and_telephone_numbers() -> None:
    assert "'url': 'mailto:a@b.c'" in payload("[mail](mailto:a@b.c)", "slack")
    assert "'url': 'tel:+4930123'" in payload("[call](tel:+4930123)", "slack")


def test_an_address_before_text_without_a_space_is_a_link_of_its_own() -> None:
    markdown = "请看https://e.org/a，再见"
    link = '<a href="https://e.org/a">https://e.org/a</a>'
    assert payload(markdown, "telegram") == f"请看{link}，再见"
    assert payload(markdown, "discord") == "请看<https://e.org/a>，再见"
    assert payload("see https://e.org/a now", "telegram") == "see https://e.org/a now"


@for_each(
    ("platform", "seen"),
    {
        "discord": "__x__",
        "telegram": "<u>x</u>",
        "whatsapp": "_x_",
        "web": "<p><u>x</u></p>",
        "plain": "x",
    }.items(),
)
def test_underlined_text_is_italic_where_nothing_is_underlined(platform: str, seen: str) -> None:
    assert payload("<u>x</u>", platform) == seen
    assert "'style': {'italic': True}" in payload("<u>x</u>", "slack")


@pytest.mark.parametrize("platform", PLATFORMS)
@for_each(
    "code", [NESTED, "```", "a ``` b", "````\n```\n````", "x `` ``` y", "x ` `` ``` y", "`a```"]
)
def test_code_with_fences_has_no_invisible_characters(code: str, platform: str) -> None:
    fence = "`" * 8
    shown = payload(f"{fence}\n{code}\n{fence}", platform)
    assert BREAK not in shown
    assert letters(read(render(f"{fence}\n{code}\n{fence}", platform), platform)) == letters(code)


def test_code_with_fences_is_copied_unchanged() -> None:
    markdown = f"````md\n{NESTED}\n````"
    assert payload(markdown, "discord") == f"``{NESTED}``"
    assert read(render(markdown, "telegram"), "telegram") == NESTED
    assert read(render(markdown, "slack"), "slack") == NESTED


@for_each(
    ("markdown", "seen"),
    {
        "f(**kwargs) and *it*": "f(**kwargs) and _it_",
        r"\*star\*;": "`*star*;`",
        "2*3*4 and x**2": "2*3*4 and x**2",
    }.items(),
)
def test_whatsapp_keeps_the_stars_of_code(markdown: str, seen: str) -> None:
    assert payload(markdown, "whatsapp") == seen


@for_each(
    ("markdown", "seen"),
    {
        "**注意：**请": "*注意*：请",
        "这是**“重点”**内容": "这是“*重点*”内容",
        "은 **“비밀번호”**를": "은 “*비밀번호*”를",
        "**Note:**text": "*Note*:text",
        "**注意：** 请": "*注意：* 请",
        "**강조(설명)**입니다": "강조(설명)입니다",
        "**重点**内容": "重点内容",
    }.items(),
)
def test_whatsapp_marks_end_before_punctuation_that_a_letter_touches(
    markdown: str, seen: str
) -> None:
    assert payload(markdown, "whatsapp") == seen


@for_each(
    ("markdown", "seen"),
    {
        "2. a\n5. b\n7. c": "2. a\n5. b\n7. c",
        "3. a\n2. b\n1. c": "3. a\n2. b\n1. c",
        "1. a\n1. b\n1. c": "1. a\n2. b\n3. c",
    }.items(),
)
def test_the_items_of_a_list_keep_their_numbers(markdown: str, seen: str) -> None:
    assert payload(markdown, "telegram") == payload(markdown, "whatsapp") == seen


def test_discord_and_slack_do_not_count_where_numbers_have_gaps() -> None:
    assert payload("2. a\n5. b", "discord") == "2\\. a\n5\\. b"
    assert payload("2. a\n3. b", "discord") == "2. a\n3. b"
    assert payload("2. a\n5. b", "slack").count("'offset': ") == 2
    assert payload("2. a\n3. b", "slack").count("'offset': ") == 1


def test_an_answer_that_the_parser_fails_on_is_shown_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(_text: str) -> Document:
        raise RecursionError

    monkeypatch.setattr("gateway.render.parse", fails)
    monkeypatch.setattr("gateway.render.log", structlog.get_logger())
    assert payload("a **b**", "telegram") == "a **b**"


@for_each(
    ("markdown", "seen"),
    {
        "~~wrong~~right": "~wrong~ right",
        "这是~~错误~~正确": "这是 ~错误~ 正确",
        "a ~~b~~ c": "a ~b~ c",
    }.items(),
)
def test_struck_out_text_beside_letters_stays_struck_out_on_whatsapp(
    markdown: str, seen: str
) -> None:
    assert payload(markdown, "whatsapp") == seen
