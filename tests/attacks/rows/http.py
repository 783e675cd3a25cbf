"""The two listeners: forged webhooks, tokens of other people, pages of other sites."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping

import aiohttp

from parley.http.login_links import COOKIE
from simulators.telegram.simulator import SECRET
from simulators.whatsapp import WhatsAppSimulator
from simulators.whatsapp.simulator import APP_SECRET
from tests.attacks.scene import Scene, hold
from tests.attacks.steps import does, plants, still_there
from tests.attacks.table import Attack
from tests.attacks.webhooks import body_of, has_arrived, post, signed_slack

WEBHOOKS = ("slack", "telegram", "whatsapp")
FORGE = "write in another person's name"
READ = "read another person's memory over HTTP"
WRITE = "change another person's memory over HTTP"
ONE = ("telegram",)


async def _unsigned(scene: Scene) -> None:
    scene.member("ada")
    body = body_of(scene, "ada", f"remember {scene.mark}")
    wrong = {
        "X-Slack-Signature": "v0=" + "0" * 64,
        "X-Slack-Request-Timestamp": str(int(time.time())),
        "X-Telegram-Bot-Api-Secret-Token": "guessed",
        "X-Hub-Signature-256": "sha256=" + "0" * 64,
    }
    prefix = {name: value[:-1] for name, value in wrong.items()}
    cases: tuple[Mapping[str, str], ...] = (
        {},
        wrong,
        prefix,
        dict.fromkeys(wrong, ""),
        {"X-Hub-Signature-256": "sha256=ä", "X-Slack-Signature": "ä",
         "X-Slack-Request-Timestamp": "soon", "X-Telegram-Bot-Api-Secret-Token": "ä"},
        {"X-Telegram-Bot-Api-Secret-Token": SECRET[:-1]},
    )  # fmt: skip
    for headers in cases:
        status = await post(scene, body, headers)
        hold(status in (400, 401, 403), f"status {status} for {sorted(headers)}")
    hold(not await has_arrived(scene), "a forged message was taken")


async def _swapped(scene: Scene) -> None:
    """A genuine signature over another body, and over the same body twice in one request."""
    scene.member("ada")
    genuine, forged = body_of(scene, "mallory", "hello"), body_of(scene, "ada", scene.mark)
    if scene.platform == "slack":
        headers = signed_slack(scene, genuine)
    else:
        digest = hmac.new(APP_SECRET.encode(), genuine, hashlib.sha256).hexdigest()
        headers = {"X-Hub-Signature-256": f"sha256={digest}"}
    hold(await post(scene, forged, headers) in (400, 401, 403), "the signature of another body")
    hold(not await has_arrived(scene), "a forged message was taken")


async def _expired(scene: Scene) -> None:
    scene.member("ada")
    body = body_of(scene, "ada", scene.mark)
    # Whole seconds are signed, and the request takes time: one second beyond 300 is too close.
    for at in (time.time() - 301, time.time() + 330, time.time() - 86_400):
        hold(await post(scene, body, signed_slack(scene, body, at)) in (400, 401, 403), "too old")
    hold(not await has_arrived(scene), "a recorded request was taken")


async def _replayed(scene: Scene) -> None:
    """The same genuine request again: at once, and after the program forgot its answer."""
    body = body_of(scene, "mallory", f"hello {scene.mark}")
    headers = {
        "slack": lambda: signed_slack(scene, body),
        "telegram": lambda: {"X-Telegram-Bot-Api-Secret-Token": SECRET},
        "whatsapp": lambda: {
            "X-Hub-Signature-256": "sha256="
            + hmac.new(APP_SECRET.encode(), body, hashlib.sha256).hexdigest()
        },
    }[scene.platform]()
    before = len(scene.stage.model.bodies)
    for _ in range(3):
        assert await post(scene, body, headers) == 200
        await scene.fence(scene.sim)
    await scene.settled()
    questions = [
        b for b in scene.bodies_from(before) if scene.mark in json.dumps(b["messages"][-1])
    ]
    hold(len(questions) == 1, f"one message was answered {len(questions)} times")


async def _garbage(scene: Scene) -> None:
    """Deep, huge and broken bodies with the right signature: refused, and the next is served."""
    deep = b'{"a":' * 200_000 + b"1" + b"}" * 200_000
    for body in (
        deep,
        b"[" * 500_000,
        b"{" + b'"x":1,' * 100_000 + b'"y":2}',
        b"\xff\xfe",
        b"null",
    ):
        headers: Mapping[str, str]
        if scene.platform == "slack":
            headers = signed_slack(scene, body)
        elif scene.platform == "telegram":
            headers = {"X-Telegram-Bot-Api-Secret-Token": SECRET}
        else:
            digest = hmac.new(APP_SECRET.encode(), body, hashlib.sha256).hexdigest()
            headers = {"X-Hub-Signature-256": f"sha256={digest}"}
        status = await post(scene, body, headers)
        hold(status < 500, f"status {status} for a broken body")
    await scene.say("ada", "hello")


async def _others_paths(scene: Scene) -> None:
    base = scene.stage.app.webhook_url
    for path in ("/", "/healthz", "/metrics", "/chat/", "/api/v1/brain", "/webhook/discord",
                 "/webhook/../metrics", "/webhook/slack/../../healthz", "//healthz"):  # fmt: skip
        async with scene.stage.http.get(base + path) as answer:
            hold(answer.status in (400, 404, 405), f"{path} answers {answer.status} to strangers")


# --- the API ------------------------------------------------------------------------------------


async def _others_ids(scene: Scene) -> None:
    """Every endpoint that takes an id, with the ids of somebody else."""
    call = 'CALL memory_store {"type": "fact", "content": "waiting w\\u006frds $mark"}'
    await scene.say("ada", call)
    (waiting,) = await (await scene.handle("ada")).review.waiting()
    scene.member("mallory")
    scene.words["review"] = waiting.id
    for method, path, body in (
        ("GET", "/memories/$ada_record", None),
        ("DELETE", "/memories/$ada_record", None),
        ("GET", "/memories?after=$ada_record", None),
        ("POST", "/memories", {"content": "I am new here", "supersedes": "$ada_record"}),
        ("POST", "/reviews/$review/approve", {}),
        ("POST", "/reviews/$review/reject", {}),
        ("GET", "/reviews?after=$review", None),
        ("GET", "/memories?query=drawer&limit=100", None),
        ("GET", "", None),
        ("GET", "/soul/versions?limit=10", None),
    ):
        status, text = await scene.api(method, path, body)
        hold(status < 500, f"{method} {path}: {status}")
        hold(scene.mark not in text, f"{method} {path} tells what waits for Ada")
    kept = [one.id for one in await (await scene.handle("ada")).review.waiting()]
    hold(kept == [waiting.id], "somebody else decided what waited for Ada")


async def _others_names(scene: Scene) -> None:
    """No parameter, header or field names another person, tenant or project."""
    scene.member("mallory")
    person = str(scene.person_id("ada"))
    for query in (f"?person={person}", f"?user={person}", "?tenant=other", f"?owner={person}"):
        await scene.api("GET", f"/memories{query}")
    for header in ("X-Person", "X-User", "X-Tenant", "X-Forwarded-User", "Cookie"):
        await scene.api("GET", "/memories", headers={header: person})
    for field in ("person", "tenant", "owner", "source", "trust", "id"):
        status, _ = await scene.api("POST", "/memories", {"content": "I like $mark", field: person})
        hold(status == 400, f"the unknown field {field} was taken: {status}")
    for project in ("slack:main:T0SIMULATED", "discord:main:1", "../x", "*", "%"):
        status, _ = await scene.api("GET", "/bible", params={"project": project})
        hold(status in (400, 404), f"the project {project} answers {status}")


async def _bad_tokens(scene: Scene) -> None:
    scene.member("mallory")
    good = scene.token("mallory")
    payload, _, signature = good.removeprefix("parley_").partition(".")
    document = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))

    def forged(**changes: object) -> str:
        body = json.dumps({**document, **changes}, separators=(",", ":")).encode()
        return f"parley_{base64.urlsafe_b64encode(body).decode().rstrip('=')}.{signature}"

    person = str(scene.person_id("ada"))
    crossed = scene.token("ada", tenant="other")
    for token in (
        forged(person=person), forged(tenant="other"), forged(until=2**32), forged(key=""),
        f"parley_{payload}.", f"parley_{payload}", f"{payload}.{signature}", "parley_..",
        f"parley_{payload}.{signature}x", "x" * 5_000, f"parley_{payload}.{signature[:-1]}",
        scene.token("mallory", days=-1), crossed,
    ):  # fmt: skip
        status, _ = await scene.api("GET", "/memories?query=drawer", token=token)
        hold(status == 401 or token == crossed, f"a forged token answers {status}")
    status, _ = await scene.http("GET", "/api/v1/brain/memories")
    hold(status == 401, "no token at all")


async def _blocked_alias(scene: Scene) -> None:
    """Somebody who is blocked by their telephone number asks with a token."""
    whatsapp = scene.sim
    assert isinstance(whatsapp, WhatsAppSimulator)
    scene.people["blocked"] = (whatsapp, whatsapp.person("blocked"))
    await scene.say("blocked", "hello")
    status, _ = await scene.api("GET", "/memories", by="blocked")
    hold(status == 403, f"a blocked person's token answers {status}")


async def _huge_bodies(scene: Scene) -> None:
    scene.member("mallory")
    headers = {"Content-Type": "application/json"}
    for data in (
        b'{"content": "' + b"x" * 1_000_000 + b'"}',
        b'{"content": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
        b'{"content": "x", "content": "y"}',
        b'{"content": 1e999, "tags": [' + b'"a",' * 10_000 + b'"b"]}',
        b'{"content": "\\ud800"}',
    ):
        status, _ = await scene.api("POST", "/memories", data=data, headers=headers)
        hold(status < 500, f"a broken body answers {status}")


async def _other_sites(scene: Scene) -> None:
    """A page of another site makes requests, with every name of the listener that a browser can
    use."""
    scene.member("mallory")
    port = scene.stage.app.local.port
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1.evil.example",
        "localhost.evil",
    ):
        status, _ = await scene.http("GET", "/chat/api/history", headers={"Host": host})
        hold(status in (400, 403), f"Host {host}: {status}")
    for headers in (
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
        {"Origin": f"http://localhost.evil:{port}"}, {"Origin": "http://127.0.0.1:1"},
    ):  # fmt: skip
        status, _ = await scene.http("POST", "/chat/api/actions", headers=headers, json={})
        hold(status == 403, f"POST with {headers}: {status}")
        status, _ = await scene.api("POST", "/memories", {"content": "x $mark"}, headers=headers)
        hold(status == 403, f"the API with {headers}: {status}")
        upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", **headers}
        status, _ = await scene.http("GET", "/chat/api/events", headers=upgrade)
        hold(status == 403, f"a WebSocket with {headers}: {status}")
    for forwarded in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
        status, _ = await scene.http("GET", "/metrics", headers={forwarded: "127.0.0.1"})
        hold(status == 401, f"a forwarded request ({forwarded}) answers {status}")


async def _host_with_user(scene: Scene) -> None:
    port = scene.stage.app.local.port
    for host in ("evil@127.0.0.1", f"evil@127.0.0.1:{port}", f"evil.example@localhost:{port}"):
        status, _ = await scene.http("GET", "/chat/api/history", headers={"Host": host})
        hold(status in (400, 403), f"Host {host}: {status}")


async def _web_of_another(scene: Scene) -> None:
    """One browser's page, with the ids, files and buttons of another browser's."""
    base, reply = scene.stage.app.local.base_url, scene.canary("page", "ada")
    jars = {name: aiohttp.CookieJar(unsafe=True) for name in ("ada", "mallory")}
    async with (
        aiohttp.ClientSession(cookie_jar=jars["ada"], headers={"Origin": base}) as ada,
        aiohttp.ClientSession(cookie_jar=jars["mallory"], headers={"Origin": base}) as mallory,
    ):
        for browser in (ada, mallory):
            await browser.get(base + "/chat/")
        upload = await ada.post(
            base + "/chat/api/files", data=reply.encode(),
            headers={"X-File-Name": "../../x.txt", "Content-Type": "text/plain"},
        )  # fmt: skip
        file_id = (await upload.json())["id"]
        first = {"id": "a" * 32, "type": "message", "text": f"I am {reply}", "files": [file_id]}
        assert (await ada.post(base + "/chat/api/actions", json=first)).status == 200
        await scene.settled()
        read = []
        for path in (f"/chat/api/files/{file_id}", "/chat/api/files/..%2f..%2fetc%2fpasswd",
                     "/chat/api/history", "/chat/assets/..%2f..%2froutes.py"):  # fmt: skip
            read.append(await (await mallory.get(base + path)).text())
        for action in (
            {"id": "b" * 32, "type": "message", "text": "hi", "files": [file_id]},
            {"id": "c" * 32, "type": "edit", "message_id": "a" * 32, "text": "changed"},
            {"id": "d" * 32, "type": "delete", "message_id": "a" * 32},
            {"id": "e" * 32, "type": "button", "message_id": "a" * 32, "value": "memory:yes:x"},
            {"id": "f" * 32, "type": "message", "text": "hi", "reply_to": "a" * 32},
            {"id": "a" * 32, "type": "message", "text": "the same id"},
        ):
            answer = await mallory.post(base + "/chat/api/actions", json=action)
            read.append(await answer.text())
        await scene.settled()
        read.append(await (await mallory.get(base + "/chat/api/history")).text())
        mine = await (await ada.get(base + "/chat/api/history")).text()
    hold(reply not in "".join(read), "one browser reads what another one said")
    hold("root:" not in "".join(read), "a file of this machine is served")
    hold(reply in mine, "one browser changed or deleted another one's message")


async def _fixed_session(scene: Scene) -> None:
    """A cookie that an attacker made up beforehand is never taken over."""
    for value in ("x" * 43, "a" * 64, ""):
        status, _ = await scene.http("GET", "/metrics", headers={"Cookie": f"{COOKIE}={value}"})
        hold(status in (200, 401), f"status {status}")
    async with scene.stage.http.get(
        scene.stage.app.local.base_url + "/chat/?token=guess", allow_redirects=False
    ) as answer:
        hold(COOKIE not in answer.headers.get("Set-Cookie", ""), "a guessed link logs in")
        hold("evil" not in answer.headers.get("Location", ""), "a link leads elsewhere")


HTTP = (
    Attack("webhook-forged", "platform sender", FORGE, WEBHOOKS, (does(_unsigned),)),
    Attack("webhook-body-swapped", "platform sender", FORGE, ("slack", "whatsapp"),
           (does(_swapped),)),
    Attack("webhook-expired", "platform sender", FORGE, ("slack",), (does(_expired),)),
    Attack("webhook-replayed", "platform sender", "be answered twice", WEBHOOKS,
           (does(_replayed),)),
    Attack("webhook-garbage", "platform sender", "stop the program by a body", WEBHOOKS,
           (does(_garbage),)),
    Attack("webhook-other-paths", "stranger", "reach the local pages from outside", ONE,
           (does(_others_paths),)),
    Attack("api-ids-of-others", "member", READ, ONE,
           (plants(), does(_others_ids), still_there())),
    Attack("api-names-of-others", "member", READ, ONE, (plants(), does(_others_names))),
    Attack("api-tokens-forged", "stranger", READ, ONE, (plants(), does(_bad_tokens))),
    Attack("api-blocked-by-alias", "stranger", "use the API while blocked", ("whatsapp",),
           (does(_blocked_alias),)),
    Attack("api-broken-bodies", "member", "stop the program by a body", ONE,
           (does(_huge_bodies), plants())),
    Attack("local-other-sites", "page", WRITE, ONE, (does(_other_sites),)),
    Attack("local-host-with-user", "page", "reach the local pages by another name", ONE,
           (does(_host_with_user),)),
    Attack("web-ids-of-others", "stranger", READ, ONE, (does(_web_of_another),)),
    Attack("web-session-fixed", "page", "choose another person's session", ONE,
           (does(_fixed_session),)),
)  # fmt: skip
