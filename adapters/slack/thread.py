"""The earlier messages of a thread, read from Slack for one question.

Source: docs.slack.dev, conversations.replies. Slack returns the beginning of a thread first, so the
latest messages of a long one are asked for by their time.
"""

import asyncio
import math
from typing import Final

from msgspec import Struct

from adapters.shared.json_readers import JsonObject, as_mapping, identifier, integer, items, mapping
from adapters.shared.json_readers import text as text_at
from adapters.slack.client import SlackClient
from adapters.slack.directory import SlackDirectory
from adapters.slack.errors import AnswerTooLarge, delivery_errors
from adapters.slack.event_context import EventContext, SlackBot, message_ts
from adapters.slack.messages import SlackExtras, message_events
from gateway.errors import DeliveryError
from gateway.immutable import replace
from gateway.message import MessageReceived, Place
from gateway.ports import ThreadMessage, ThreadMessages
from gateway.ports.adapter import unpacked

FIRST_PAGE: Final = 200
"""Messages of the first request, Slack's advice; nearly every thread is shorter."""
PAGE: Final = 999
"""The highest limit of a request."""
NEAR: Final = 300
"""Messages that a request by time is expected to return."""
PAGES: Final = 3
"""Pages of `PAGE` messages that are read one after the other; of a longer thread the end is asked
for by its time."""
TRIES: Final = 5
"""Requests by time."""
STEP: Final = 8.0
"""The factor between two guesses."""
WITH_FILES: Final = 5
"""The latest messages whose files are looked up, besides the first one, where only their ids are
known."""
MAX_NAMES: Final = 20
"""Authors whose names are looked up."""
AT_ONCE: Final = 4
"""Threads that are read at the same time: their pages are in memory meanwhile."""


class _Page(Struct, frozen=True):
    """Messages of a thread. `before` is the number of replies that came before the kept ones."""

    messages: list[JsonObject]
    cursor: str = ""
    before: int = 0


