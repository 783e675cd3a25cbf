"""The Graph API of the simulator, called by a plain HTTP client."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from simulators.base import Fault, NotSupported, SimFile
from simulators.whatsapp import WhatsAppSimulator
from simulators.whatsapp.errors import GraphError


@pytest.fixture
async def sim() -> AsyncIterator[WhatsAppSimulator]:
    simulator = WhatsAppSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


@pytest.fixture
async def http(sim: WhatsAppSimulator) -> AsyncIterator[httpx2.AsyncClient]:
    settings = sim.settings()
    headers = {"Authorization": f"Bearer {settings['access_token']}"}
    base = f"{settings['base_url']}/v25.0/"
    async with httpx2.AsyncClient(base_url=base, headers=headers, trust_env=False) as client:
        yield client


def text(sim: WhatsAppSimulator, name: str = "Ada") -> dict[str, Any]:
    """A text to this person."""
    phone = sim.world.human(name).phone
    return {"messaging_product": "whatsapp", "to": phone, "type": "text", "text": {"body": "hi"}}


def error_of(answer: httpx2.Response) -> dict[str, Any]:
    """The error object of an answer."""
    error: dict[str, Any] = answer.json()["error"]
    assert {"message", "type", "code", "fbtrace_id"} <= set(error)
    return error


async def test_the_number_requires_the_right_token_and_id(
    sim: WhatsAppSimulator, http: httpx2.AsyncClient
) -> None:
    number = sim.world.number
    good = await http.get(number.phone_number_id)
    assert good.json()["display_phone_number"] == number.display
    wrong_token = await http.get(number.phone_number_id, headers={"Authorization": "Bearer no"})
    assert (wrong_token.status_code, error_of(wrong_token)["code"]) == (401, 190)
    wrong_id = await http.get(number.waba_id)
    assert wrong_id.status_code == 400
    assert (error_of(wrong_id)["code"], error_of(wrong_id)["error_subcode"]) == (100, 33)


async def test_a_message_to_a_person_who_wrote_is_displayed(
    sim: WhatsAppSimulator, http: httpx2.AsyncClient
) -> None:
    ada = sim.person("Ada")
    await sim.say(ada, sim.direct(ada), "hello")
    answer = await http.post(f"{sim.world.number.phone_number_id}/messages", json=text(sim))
    (sent,) = answer.json()["messages"]
    shown = sim.shown(sim.direct(ada))[-1]
    assert (shown.id, shown.text, shown.by_bot) == (sent["id"], "hi", True)
    assert sim.calls[-1].method == "messages"


async def test_the_window_closes_by_the_clock_of_the_simulator(
    sim: WhatsAppSimulator, http: httpx2.AsyncClient
) -> None:
    ada = sim.person("Ada")
    path = f"{sim.world.number.phone_number_id}/messages"
    await sim.say(ada, sim.direct(ada), "hello")
    sim.advance(24 * 3600 + 1)
    accepted = await http.post(path, json=text(sim))
    assert accepted.status_code == 200, "Meta notices only afterwards"
    assert not any(line.by_bot for line in sim.shown(sim.direct(ada)))
    sim.graph.state.window_error = "response"
    refused = await http.post(path, json=text(sim))
    assert (refused.status_code, error_of(refused)["code"]) == (400, 131047)
    details = error_of(refused)["error_data"]
    assert details["messaging_product"] == "whatsapp"


async def test_media_are_uploaded_described_and_downloaded(
    sim: WhatsAppSimulator, http: httpx2.AsyncClient
) -> None:
    path = f"{sim.world.number.phone_number_id}/media"
    form = {"messaging_product": "whatsapp", "type": "image/png"}
    uploaded = await http.post(path, data=form, files={"file": ("a.png", b"png", "image/png")})
    described = (await http.get(uploaded.json()["id"])).json()
    assert described["file_size"] == 3
    assert (await http.get(described["url"])).content == b"png"
    naked = httpx2.Request("GET", described["url"])
    assert (await http.send(naked)).status_code == 401
    odd = {**form, "type": "application/zip"}
    refused = await http.post(path, data=odd, files={"file": ("a.zip", b"zip", "application/zip")})
    assert error_of(refused)["code"] == 100


@pytest.mark.parametrize(
    ("fault", "status", "code"), [("rate_limit", 429, 130429), ("server_error", 500, 131000)]
)
async def test_faults_affect_the_named_method_only(
    sim: WhatsAppSimulator, http: httpx2.AsyncClient, fault: Any, status: int, code: int
) -> None:
    ada = sim.person("Ada")
    wamid = await sim.say(ada, sim.direct(ada), "hello")
    path = f"{sim.world.number.phone_number_id}/messages"
    sim.faults.add(Fault("messages", fault, retry_after=3))
    mark = {"messaging_product": "whatsapp", "status": "read", "message_id": wamid}
    assert (await http.post(path, json=mark)).status_code == 200
    answer = await http.post(path, json=text(sim))
    assert (answer.status_code, error_of(answer)["code"]) == (status, code)
    assert answer.headers.get("retry-after") == ("3" if fault == "rate_limit" else None)
    assert (await http.post(path, json=text(sim))).status_code == 200


async def test_connections_are_cut_before_or_after_the_work(
    sim: WhatsAppSimulator, http: httpx2.AsyncClient
) -> None:
    ada = sim.person("Ada")
    await sim.say(ada, sim.direct(ada), "hello")
    path = f"{sim.world.number.phone_number_id}/messages"
    for kind, shown in (("drop_before", 0), ("drop_after", 1)):
        sim.faults.add(Fault("messages", kind))  # type: ignore[arg-type] # from a loop
        with pytest.raises(httpx2.TransportError):
            await http.post(path, json=text(sim))
        assert sum(line.by_bot for line in sim.shown(sim.direct(ada))) == shown


async def test_any_error_can_be_requested(sim: WhatsAppSimulator, http: httpx2.AsyncClient) -> None:
    sim.fail_next("messages", GraphError(131056))
    answer = await http.post(f"{sim.world.number.phone_number_id}/messages", json=text(sim))
    assert error_of(answer)["code"] == 131056


async def test_templates_are_checked_and_filled(
    sim: WhatsAppSimulator, http: httpx2.AsyncClient
) -> None:
    ada = sim.person("Ada")
    path = f"{sim.world.number.phone_number_id}/messages"
    parameters = [{"type": "text", "text": "it is ready"}]
    inside = {
        "name": "conversation_followup",
        "language": {"code": "en_US"},
        "components": [{"type": "body", "parameters": parameters}],
    }
    body = {**text(sim), "type": "template", "template": inside}
    del body["text"]
    assert (await http.post(path, json=body)).status_code == 200
    assert sim.shown(sim.direct(ada))[-1].text.endswith("question: it is ready")
    inside["language"] = {"code": "fr"}
    assert error_of(await http.post(path, json=body))["code"] == 132001
    inside |= {"language": {"code": "en_US"}, "components": []}
    del inside["components"]
    assert error_of(await http.post(path, json=body))["code"] == 132000


async def test_invalid_requests_get_an_error_of_the_same_form(
    sim: WhatsAppSimulator, http: httpx2.AsyncClient
) -> None:
    path = f"{sim.world.number.phone_number_id}/messages"
    assert error_of(await http.post(path, content=b"{"))["code"] == 100
    assert error_of(await http.post(path, content=json.dumps([1])))["code"] == 100
    assert error_of(await http.post("nowhere/messages", json={}))["error_subcode"] == 33
    assert error_of(await http.delete("whatever"))["code"] == 100


async def test_unsupported_methods_say_so(sim: WhatsAppSimulator) -> None:
    ada, bob = sim.person("Ada"), sim.person("Bob")
    with pytest.raises(NotSupported):
        sim.room("general")
    with pytest.raises(NotSupported):
        await sim.open_thread(ada, sim.direct(ada), "topic")
    with pytest.raises(NotSupported):
        await sim.say(ada, sim.direct(bob), "in somebody else's chat")
    with pytest.raises(NotSupported):
        await sim.press(ada, sim.direct(ada), "wamid.none", "Yes")


async def test_people_and_chats_are_deterministic(sim: WhatsAppSimulator) -> None:
    ada = sim.person("Ada")
    assert sim.person("Ada") == ada
    assert sim.direct(ada) == sim.direct(ada)
    file = SimFile("a.pdf", "application/pdf", b"%PDF")
    await sim.say(ada, sim.direct(ada), "see", files=(file,))
    (shown,) = sim.shown(sim.direct(ada))
    assert (shown.text, shown.files, shown.author_id) == ("see", (file,), ada.id)
