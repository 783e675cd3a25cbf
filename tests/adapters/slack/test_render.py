"""Tables and lists in Slack's blocks, as its simulator accepts them."""

from typing import Any

from gateway.render import render
from simulators.slack.blocks import check_message

TABLE = "|a|b|\n|-|-|\n|1|**2**|\n"


def blocks_of(markdown: str) -> list[list[dict[str, Any]]]:
    """The blocks of each message, which Slack takes."""
    messages: list[list[dict[str, Any]]] = []
    for part in render(markdown, "slack"):
        assert isinstance(part.payload, dict)
        check_message(part.payload["text"], part.payload["blocks"])
        blocks: Any = part.payload["blocks"]
        messages.append(blocks)
    return messages


def kinds(markdown: str) -> list[list[str]]:
    return [[str(block["type"]) for block in blocks] for blocks in blocks_of(markdown)]


def test_every_table_of_a_message_stays_a_table() -> None:
    assert kinds(f"{TABLE}\ntext\n\n{TABLE}\n{TABLE}") == [
        ["table", "rich_text", "data_table", "data_table"]
    ]


def test_a_data_table_shows_all_rows_and_keeps_styles() -> None:
    ((_, _, later),) = blocks_of(f"{TABLE}\ntext\n\n|c||\n|-|-|\n|1|**2**|\n|3|4|")
    assert later["caption"] == "c"
    assert later["page_size"] == 2
    assert [cell["text"] for cell in later["rows"][0]] == ["c", " "]
    (section,) = later["rows"][1][1]["elements"]
    assert section["elements"] == [{"type": "text", "text": "2", "style": {"bold": True}}]


def test_a_table_without_rows_gets_a_message_of_its_own() -> None:
    assert kinds(f"{TABLE}\n|c|d|\n|-|-|\n") == [["table"], ["table"]]


def test_tables_beyond_the_characters_of_a_message_go_to_the_next() -> None:
    rows = "|1234567890|1234567890|\n" * 90
    messages = kinds(f"|a|b|\n|-|-|\n{rows}\ntext\n\n" * 7)
    assert [sum(kind.endswith("table") for kind in message) for message in messages] == [4, 3]
    assert [message.count("table") for message in messages] == [1, 1]


def test_a_table_with_too_many_columns_is_a_list_of_records() -> None:
    ((block,),) = blocks_of("|" + "a|" * 21 + "\n|" + "-|" * 21 + "\n|" + "1|" * 21)
    assert block["type"] == "rich_text"
    assert block["elements"][0]["type"] == "rich_text_section"


def test_a_further_paragraph_of_an_item_is_indented() -> None:
    ((block,),) = blocks_of(
        "- a\n  - b\n\n    deep\n    - c\n\n    deeper\n\n  further\n  line\n\n  last\n- d"
    )
    texts = [
        "".join(leaf["text"] for leaf in element["elements"])
        for element in block["elements"]
        if element["type"] == "rich_text_section"
    ]
    assert texts == ["\u2003\u2003deeper\n\u2003further\n\u2003line\n\u2003last"]
