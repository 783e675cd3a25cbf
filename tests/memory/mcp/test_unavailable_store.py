"""A tool whose store does not answer names it, and says what to do."""

import mcp_types

from db.errors import POSTGRES, REDIS, StoreUnavailable
from memory.mcp.sdk_tool import answered


async def text_for(error: StoreUnavailable) -> str:
    async def work() -> mcp_types.CallToolResult:
        raise error

    result = await answered("memory_store", work)
    assert result.is_error
    (content,) = result.content
    assert isinstance(content, mcp_types.TextContent)
    return content.text


async def test_each_store_is_named_without_its_address() -> None:
    redis = await text_for(StoreUnavailable("Redis: connecting to 10.0.0.7:6379", REDIS))
    assert redis.startswith("Redis, the store of waiting messages and answers, does not answer.")
    postgres = await text_for(StoreUnavailable("PostgreSQL at 10.0.0.8/db: refused", POSTGRES))
    assert postgres.startswith("PostgreSQL, the database, does not answer.")
    for text in (redis, postgres):
        assert "10.0.0" not in text
        assert "check whether it did" in text
        assert "parley doctor" in text
