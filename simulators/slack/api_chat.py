"""Methods that write: chat.*, reactions.*, assistant.threads.setStatus."""

import time
from typing import Final

from simulators.slack.blocks import check_message
from simulators.slack.call import Answer, Call, Method, SlackError
from simulators.slack.emoji import KNOWN
from simulators.slack.events import message_body
from simulators.slack.world import Channel, Message


def post_message(call: Call) -> Answer:
    channel = call.channel()
    blocks = check_message(call.text("text"), call.json_list("blocks"))
    message = call.world.add(
        Message(
            ts=call.world.new_ts(),
            channel=channel.id,
            user=call.world.bot_user,
            text=call.text("text"),
            blocks=_numbered(call, blocks),
            thread_ts=_thread(call, channel),
            by_bot=True,
            payload=call.recorded(),
        )
    )
    call.publish(message, "written", {})
    body = message_body(call.world, message, call.base)
    return {"ok": True, "channel": channel.id, "ts": message.ts, "message": body}


def post_ephemeral(call: Call) -> Answer:
    channel = call.channel()
    user = call.needed("user")
    if user not in call.world.people:
        raise SlackError("user_not_found")
    if channel.kind == "direct" and channel.peer != user:
        raise SlackError("user_not_in_channel")
    blocks = check_message(call.text("text"), call.json_list("blocks"))
    thread_ts = _thread(call, channel)
    message = Message(
        ts=call.world.new_ts(),
        channel=channel.id,
        user=call.world.bot_user,
        text=call.text("text"),
        blocks=_numbered(call, blocks),
        thread_ts=thread_ts,
        by_bot=True,
        only_for=user,
        payload=call.recorded(),
    )
    # In a thread without replies Slack says ok, and shows an ephemeral message to nobody.
    if not thread_ts or any(m.thread_ts == thread_ts for m in channel.messages):
        call.world.add(message)
    return {"ok": True, "message_ts": message.ts}


def update(call: Call) -> Answer:
    message = call.message()
    if message.user != call.world.bot_user:
        raise SlackError("cant_update_message")
    if time.monotonic() < message.streams_until:
        raise SlackError("streaming_state_conflict")
    kept = message.blocks if "blocks" not in call.arguments else call.json_list("blocks")
    blocks = check_message(call.text("text"), list(kept))
    before = message_body(call.world, message, call.base)
    message.text, message.blocks = call.text("text"), _numbered(call, blocks)
    message.payload = call.recorded()
    message.edited_ts = call.world.new_ts()
    call.world.changed.notify()
    call.publish(message, "changed", before)
    return {
        "ok": True,
        "channel": message.channel,
        "ts": message.ts,
        "text": message.text,
        "message": message_body(call.world, message, call.base) | {"previous": before["ts"]},
    }


def delete(call: Call) -> Answer:
    message = call.message()
    if message.user != call.world.bot_user:
        raise SlackError("cant_delete_message")
    before = message_body(call.world, message, call.base)
    message.deleted = True
    call.world.changed.notify()
    call.publish(message, "removed", before)
    return {"ok": True, "channel": message.channel, "ts": message.ts}


def add_reaction(call: Call) -> Answer:
    message = call.message("timestamp")
    name = call.needed("name")
    if name not in KNOWN:
        raise SlackError("invalid_name")
    if call.world.bot_user in message.reactions.setdefault(name, set()):
        raise SlackError("already_reacted")
    message.reactions[name].add(call.world.bot_user)
    call.world.changed.notify()
    return {"ok": True}


def remove_reaction(call: Call) -> Answer:
    message = call.message("timestamp")
    who = message.reactions.get(call.needed("name"), set())
    if call.world.bot_user not in who:
        raise SlackError("no_reaction")
    who.discard(call.world.bot_user)
    call.world.changed.notify()
    return {"ok": True}


def set_status(call: Call) -> Answer:
    call.needed("channel_id")
    channel = call.channel()
    thread_ts = call.needed("thread_ts")
    if call.world.find(channel.id, thread_ts) is None:
        raise SlackError("thread_not_found")
    channel.statuses[thread_ts] = call.text("status")
    return {"ok": True}


def _thread(call: Call, channel: Channel) -> str:
    """The thread to post in. A reply's id stands for the thread it is in."""
    thread_ts = call.text("thread_ts")
    if not thread_ts:
        return ""
    parent = call.world.find(channel.id, thread_ts)
    if parent is None or parent.only_for:
        raise SlackError("thread_not_found")
    return parent.thread_ts or parent.ts


def _numbered(call: Call, blocks: list[dict[str, object]]) -> list[dict[str, object]]:
    """Slack gives every block and control without an id one of its own."""
    numbered = []
    for block in blocks:
        named = {**block, "block_id": block.get("block_id") or call.world.new_id("b")}
        elements = block.get("elements")
        if block.get("type") == "actions" and isinstance(elements, list):
            named["elements"] = [
                {**e, "action_id": e.get("action_id") or call.world.new_id("a")} for e in elements
            ]
        numbered.append(named)
    return numbered


CHAT: Final = {
    "chat.postMessage": Method(post_message, "chat:write"),
    "chat.postEphemeral": Method(post_ephemeral, "chat:write"),
    "chat.update": Method(update, "chat:write"),
    "chat.delete": Method(delete, "chat:write"),
    "reactions.add": Method(add_reaction, "reactions:write"),
    "reactions.remove": Method(remove_reaction, "reactions:write"),
    "assistant.threads.setStatus": Method(set_status, "chat:write"),
}
