"""Methods that look things up, and those that move files."""

from typing import Final

from simulators.slack.call import Answer, Call, Method, SlackError
from simulators.slack.events import file_object, message_body, user_object
from simulators.slack.world import Channel, Message, StoredFile

MAX_REPLIES: Final = 1_000
"""Messages of one page of a thread (docs.slack.dev, conversations.replies)."""
_HISTORY: Final = {"public": "channels", "private": "groups", "direct": "im"}
MAX_FILE: Final = 1_000_000_000
"""Bytes of one file (docs.slack.dev, files.getUploadURLExternal)."""


def test_auth(call: Call) -> Answer:
    world = call.world
    return {
        "ok": True,
        "url": "https://simulated.slack.com/",
        "team": "Simulated",
        "user": world.bot_name.lower(),
        "team_id": world.team,
        "user_id": world.bot_user,
        "bot_id": world.bot_id,
        "is_enterprise_install": False,
    }


def bot_info(call: Call) -> Answer:
    world = call.world
    if call.text("bot") != world.bot_id:
        raise SlackError("bot_not_found")
    described = {"id": world.bot_id, "app_id": world.app_id, "user_id": world.bot_user}
    return {"ok": True, "bot": described | {"name": world.bot_name, "deleted": False}}


def channel_info(call: Call) -> Answer:
    channel = call.channel(inside=False)
    call.require(
        {"public": "channels:read", "private": "groups:read", "direct": "im:read"}[channel.kind]
    )
    if channel.kind != "public" and not channel.bot_inside:
        raise SlackError("channel_not_found")
    return {"ok": True, "channel": _channel(channel)}


def _channel(channel: Channel) -> Answer:
    described: Answer = {
        "id": channel.id,
        "is_im": channel.kind == "direct",
        "is_mpim": False,
        "is_private": channel.kind != "public",
        "is_channel": channel.kind == "public",
        "is_group": channel.kind == "private",
        "is_member": channel.bot_inside,
        "is_ext_shared": channel.shared,
        "is_shared": channel.shared,
    }
    extra = {"user": channel.peer} if channel.kind == "direct" else {"name": channel.title}
    return described | extra


def open_channel(call: Call) -> Answer:
    person = call.world.people.get(call.needed("users"))
    if person is None:
        raise SlackError("user_not_found")
    return {"ok": True, "channel": {"id": call.world.direct(person).id}}


def replies(call: Call) -> Answer:
    """A thread, its beginning first; its first message is in the answer whatever the bounds
    (docs.slack.dev, conversations.replies: scopes, `limit`, `cursor`, `latest`, `oldest`)."""
    channel = call.channel()
    call.require(f"{_HISTORY[channel.kind]}:history")
    first = call.world.find(channel.id, call.needed("ts"))
    if first is None or first.only_for:
        raise SlackError("thread_not_found")
    limit = int(call.text("limit") or MAX_REPLIES)
    if not 1 <= limit <= MAX_REPLIES:
        raise SlackError("invalid_limit")
    thread = [m for m in call.world.thread(channel.id, first.ts) if not (m.deleted or m.only_for)]
    oldest, latest = call.text("oldest") or "0", call.text("latest") or "9999999999"
    within = [m for m in thread[1:] if float(oldest) < float(m.ts) < float(latest)]
    start = int(call.text("cursor").removeprefix("after:") or 0)
    shown = within[start : start + limit - (not start)]
    bodies = [message_body(call.world, m, call.base) for m in ([first] if not start else [])]
    for body in bodies:
        body |= {"reply_count": len(thread) - 1, "latest_reply": thread[-1].ts}
    bodies += [message_body(call.world, m, call.base) for m in shown]
    end = start + len(shown)
    more = end < len(within)
    following = {"response_metadata": {"next_cursor": f"after:{end}"}} if more else {}
    return {"ok": True, "messages": bodies, "has_more": more, **following}


def user_info(call: Call) -> Answer:
    user = call.needed("user")
    world = call.world
    if user not in world.people and user != world.bot_user:
        raise SlackError("user_not_found")
    about = user_object(world, user) | {"tz": world.zones.get(user, "Etc/UTC")}
    if call.text("include_locale") in ("true", "1"):
        about["locale"] = world.languages.get(user, "en-US")
    if address := portrait_address(call, user):
        profile = about["profile"]
        about["profile"] = {**(profile if isinstance(profile, dict) else {}), "image_72": address}
    return {"ok": True, "user": about}


def portrait_address(call: Call, user: str) -> str:
    """The address of the picture of a person; empty without one."""
    elsewhere = call.world.portrait_addresses.get(user, "")
    here = f"{call.base}/portraits/{user}/72.png" if user in call.world.portraits else ""
    return elsewhere or here


def file_info(call: Call) -> Answer:
    file = call.world.files.get(call.needed("file"))
    if file is None:
        raise SlackError("file_not_found")
    carrier = Message("0", "", file.user, files=[file])
    return {"ok": True, "file": file_object(call.base, call.world, carrier)[0]}


def upload_url(call: Call) -> Answer:
    name = call.needed("filename")
    length = call.needed("length")
    if not length.isdigit() or not 0 < int(length) <= MAX_FILE:
        raise SlackError("invalid_arguments", "length must be a positive number of bytes")
    file = StoredFile(call.world.new_id("F"), name, "", b"", call.world.bot_user)
    call.world.uploads[file.id] = file
    return {"ok": True, "upload_url": f"{call.base}/upload/{file.id}", "file_id": file.id}


def complete_upload(call: Call) -> Answer:
    named = call.json_list("files")
    files = []
    for entry in named:
        file_id = str(entry.get("id")) if isinstance(entry, dict) else ""
        file = call.world.uploads.get(file_id)
        if file is None or not file.data:
            raise SlackError("file_not_found")
        files.append(file)
    if not files:
        raise SlackError("invalid_arguments", "missing required field: files")
    if call.text("channel_id"):
        _share(call, files)
    for file in files:
        call.world.files[file.id] = call.world.uploads.pop(file.id)
    return {"ok": True, "files": [{"id": f.id, "title": f.name} for f in files]}


def _share(call: Call, files: list[StoredFile]) -> None:
    channel = call.channel()
    thread_ts = call.text("thread_ts")
    if thread_ts and call.world.find(channel.id, thread_ts) is None:
        raise SlackError("thread_not_found")
    for file in files:
        file.shared = True
    message = call.world.add(
        Message(
            ts=call.world.new_ts(),
            channel=channel.id,
            user=call.world.bot_user,
            text=call.text("initial_comment"),
            thread_ts=thread_ts,
            files=files,
            by_bot=True,
            payload=call.recorded(),
        )
    )
    call.publish(message, "written", {})


READING: Final = {
    "auth.test": Method(test_auth),
    "bots.info": Method(bot_info, "users:read"),
    "conversations.info": Method(channel_info),
    "conversations.open": Method(open_channel, "im:write"),
    "conversations.replies": Method(replies),
    "users.info": Method(user_info, "users:read"),
    "files.info": Method(file_info, "files:read"),
    "files.getUploadURLExternal": Method(upload_url, "files:write"),
    "files.completeUploadExternal": Method(complete_upload, "files:write"),
}