class SlackThreads:
    """Reads the threads of one account. `name` is the assistant's."""

    def __init__(
        self, client: SlackClient, directory: SlackDirectory, me: SlackBot, name: str
    ) -> None:
        self._client = client
        self._directory = directory
        self._me = me
        self._name = name
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def read(self, place: Place, before: str, most: int) -> ThreadMessages:
        """Return the messages of a thread before a message. Raises a `DeliveryError`."""
        async with self._turns:
            return await self._read(place, before, most)

    async def _read(self, place: Place, before: str, most: int) -> ThreadMessages:
        thread, latest = place.thread_id, message_ts({"ts": before}, "ts")
        page = await self._first_page(place, latest)
        parent = next((one for one in page.messages if one.get("ts") == thread), {})
        rest, total = page, None
        newest_missing = False
        if page.cursor:
            total = integer(parent, "reply_count")
            try:
                rest = await self._rest(place, latest, page, total, most)
                newest_missing = bool(rest.cursor)
            except DeliveryError:  # the beginning is better than nothing
                newest_missing = True
        replies = [one for one in rest.messages if one.get("ts") != thread]
        shown = replies[-most:]
        between = rest.before + len(replies) - len(shown)
        if total is not None and not newest_missing:
            between = max(between, total - len(shown) - 1)  # the question is a reply, too
        await self._look_up([parent, *shown])
        read = []
        for one in (parent, *shown):
            read.append(self._message(one, place))
            await asyncio.sleep(0)  # a long message takes some milliseconds
        read[:1] = [await self._with_files(read[0])]
        read[-WITH_FILES:] = await asyncio.gather(*map(self._with_files, read[-WITH_FILES:]))
        return ThreadMessages(
            first=read[0],
            latest=tuple(one for one in read[1:] if one is not None),
            between=between,
            newest_missing=newest_missing,
        )

    async def _first_page(self, place: Place, latest: str) -> _Page:
        """Return the beginning of the thread: the first message alone if it is too large."""
        try:
            return await self._page(place, latest)
        except AnswerTooLarge:
            return await self._page(place, latest, limit=1)

    async def _rest(
        self, place: Place, latest: str, page: _Page, total: int | None, most: int
    ) -> _Page:
        """Return the replies up to the question, of a long thread its last messages; with a cursor
        if the latest are missing."""
        known = total is not None and bool(latest)
        long = total is not None and total - len(page.messages) > PAGES * PAGE
        if known and (long or len(page.messages) <= 1):
            return await self._end(place, latest, page, total or 0)
        try:
            for _ in range(PAGES):
                more = await self._page(place, latest, cursor=page.cursor, limit=PAGE)
                page = _joined(page, more, place.thread_id, most)
                if not page.cursor:
                    break
        except AnswerTooLarge:
            return await self._end(place, latest, page, total or 0) if known else page
        return page

    async def _end(self, place: Place, latest: str, page: _Page, total: int) -> _Page:
        """Return the end of a thread, asked for by its time: the first guess is the average rate
        of its messages."""
        end, best = float(latest), page
        reach, few, many = (end - float(place.thread_id)) * NEAR / total, 0.0, 0.0
        for _ in range(TRIES):
            try:
                found = await self._page(place, latest, oldest=f"{end - reach:.6f}", limit=PAGE)
            except AnswerTooLarge:
                found = None
            if found is None or found.cursor:
                many = reach
            else:
                few = reach
                best = found if len(found.messages) > 1 else best  # the first one is always there
                if len(found.messages) > NEAR / STEP:
                    break
            if few and many:
                reach = math.sqrt(few * many)
            else:
                reach = reach / STEP if many else reach * STEP
        return best

    async def _page(
        self,
        place: Place,
        latest: str,
        *,
        oldest: str = "",
        cursor: str = "",
        limit: int = FIRST_PAGE,
    ) -> _Page:
        with delivery_errors(sends=False):
            answer = await self._client.web.conversations_replies(
                channel=place.channel_id,
                ts=place.thread_id,
                limit=limit,
                latest=latest or None,
                oldest=oldest or None,
                cursor=cursor or None,
            )
        body = as_mapping(answer.data)
        cursor = text_at(mapping(body, "response_metadata"), "next_cursor", 500)
        return _Page(items(body, "messages", limit + 1), cursor if body.get("has_more") else "")

    async def _look_up(self, messages: list[JsonObject]) -> None:
        authors = dict.fromkeys(identifier(one, "user") for one in messages)
        unknown = [
            user
            for user in authors
            if user and user != self._me.user_id and user not in self._directory.names
        ]
        await asyncio.gather(*(self._directory.person(user) for user in unknown[:MAX_NAMES]))

    async def _with_files(self, one: ThreadMessage | None) -> ThreadMessage | None:
        if one is None or not one.message.attachments:
            return one
        files = await self._directory.described(one.message.attachments)
        return replace(one, message=replace(one.message, attachments=files))

    def _message(self, raw: JsonObject, place: Place) -> ThreadMessage | None:
        """Return a message as it reads now; None for notices and deleted messages."""
        names = {**self._directory.names, self._me.user_id: self._name}
        nobody = replace(self._me, user_id="", bot_id="", names=names)  # reads own messages, too
        context = EventContext(nobody, place.workspace_id, "", "")
        found = message_events({**raw, "channel": place.channel_id}, context, addressed=False)
        if len(found) != 1 or not isinstance(found[0], MessageReceived):
            return None
        own = EventContext(self._me, place.workspace_id, "", "").is_me(raw)
        message = found[0].message
        mentions = unpacked(SlackExtras, message.extras).mentions
        return ThreadMessage(message, own, self._me.user_id in mentions)


def _joined(page: _Page, more: _Page, thread: str, most: int) -> _Page:
    """Return the last replies of two pages."""
    replies = [one for one in (*page.messages, *more.messages) if one.get("ts") != thread]
    kept = replies[-most:]
    return _Page(kept, more.cursor, page.before + len(replies) - len(kept))
