"""Rich messages and paid media, as a message, as a forward and as the message replied to."""

from typing import Any

from adapters.telegram import parse
from adapters.telegram.rich_message import CUT
from gateway.authorship import Material
from gateway.message import MAX_CONTENT, Attachment, ChatMessage, MessageReceived
from tests.adapters.telegram.updates import ANN, DATE, GROUP, ME, message, update
from tests.support.processor_time import seconds

PHOTO = {"type": "photo", "photo": [{"file_id": "p1", "width": 9, "height": 9}]}
PICTURE = Attachment("image", "p1", "photo.jpg", "image/jpeg")


def paragraph(*pieces: Any) -> dict[str, Any]:
    return {"type": "paragraph", "text": list(pieces)}


def item(label: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"label": label, "blocks": list(blocks), **more}


RICH: dict[str, Any] = {
    "blocks": [
        {"type": "heading", "text": "Plan 😀", "size": 2},
        paragraph(
            "Not ",
            {"type": "strikethrough", "text": [{"type": "bold", "text": "Rome"}]},
            " but 10",
            {"type": "superscript", "text": "6"},
            " ",
            {"type": "code", "text": "a*b"},
            " ",
            {"type": "url", "text": "here", "url": "https://a.example/x"},
            " ",
            {"type": "mathematical_expression", "expression": "x^2"},
            {"type": "custom_emoji", "custom_emoji_id": "1", "alternative_text": "👍"},
        ),
        {
            "type": "list",
            "items": [
                item(
                    "1.", paragraph("one"), {"type": "list", "items": [item("•", paragraph("a"))]}
                ),
                item("2.", paragraph("two"), has_checkbox=True, is_checked=True),
            ],
        },
        {"type": "blockquote", "blocks": [paragraph("said"), paragraph("so")], "credit": "Bo"},
        {
            "type": "table",
            "cells": [[{"text": "City"}, {"text": "km"}], [{"text": "Rome"}, {"text": "9"}]],
            "caption": {"text": "Distances"},
        },
        {"type": "pre", "text": "x = 1", "language": "python"},
        {"type": "divider"},
        {"type": "details", "summary": "More", "blocks": [paragraph("hidden")]},
        {"type": "collage", "blocks": [PHOTO], "caption": {"text": "The house"}},
        {"type": "map", "location": {"latitude": 1, "longitude": 2}},
        {"type": "mathematical_expression", "expression": "E = mc^2"},
        {"type": "footer", "text": "end"},
        {"type": "of_tomorrow", "text": "kept", "blocks": [paragraph("too")]},
    ]
}
TEXT = """\
## Plan 😀
Not ~~Rome~~ but 10^6 `a*b` here (https://a.example/x) $x^2$👍
1. one
  • a
2. [x] two
> said
> so
> Bo
City | km
Rome | 9
Distances
```python
x = 1
```
---
More
hidden
The house
Location: 1.000000, 2.000000
$$E = mc^2$$
end
kept
too"""


def read(**more: Any) -> ChatMessage:
    (event,) = parse(update(chat=GROUP, **more), ME)
    assert isinstance(event, MessageReceived)
    return event.message


def test_a_rich_message_is_read_with_its_files() -> None:
    found = read(rich_message=RICH)
    assert found.content == TEXT
    assert found.attachments == (PICTURE,)


def test_a_forwarded_rich_message_is_material() -> None:
    origin = {"type": "user", "sender_user": {**ANN, "first_name": "Bo"}, "date": DATE}
    found = read(rich_message=RICH, forward_origin=origin)
    assert found.content == ""
    assert found.material == (Material("forwarded", TEXT, "Bo Lee"),)


def test_a_rich_message_that_is_replied_to_is_the_quote() -> None:
    quote = read(text="why?", reply_to_message=message(rich_message=RICH)).quote
    assert quote is not None
    assert quote.text == TEXT


def test_a_mention_in_a_rich_message_addresses_the_bot_and_one_in_its_quotation_does_not() -> None:
    name = {"type": "mention", "text": "@OurBot", "username": "OurBot"}
    found = read(rich_message={"blocks": [paragraph(name, " why?")]})
    assert (found.mentions_bot, found.content) == (True, "why?")
    quoted = {"type": "blockquote", "blocks": [paragraph(name, " why?")]}
    assert not read(rich_message={"blocks": [quoted]}).mentions_bot


def test_a_command_in_a_rich_message_is_text() -> None:
    command = {"type": "bot_command", "text": "/clear", "bot_command": "/clear"}
    assert read(rich_message={"blocks": [paragraph(command)]}).content == "/clear"


def test_the_text_of_a_rich_message_is_bounded() -> None:
    deep: Any = "core"
    for _ in range(900):
        deep = {"type": "bold", "text": [deep]}
    wide = [paragraph(*["word "] * 2_000)] * 2_000
    long = {"blocks": [paragraph("first"), paragraph(deep), *wide]}
    assert seconds(lambda: read(rich_message=long), 0.5) < 0.5
    found = read(rich_message=long)
    assert found.content.startswith("first")
    assert found.content.endswith(CUT)
    assert len(found.content) <= MAX_CONTENT


def test_paid_media_without_a_caption_are_named() -> None:
    paid = {"star_count": 5, "paid_media": [{"type": "preview", "duration": 3}, PHOTO]}
    found = read(paid_media=paid)
    (card,) = found.material
    assert card.text == "Paid media: 2 for 5 Stars, 1 of them not visible"
    assert found.attachments == (PICTURE,)
    assert read(paid_media=paid, caption="look").content == "look"
