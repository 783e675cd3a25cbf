"""Values on their way into a row."""

import json
from collections.abc import Sequence


def storable(text: str) -> str:
    """The text without what PostgreSQL cannot keep: U+0000 and lone surrogates become U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def recordset(rows: Sequence[dict[str, object]]) -> str:
    """Rows as one parameter, for `json_to_recordset`."""
    return json.dumps(rows, ensure_ascii=False)
