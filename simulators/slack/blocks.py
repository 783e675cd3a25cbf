"""Checks messages by the rules of Slack: lengths, the structure of Block Kit, one table at most.

The figures are from docs.slack.dev/reference/block-kit; the budget of a whole message is not
documented and was measured by others (slackapi/bolt-js issues 2509 and 2867).
"""

from collections.abc import Iterator
from typing import Final

from simulators.slack.call import SlackError
from simulators.slack.rich_text import check_rich_text

MAX_BLOCKS: Final = 50
MAX_TEXT: Final = 40_000
MAX_TOTAL: Final = 13_200
BLOCK_COST: Final = 50
"""Characters that each block counts beside its text. The measured cases fit 44 to 74."""

TABLE_ROWS: Final = 100
DATA_TABLE_ROWS: Final = 101
TABLE_COLUMNS: Final = 20
TABLE_CHARACTERS: Final = 10_000
_BLOCK_ID: Final = 255
_CONTROLS: Final = {"button", "static_select", "overflow"}


def check_message(text: object, blocks: object) -> list[dict[str, object]]:
    """The blocks of a message that Slack would take. Raises `SlackError`."""
    if not isinstance(text, str) or not isinstance(blocks, list):
        raise SlackError("invalid_arguments" if isinstance(blocks, list) else "invalid_blocks")
    if not text.strip() and not blocks:
        raise SlackError("no_text")
    if len(text) > MAX_TEXT:
        raise SlackError("msg_too_long")
    problems = list(_check(blocks))
    if problems:
        raise SlackError("invalid_blocks", *problems)
    if sum(block["type"] == "table" for block in blocks) > 1:
        raise SlackError("invalid_attachments", "only_one_table_allowed")
    tables = [block for block in blocks if block["type"] in ("table", "data_table")]
    if sum(_characters(block.get("rows")) for block in tables) > TABLE_CHARACTERS:
        raise SlackError("invalid_blocks", f"no more than {TABLE_CHARACTERS} characters in tables")
    if sum(_characters(block) + BLOCK_COST for block in blocks) > MAX_TOTAL:
        raise SlackError("msg_blocks_too_long")
    return blocks


def _characters(node: object) -> int:
    """The text in a block: every string under "text" or "url", however deep."""
    if isinstance(node, list):
        return sum(_characters(item) for item in node)
    if not isinstance(node, dict):
        return 0
    own = sum(len(v) for k, v in node.items() if k in ("text", "url") and isinstance(v, str))
    return own + sum(_characters(v) for v in node.values() if isinstance(v, dict | list))


def _check(blocks: list[object]) -> Iterator[str]:
    if len(blocks) > MAX_BLOCKS:
        yield f"no more than {MAX_BLOCKS} items allowed [json-pointer:/blocks]"
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        at = f"/blocks/{index}"
        if not isinstance(block, dict):
            yield f"must be an object [json-pointer:{at}]"
            continue
        block_id = block.get("block_id")
        if block_id is not None:
            yield from text_within(block_id, 1, _BLOCK_ID, f"{at}/block_id")
            if block_id in seen:
                yield f"block_id already exists [json-pointer:{at}/block_id]"
            seen.add(str(block_id))
        yield from _block(block, at)


def _block(block: dict[str, object], at: str) -> Iterator[str]:
    match block.get("type"):
        case "section":
            yield from _section(block, at)
        case "header":
            yield from text_object(block.get("text"), 150, f"{at}/text", plain_only=True)
        case "context":
            yield from _context(block, at)
        case "actions":
            yield from _actions(block, at)
        case "divider":
            pass
        case "image":
            yield from text_within(block.get("alt_text"), 1, 2000, f"{at}/alt_text")
            yield from text_within(block.get("image_url"), 1, 3000, f"{at}/image_url")
        case "markdown":
            yield from text_within(block.get("text"), 1, 12_000, f"{at}/text")
        case "rich_text":
            yield from check_rich_text(block, at)
        case "table":
            yield from _table(block, at)
        case "data_table":
            yield from _data_table(block, at)
        case kind:
            yield f"unsupported type: {kind} [json-pointer:{at}/type]"


def text_within(value: object, least: int, most: int, at: str) -> Iterator[str]:
    """Complaints about a string that is missing, too short or too long."""
    if not isinstance(value, str):
        yield f"missing required field: {at.rsplit('/', 1)[1]} [json-pointer:{at}]"
    elif len(value) < least:
        yield f"must be more than {least - 1} characters [json-pointer:{at}]"
    elif len(value) > most:
        yield f"must be less than {most + 1} characters [json-pointer:{at}]"


def text_object(value: object, most: int, at: str, *, plain_only: bool = False) -> Iterator[str]:
    """Complaints about a `plain_text` or `mrkdwn` object."""
    if not isinstance(value, dict):
        yield f"missing required field: {at.rsplit('/', 1)[1]} [json-pointer:{at}]"
        return
    allowed = ("plain_text",) if plain_only else ("plain_text", "mrkdwn")
    if value.get("type") not in allowed:
        yield f"must be one of: {', '.join(allowed)} [json-pointer:{at}/type]"
    yield from text_within(value.get("text"), 1, most, f"{at}/text")


