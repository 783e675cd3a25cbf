"""chat.startStream, appendStream and stopStream: a message that grows.

Rules from docs.slack.dev/reference/methods/chat.startStream and its kin; that a stream ends after
about five minutes is from slackapi/python-slack-sdk issue 1859.
"""

import time
from typing import Final

from simulators.slack.blocks import check_message
from simulators.slack.call import Answer, Call, Method, SlackError
from simulators.slack.events import message_body
from simulators.slack.world import Channel, Message

MAX_MARKDOWN: Final = 12_000
ENDED: Final = "message_not_in_streaming_state"


def start(call: Call) -> Answer:
    """A new message below another one; in channels, for one person."""
    channel = call.channel()
    direct = channel.kind == "direct"
    if not direct:
        _recipient(call)
    text = _markdown(call)
    message = call.world.add(
        Message(
            ts=call.world.new_ts(),
            channel=channel.id,
            user=call.world.bot_user,
            blocks=_blocks(text),
            thread_ts=_thread(call, channel, needed=direct),
            by_bot=True,
            payload=call.recorded(),
            markdown=text,
            streams_until=time.monotonic() + call.world.stream_seconds,
        )
    )
    call.publish(message, "written", {})
    return {"ok": True, "channel": channel.id, "ts": message.ts}


def append(call: Call) -> Answer:
    """More Markdown, behind what stands there."""
    message = _streaming(call)
    added = _markdown(call)
    if not added:
        raise SlackError("invalid_arguments", "missing required field: markdown_text")
    _grow(message, added)
    call.world.changed.notify()
    return {"ok": True, "channel": message.channel, "ts": message.ts}


def stop(call: Call) -> Answer:
    """The end of a stream, with a last piece if there is one."""
    message = _streaming(call)
    _grow(message, _markdown(call))
    message.blocks += check_message("-", call.json_list("blocks"))
    before = message_body(call.world, message, call.base)
    message.streams_until = 0.0
    call.world.changed.notify()
    call.publish(message, "changed", before)
    body = message_body(call.world, message, call.base)
    return {"ok": True, "channel": message.channel, "ts": message.ts, "message": body}


def _recipient(call: Call) -> None:
    user, team = call.text("recipient_user_id"), call.text("recipient_team_id")
    if not user:
        raise SlackError("missing_recipient_user_id")
    if not team:
        raise SlackError("missing_recipient_team_id")
    if user not in call.world.people:
        raise SlackError("user_not_found")


def _thread(call: Call, channel: Channel, *, needed: bool) -> str:
    thread_ts = call.needed("thread_ts") if needed else call.text("thread_ts")
    if not thread_ts:
        return ""
    parent = call.world.find(channel.id, thread_ts)
    if parent is None:
        raise SlackError("thread_not_found")
    return parent.thread_ts or parent.ts


def _streaming(call: Call) -> Message:
    message = call.message()
    if message.user != call.world.bot_user:
        raise SlackError("message_not_owned_by_app")
    if time.monotonic() >= message.streams_until:
        raise SlackError(ENDED)
    return message


def _markdown(call: Call) -> str:
    pieces = [call.text("markdown_text")]
    for chunk in call.json_list("chunks"):
        if not isinstance(chunk, dict) or chunk.get("type") != "markdown_text":
            raise SlackError("invalid_chunks", "this simulator takes markdown_text only")
        pieces.append(str(chunk.get("text", "")))
    text = "".join(pieces)
    if len(text) > MAX_MARKDOWN:
        raise SlackError("msg_too_long")
    return text


def _grow(message: Message, added: str) -> None:
    message.markdown += added
    message.blocks = _blocks(message.markdown)


def _blocks(markdown: str) -> list[dict[str, object]]:
    return [{"type": "markdown", "text": markdown}] if markdown.strip() else []


STREAMS: Final = {
    "chat.startStream": Method(start, "chat:write"),
    "chat.appendStream": Method(append, "chat:write"),
    "chat.stopStream": Method(stop, "chat:write"),
}
