"""A sender prevents answers to others, uses their limits, or fills the disk."""

import asyncio
import socket
import time

import aiohttp

from gateway.policy.rate_limits import COMMANDS_PER_MINUTE, INLINE_PER_MINUTE
from simulators.telegram import TelegramSimulator
from tests.attacks.scene import GotThrough, Scene, hold
from tests.attacks.spying import watched_loop
from tests.attacks.steps import does
from tests.attacks.stored import rows_of
from tests.attacks.table import EVERYWHERE, ROOMS, Attack, Step
from tests.attacks.webhooks import body_of, post_anew, signed_slack
from tests.e2e.harness import by_bot
from tests.support.patience import LAUNCH
from tests.support.waiting import eventually

STOP = "stop the program for everybody"
HELD_SECONDS = 0.3
"""The limit of uninterrupted processor time of a message: three times the guaranteed one, because
other tests share the processor's caches with this one."""
PROMPT_SECONDS = 3.0
"""Within what a genuine webhook is answered while others are held open."""

# Each keeps an engine that backtracks busy for seconds rather than for ever, so that a test ends.
INDIC = "ഹ" * 22
QUERY = "a_" * 24 + "a$"
TABS = "\t" * 32_000
LINES = "_;" * 8_000


def _holds_up(text: str, room: str = "", *, mention: bool = True) -> Step:
    """Somebody sends it; the loop turns all the while."""

    async def step(scene: Scene) -> None:
        scene.guest("mallory")
        place = scene.room(room) if room else scene.direct("mallory")
        with watched_loop() as watch:
            await scene.sim.say(scene.guest("mallory"), place, text, mention=mention)
            await asyncio.sleep(0.05)
            try:
                await scene.fence(scene.sim)
                await scene.settled()
            except TimeoutError:
                raise GotThrough("nobody else was answered any more") from None
            await scene.records("mallory")  # takes up what waits for memory
        held = f"one message held the loop for {watch.longest:.2f} s of processor time"
        hold(watch.longest < HELD_SECONDS, held)

    return step


def _asked_after(text: str, question: str) -> Step:
    """Somebody asks something with hostile words in it, once there is something to recall."""

    async def step(scene: Scene) -> None:
        await scene.plant("ada")
        with watched_loop() as watch:
            await scene.say("ada", question + text)
        held = f"one question held the loop for {watch.longest:.2f} s of processor time"
        hold(watch.longest < HELD_SECONDS, held)

    return step


async def _huge_answer(scene: Scene) -> None:
    """A tool's answer has 20 MB; the program, the turn and the other tools go on."""
    scene.member("mallory")
    with watched_loop() as watch:
        await scene.say("mallory", "CALL hostile__huge {}")
    held = f"one answer of a tool held the loop for {watch.longest:.2f} s of processor time"
    hold(watch.longest < HELD_SECONDS, held)
    status, report = await scene.http("GET", "/readyz")
    hold(status == 200 and "its answer was refused" in report, "the operator does not see it")
    (state,) = scene.stage.app.services.toolbox.states()
    hold(state.connected, "the other tools of the server are gone")


def _renders(text: str) -> Step:
    """The model says it, in a room."""

    async def step(scene: Scene) -> None:
        scene.stage.model.dictated = text
        try:
            with watched_loop() as watch:
                await scene.say("mallory", "tell me")
        finally:
            scene.stage.model.dictated = ""
        held = f"one answer held the loop for {watch.longest:.2f} s of processor time"
        hold(watch.longest < HELD_SECONDS, held)

    return step


async def _half_headers(scene: Scene) -> None:
    await _while_held(scene, 1_100, b"POST /webhook/telegram HTTP/1.1\r\nHost: x\r\nX-Half: ")


async def _half_bodies(scene: Scene) -> None:
    head = b"POST /webhook/telegram HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"
    await _while_held(scene, 300, head)