def _section(block: dict[str, object], at: str) -> Iterator[str]:
    fields = block.get("fields")
    if block.get("text") is None and fields is None:
        yield f"missing required field: text [json-pointer:{at}]"
    if block.get("text") is not None:
        yield from text_object(block["text"], 3000, f"{at}/text")
    if fields is not None:
        yield from _count(fields, 10, f"{at}/fields")
        for index, item in enumerate(_list(fields)):
            yield from text_object(item, 2000, f"{at}/fields/{index}")
    if block.get("accessory") is not None:
        yield from _control(block["accessory"], f"{at}/accessory")


def _context(block: dict[str, object], at: str) -> Iterator[str]:
    yield from _count(block.get("elements"), 10, f"{at}/elements")
    for index, item in enumerate(_list(block.get("elements"))):
        if not (isinstance(item, dict) and item.get("type") == "image"):
            yield from text_object(item, 3000, f"{at}/elements/{index}")


def _actions(block: dict[str, object], at: str) -> Iterator[str]:
    yield from _count(block.get("elements"), 25, f"{at}/elements")
    seen: set[object] = set()
    for index, item in enumerate(_list(block.get("elements"))):
        yield from _control(item, f"{at}/elements/{index}")
        action = item.get("action_id") if isinstance(item, dict) else None
        if action in seen:
            yield f"action_id already exists [json-pointer:{at}/elements/{index}/action_id]"
        if isinstance(action, str):
            seen.add(action)


def _control(control: object, at: str) -> Iterator[str]:
    if not isinstance(control, dict) or control.get("type") not in _CONTROLS:
        yield f"unsupported type [json-pointer:{at}/type]"
        return
    if control.get("action_id") is not None:
        yield from text_within(control["action_id"], 1, 255, f"{at}/action_id")
    if control["type"] == "button":
        yield from text_object(control.get("text"), 75, f"{at}/text", plain_only=True)
        if control.get("value") is not None:
            yield from text_within(control["value"], 1, 2000, f"{at}/value")
        if control.get("style") not in (None, "primary", "danger"):
            yield f"must be one of: primary, danger [json-pointer:{at}/style]"
        return
    yield from _count(control.get("options"), 100, f"{at}/options")
    for index, option in enumerate(_list(control.get("options"))):
        if not isinstance(option, dict):
            yield f"must be an object [json-pointer:{at}/options/{index}]"
            continue
        where = f"{at}/options/{index}"
        yield from text_object(option.get("text"), 75, f"{where}/text")
        yield from text_within(option.get("value"), 1, 150, f"{where}/value")


def _table(block: dict[str, object], at: str) -> Iterator[str]:
    yield from _count(block.get("rows"), TABLE_ROWS, f"{at}/rows")
    for number, row in enumerate(_list(block.get("rows"))):
        yield from _count(row, TABLE_COLUMNS, f"{at}/rows/{number}")
        for column, cell in enumerate(_list(row)):
            where = f"{at}/rows/{number}/{column}"
            if not isinstance(cell, dict):
                yield f"must be an object [json-pointer:{where}]"
            elif cell.get("type") == "raw_text":
                yield from text_within(cell.get("text"), 1, TABLE_CHARACTERS, f"{where}/text")
            elif cell.get("type") == "rich_text":
                yield from check_rich_text(cell, where)
            else:
                yield f"unsupported type: {cell.get('type')} [json-pointer:{where}/type]"
    settings = block.get("column_settings")
    if settings is not None:
        yield from _count(settings, TABLE_COLUMNS, f"{at}/column_settings")
    if _characters(block.get("rows")) > TABLE_CHARACTERS:
        yield f"must be less than {TABLE_CHARACTERS + 1} characters [json-pointer:{at}/rows]"


def _data_table(block: dict[str, object], at: str) -> Iterator[str]:
    yield from text_within(block.get("caption"), 1, TABLE_CHARACTERS, f"{at}/caption")
    rows = _list(block.get("rows"))
    if not 2 <= len(rows) <= DATA_TABLE_ROWS:
        yield f"must have 2 to {DATA_TABLE_ROWS} rows [json-pointer:{at}/rows]"
    if len({len(_list(row)) for row in rows}) > 1:
        yield f"all rows must have the same number of cells [json-pointer:{at}/rows]"
    for column, cell in enumerate(_list(rows[0] if rows else None)):
        if not isinstance(cell, dict) or cell.get("type") not in ("raw_text", "raw_number"):
            yield f"unsupported type in the header [json-pointer:{at}/rows/0/{column}]"
    size = block.get("page_size", 5)
    if not isinstance(size, int) or not 1 <= size <= TABLE_ROWS:
        yield f"must be 1 to {TABLE_ROWS} [json-pointer:{at}/page_size]"
    yield from _table({"rows": rows[:TABLE_ROWS]}, at)


def _count(value: object, most: int, at: str) -> Iterator[str]:
    if not isinstance(value, list) or not value:
        yield f"missing required field: {at.rsplit('/', 1)[1]} [json-pointer:{at}]"
    elif len(value) > most:
        yield f"no more than {most} items allowed [json-pointer:{at}]"


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
