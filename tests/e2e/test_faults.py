"""What goes wrong on the way, on every platform, and that people notice nothing of it."""

from typing import Final

from simulators.base import Fault
from tests.e2e.harness import Lab

SEND: Final = {
    "discord": "POST /channels/{id}/messages",
    "slack": "chat.postMessage",
    "telegram": "sendMessage",
    "whatsapp": "messages",
}
"""How each platform calls the request that sends a text."""


async def test_a_refused_send_is_repeated_when_the_platform_says(lab: Lab) -> None:
    method = SEND[lab.platform.platform]
    lab.platform.faults.add(Fault(method, "rate_limit", retry_after=1.0))
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "hello")
    await lab.answer(room)
    assert len(await lab.quiet(room)) == 1
    sends = [call for call in lab.platform.calls if call.method == method]
    assert [call.status for call in sends][0] == 429
    assert sends[1].at - sends[0].at >= 1.0


async def test_a_server_error_is_survived(lab: Lab) -> None:
    lab.platform.faults.add(Fault(SEND[lab.platform.platform], "server_error", times=2))
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "hello")
    await lab.answer(room)
    assert len(await lab.quiet(room)) == 1


async def test_a_connection_that_breaks_before_the_send_loses_nothing(lab: Lab) -> None:
    lab.platform.faults.add(Fault(SEND[lab.platform.platform], "drop_before"))
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "hello")
    await lab.answer(room)
    shown = await lab.quiet(room)
    assert "No language model" in shown[-1].text


async def test_messages_written_while_the_sockets_were_cut_are_answered(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "before")
    await lab.answer(room)
    await lab.platform.drop_connections()
    await lab.platform.say(ada, room, "meanwhile")
    await lab.answer(room, after=1, timeout=30)
    assert len(await lab.quiet(room)) == 2