async def _while_held(scene: Scene, count: int, beginning: bytes) -> None:
    """Open many connections that send the beginning of a request, then deliver a genuine one."""
    port = scene.stage.app.webhooks.port
    opened: list[socket.socket] = []
    try:
        await asyncio.to_thread(_open, opened, port, count, beginning)
        began = time.monotonic()
        body = body_of(scene, "ada", f"hello {scene.mark}")

        async def taken() -> bool:
            return await post_anew(scene, body, signed_slack(scene, body)) == 200

        try:
            await eventually(taken, PROMPT_SECONDS)
        except TimeoutError:
            waited = time.monotonic() - began
            hold(False, f"no genuine webhook was taken for {waited:.1f} s")
    finally:
        for connection in opened:
            connection.close()
        await _reachable(scene)


def _open(opened: list[socket.socket], port: int, count: int, beginning: bytes) -> None:
    """Open connections and send the beginning of a request on each, as far as they are taken."""
    for _ in range(count):
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=5)
            opened.append(connection)
            connection.sendall(beginning)
        except OSError:
            return


async def _reachable(scene: Scene) -> None:
    """Return once the listener has noticed that the connections are gone."""

    async def answers() -> bool:
        try:
            async with scene.stage.http.get(scene.stage.app.webhook_url + "/") as answer:
                return answer.status == 404
        except (OSError, aiohttp.ClientError):
            return False

    await eventually(answers)


async def _blocked_rows(scene: Scene) -> None:
    """Messages of a blocked person leave no data behind."""
    scene.people["blocked"] = (scene.sim, scene.sim.person("blocked"))
    tables = ("inbox", "turns", "traces", "outbox", "waiting_turns", "memories")

    def remembered() -> bool:
        return rows_of(scene.stage, "waiting_turns") == 0

    await scene.say("blocked", "hello")
    # Turns of earlier attacks become two memories each, while the event loop is not late.
    await eventually(remembered, LAUNCH)
    before = rows_of(scene.stage, *tables)
    for number in range(20):
        await scene.sim.say(scene.people["blocked"][1], scene.direct("blocked"), f"{number}")
    await scene.fence(scene.sim)
    await scene.settled()
    left = rows_of(scene.stage, *tables) - before
    hold(left <= 12, f"20 messages of a blocked person left {left} rows")


async def _user_bucket(scene: Scene) -> None:
    began = time.monotonic()
    for _ in range(9):
        await scene.sim.say(scene.member("mallory"), scene.direct("mallory"), "hello $mark")
    await scene.fence(scene.sim)
    await scene.settled()
    texts = [m.text for m in by_bot(scene.sim.shown(scene.direct("mallory")))]
    answers = sum(text == "Understood." for text in texts)
    hold(answers <= _allowed(began), f"{answers} of 9 questions were answered within a minute")


async def _asks_by_commands(scene: Scene) -> None:
    """Commands have limits of their own; the one that asks the model does not."""
    began, mallory, place = time.monotonic(), scene.member("mallory"), scene.direct("mallory")
    count = len(scene.stage.model.bodies)
    for number in range(9):
        await scene.sim.say(mallory, place, f"/ask {number} $mark")
        await scene.sim.command(mallory, place, "ask", f"{number} again $mark")
        await scene.sim.say(mallory, place, "/help")
    await scene.fence(scene.sim)
    await scene.settled()
    calls = len(scene.bodies_from(count))
    hold(calls <= _allowed(began) + 1, f"{calls} of 18 questions reached the model within a minute")


async def _command_flood(scene: Scene) -> None:
    began, mallory, place = time.monotonic(), scene.member("mallory"), scene.direct("mallory")
    sent = 4 * COMMANDS_PER_MINUTE
    for _ in range(sent):
        await scene.sim.say(mallory, place, "/help")
    await scene.fence(scene.sim)
    await scene.settled()
    answers = len(by_bot(scene.sim.shown(place)))
    minutes = (time.monotonic() - began) / 60
    most = COMMANDS_PER_MINUTE * (1 + minutes) + 4  # the refusal, once in ten seconds
    hold(answers <= most, f"{sent} commands at once brought {answers} messages")


def _allowed(began: float) -> int:
    """Questions that one person may ask from `began` on: five, and what time has given back."""
    return 5 + int((time.monotonic() - began) * 5 / 60)


