"""The limits of messages per platform, with their sources.

A *unit* is a UTF-16 code unit: what Telegram counts, and never fewer than the code points that
Discord and WhatsApp count, so a text that fits in units fits everywhere.
"""

from typing import Final

MAX_SOURCE: Final = 200_000
"""Characters that are read as Markdown; a longer text is shown literally, so that no input can
make parsing slow. Ours."""
MAX_BRACKETS: Final = 4_000
"""Opening brackets up to which links are looked for: each one costs the parser a look at what
follows. Ours."""
MAX_CONTAINERS: Final = 20
"""Levels of quotes and lists that are read as such (a list counts two); deeper ones stay text.
Ours: the parser calls itself for each of them."""
MAX_FILLED_CELLS: Final = 1_000
"""Empty cells that the rows of all tables in a text may get for those they lack; two characters
can ask for a whole row of them. Ours."""
DISCORD_MESSAGE: Final = 2_000
"""`content` of Create Message: discord.com/developers/docs/resources/message. Discord counts code
points (discord-api-docs #1315); we count units, which is never less."""
TELEGRAM_MESSAGE: Final = 4_096
"""`text` of sendMessage, "after entities parsing": core.telegram.org/bots/api#sendmessage. We hold
the HTML itself below it, which is never shorter than what Telegram counts."""
WHATSAPP_MESSAGE: Final = 4_096
"""`text.body`: developers.facebook.com/docs/whatsapp/cloud-api/reference/messages."""
WEB_MESSAGE: Final = 200_000
"""Characters of HTML of one message on the local page, well below what it takes. Ours."""
PLAIN_MESSAGE: Final = 2_000
"""A part for a platform we know nothing of: the smallest of the limits above."""
SLACK_BLOCKS: Final = 49
"""Blocks of one message: 50 (docs.slack.dev/reference/block-kit/blocks), less one for buttons."""
SLACK_HEADER: Final = 150
"""Characters of a header block: docs.slack.dev/reference/block-kit/blocks/header-block."""
SLACK_MESSAGE_JSON: Final = 12_000
"""Characters of all blocks of a message as compact JSON. Slack publishes no number; about 13,200
was measured before `msg_blocks_too_long`, structure included (slackapi/bolt-js #2509, #2867)."""
SLACK_TABLE_ROWS: Final = 100
"""Rows of a table, its header included: docs.slack.dev/reference/block-kit/blocks/table-block."""
SLACK_TABLE_COLUMNS: Final = 20
"""Cells of a table row: docs.slack.dev/reference/block-kit/blocks/table-block."""
SLACK_TABLE_CHARACTERS: Final = 10_000
"""Characters in all cells of a message's tables: what several senders measured; Slack's pages for
`data_table` name the same number."""
SLACK_INDENT: Final = 8
"""Deepest `indent` of a rich_text_list that Slack's own composer makes."""
COLUMN_WIDTH: Final = 40
"""Columns of an aligned table are padded up to this width; longer cells stick out. Ours."""
SLACK_TABLE_AS_CODE: Final = 3_000
"""Characters up to which a second table is shown as code; a longer one gets a message to itself.
Ours."""