async def _inline_flood(scene: Scene) -> None:
    telegram = scene.sim
    assert isinstance(telegram, TelegramSimulator)
    await scene.command("mallory", "remember", "my favourite tea is green")
    queries = [telegram.inline(scene.member("mallory"), f"favourite {n}") for n in range(90)]
    await scene.fence(telegram)
    await scene.settled()
    answered = sum(telegram.api.inline_answers[query] is not None for query in queries)
    most = INLINE_PER_MINUTE + 5  # what a minute gives back while they come
    hold(answered <= most, f"{answered} of 90 inline queries of one person were looked up at once")


async def _thirty_accounts(scene: Scene) -> None:
    """Thirty accounts write as often as each may; then somebody else asks for the first time."""
    for number in range(30):
        person = scene.guest(f"crowd{number}")
        for _ in range(5):
            await scene.sim.say(person, scene.sim.direct(person), "hello")
    await scene.fence(scene.sim)
    await scene.settled()
    await scene.say("ada", "may I ask something?")
    texts = [message.text for message in by_bot(scene.sim.shown(scene.direct("ada")))]
    hold("Understood." in texts, f"thirty accounts silence everybody else: {texts}")


async def _budget(scene: Scene) -> None:
    """Questions at once do not spend more than one person's budget."""
    began = time.monotonic()
    await asyncio.gather(
        *(
            scene.sim.say(scene.member("mallory"), scene.direct("mallory"), f"question {n}")
            for n in range(10)
        )
    )
    await scene.fence(scene.sim)
    await scene.settled()
    shown = by_bot(scene.sim.shown(scene.direct("mallory")))
    answers = sum(message.text == "Understood." for message in shown)
    hold(answers <= _allowed(began), "more than the limits allow")


async def _many_buttons(scene: Scene) -> None:
    """Commands that leave open questions: their number is bounded, and others are answered."""
    for _ in range(30):
        await scene.sim.command(
            scene.member("mallory"), scene.direct("mallory"), "privacy", "erase"
        )
    await scene.fence(scene.sim)
    await scene.settled()
    await scene.say("ada", "hello")


AVAILABILITY = (
    Attack("tool-answers", "tool", STOP, ("telegram",), (does(_huge_answer),)),
    Attack("stall-indic-word", "stranger", STOP, EVERYWHERE, (_holds_up(INDIC),)),
    Attack("stall-query", "stranger", STOP, ROOMS, (_asked_after(QUERY, ""),)),
    Attack("stall-slack-tabs", "stranger", STOP, ("slack",),
           (_holds_up(TABS, "team", mention=False),)),
    Attack("stall-rendering", "compromised model", STOP, EVERYWHERE, (_renders(LINES),)),
    Attack("held-headers", "stranger", "keep genuine webhooks out", ("slack",),
           (does(_half_headers),)),
    Attack("held-bodies", "stranger", "keep genuine webhooks out", ("slack",),
           (does(_half_bodies),)),
    Attack("rows-of-blocked", "stranger", "fill the database", ("whatsapp",),
           (does(_blocked_rows),)),
    Attack("limits-user", "member", "ask more often than one person may", EVERYWHERE,
           (does(_user_bucket),), kind="limited"),
    Attack("limits-by-commands", "member", "ask more often than one person may", EVERYWHERE,
           (does(_asks_by_commands),), kind="limited"),
    Attack("limits-commands-flood", "member", "make the assistant write many messages", EVERYWHERE,
           (does(_command_flood),), kind="limited"),
    Attack("limits-inline", "stranger", "look up more often than one person may", ("telegram",),
           (does(_inline_flood),), kind="limited"),
    Attack("limits-thirty-accounts", "stranger", "use up what belongs to everybody", ("telegram",),
           (does(_thirty_accounts),), kind="limited"),
    Attack("limits-budget", "member", "spend more than one person's budget", ("telegram",),
           (does(_budget),), kind="limited"),
    Attack("open-questions", "member", "fill the database", ("telegram", "whatsapp"),
           (does(_many_buttons),)),
)  # fmt: skip
