"""A hostile server of a model: what it sends in place of an answer."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.attacks.hostile_model import DIALECTS, HEAD, TRIGGER, Dialect, HostileModel
from tests.attacks.scene import Scene, hold
from tests.attacks.spying import watched_loop
from tests.attacks.steps import does
from tests.attacks.stored import all_stored
from tests.attacks.table import Attack, Step
from tests.e2e.harness import by_bot

STOP: Final = "stop the program for everybody"
SHOW: Final = "write into the log, the chat or the status"
HELD_SECONDS: Final = 0.3
"""As in `availability.py`."""
GROWTH: Final = 150_000_000
"""Bytes that the process may grow by: two copies of the longest answer, and the simulators."""
MEGABYTE: Final = 1_000_000
PIECE: Final = 65_536
FIGURES: Final = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens")
ESCAPES: Final = "\x1b[31mred\x1b[0m\x07"
Behave = Callable[[HostileModel, asyncio.StreamWriter], Awaitable[None]]


class _Memory:
    """The largest growth of this process, in bytes."""

    def __init__(self) -> None:
        self._before = self._now()
        self.growth = 0

    async def watch(self) -> None:
        while True:
            self.growth = max(self.growth, self._now() - self._before)
            await asyncio.sleep(0.02)

    @staticmethod
    def _now() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4_096


@contextmanager
def _watched_memory() -> Iterator[_Memory]:
    memory = _Memory()
    task = asyncio.get_running_loop().create_task(memory.watch())
    try:
        yield memory
    finally:
        task.cancel()


def _misbehaves(behave: Behave) -> Step:
    """The server answers a question in its way; the program goes on, and answers others."""

    async def step(scene: Scene) -> None:
        hostile = scene.stage.hostile
        assert hostile is not None
        hostile.behave, hostile.asked = behave, 0
        scene.member("mallory")
        with watched_loop() as watch, _watched_memory() as memory:
            await scene.say("mallory", f"{TRIGGER} $mark")
        hold(bool(hostile.asked), "the server was not asked")
        held = f"one answer held the loop for {watch.longest:.2f} s of processor time"
        hold(watch.longest < HELD_SECONDS, held)
        hold(memory.growth < GROWTH, f"one answer took {memory.growth // MEGABYTE} MB")
        shown = by_bot(scene.sim.shown(scene.direct("mallory")))
        hold(bool(shown), "the person was told nothing")
        hold(len(shown) <= 60, f"one answer became {len(shown)} messages")
        hold('"stage_failed"' not in scene.log(), "the turn ended with an error of the program")
        await _counts_are_sound(scene)
        await scene.say("ada", "hello")
        texts = [message.text for message in by_bot(scene.sim.shown(scene.direct("ada")))]
        hold("Understood." in texts, f"nobody else is answered: {texts}")

    return step


async def _counts_are_sound(scene: Scene) -> None:
    """Tokens and cost, as the operator sees them, are those of a few short answers."""
    _, metrics = await scene.http("GET", "/metrics")
    for line in metrics.splitlines():
        if line.startswith(("parley_tokens_total{", "parley_cost_dollars_total{")):
            count = float(line.rpartition(" ")[2])
            hold(0 <= count < MEGABYTE, f"a count is {count:g}")


async def _endless(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    await server.write(writer, HEAD + b"\r\n" + server.stream(*server.begin()))
    piece = server.stream(server.text("word " * 3_000))
    while True:
        await server.write(writer, piece)


async def _endless_thought(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    await server.write(writer, HEAD + b"\r\n" + server.stream(*server.begin()))
    piece = server.stream(server.thought("hm " * 5_000))
    while True:
        await server.write(writer, piece)


async def _endless_signature(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    await server.write(writer, HEAD + b"\r\n" + server.stream(*server.begin()))
    delta = {"type": "signature_delta", "signature": "s" * 1_000}
    event = {"type": "content_block_delta", "index": 0, "delta": delta}
    piece = server.stream(event) * 16
    while True:
        await server.write(writer, piece)


async def _endless_blocks(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    """Blocks, items or choices with a new number each."""
    await server.write(writer, HEAD + b"\r\n" + server.stream(*server.begin()))
    number = 1
    while True:
        match server.dialect:
            case "messages":
                block = {"type": "text", "text": "x"}
                events = [
                    {"type": "content_block_start", "index": n, "content_block": block}
                    for n in range(number, number + 200)
                ]
            case "responses":
                events = [
                    {"type": "response.output_text.delta", "output_index": n, "delta": "x"}
                    for n in range(number, number + 200)
                ]
            case _:
                calls = [
                    {"index": n, "function": {"name": "a"}} for n in range(number, number + 200)
                ]
                events = [{"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}]
        number += 200
        await server.write(writer, server.stream(*events))


async def _empty_events(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    await server.write(writer, HEAD + b"\r\n" + server.stream(*server.begin()))
    piece = b'data: {"type":"x"}\n\n' * 3_000
    while True:
        await server.write(writer, piece)


async def _comments(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    await server.write(writer, HEAD + b"\r\n")
    while True:
        await server.write(writer, b": still here\n\n" * 4_000)


async def _byte_by_byte(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    await server.write(writer, HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    body = server.whole("A short answer. " * 2_000)
    for start in range(0, len(body), 2_000):
        part = body[start : start + 2_000]
        await server.write(writer, b"".join(b"1\r\n%c\r\n" % byte for byte in part))
    await server.write(writer, b"0\r\n\r\n")


BOMB: Final = gzip.compress(b"data: " + b"x" * 100 * MEGABYTE, 1)


async def _gzip_bomb(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    await server.write(writer, HEAD + b"Content-Encoding: gzip\r\n\r\n" + BOMB)


async def _gzip_bomb_in_error(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    head = b"HTTP/1.1 400 No\r\nContent-Type: application/json\r\nConnection: close\r\n"
    await server.write(writer, head + b"Content-Encoding: gzip\r\n\r\n" + BOMB)


async def _long_line(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    await server.write(writer, HEAD + b"\r\ndata: ")
    for _ in range(100 * MEGABYTE // PIECE):
        await server.write(writer, b"x" * PIECE)


async def _long_document(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    await server.write(writer, HEAD + b'\r\n{"a": "')
    for _ in range(100 * MEGABYTE // PIECE):
        await server.write(writer, b"x" * PIECE)


async def _many_lines(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    """One document of countless lines, none of which is JSON."""
    await server.write(writer, HEAD + b"\r\n{\n")
    for _ in range(20 * MEGABYTE // PIECE):
        await server.write(writer, b"{\n" * (PIECE // 2))


async def _long_lists(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    """One event whose parts are countless. They are written as text: encoding them would hold the
    loop on the server's account."""
    parts, written = ["PARTS"], b",".join([b'{"type":"text","text":""}'] * 100_000)
    match server.dialect:
        case "chat":
            event: Mapping[str, Any] = {"choices": [{"index": 0, "delta": {"content": parts}}]}
        case "responses":
            item = {"type": "message", "content": parts}
            event = {"type": "response.completed", "response": {"output": [item] * 1}}
        case _:
            block = {"type": "text", "text": "", "citations": parts}
            event = {"type": "content_block_start", "index": 0, "content_block": block}
    sent = server.stream(event).replace(b'"PARTS"', written)
    await server.write(writer, HEAD + b"\r\n" + sent)


async def _deep(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    deep = b"[" * MEGABYTE + b"]" * MEGABYTE
    await server.write(writer, HEAD + b"\r\ndata: " + b'{"choices":' + deep + b"}\n\n")


async def _deep_error(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    deep = b'{"error":' * 30_000 + b"1" + b"}" * 30_000
    head = b"HTTP/1.1 400 No\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    await server.write(writer, head + deep)


async def _deep_arguments(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    deep = '{"a":' * 30_000 + "1" + "}" * 30_000
    calls = server.stream(*server.calls([("call_1", "hostile__note", deep)]))
    await server.write(writer, HEAD + b"\r\n" + calls)


async def _thousands_of_calls(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    arguments = json.dumps({"text": "called"})
    many = [(f"call_{n}", "hostile__note", arguments) for n in range(5_000)]
    await server.write(writer, HEAD + b"\r\n" + server.stream(*server.calls(many)))


async def _odd_calls(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    names = (
        "__class__",
        "hostile__note\n" + ESCAPES,
        "y" * 100_000,
        "update_customer_brain",
        "../../note",
        "",
    )
    many = [("\n" * 50 + ESCAPES, name, "[]") for name in names]
    await server.write(writer, HEAD + b"\r\n" + server.stream(*server.calls(many)))


async def _long_headers(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    await server.write(writer, HEAD)
    for number in range(2_000):
        await server.write(writer, b"X-%d: " % number + b"x" * 8_000 + b"\r\n")
    await server.write(writer, b"\r\n" + server.whole("late"))


async def _huge_usage(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    huge = dict.fromkeys(FIGURES, 10**30)
    await server.write(writer, HEAD + b"\r\n" + server.whole("counted", huge))


async def _negative_usage(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    less = dict.fromkeys(FIGURES, -(10**9))
    await server.write(writer, HEAD + b"\r\n" + server.whole("counted", less))


async def _odd_usage(server: HostileModel, writer: asyncio.StreamWriter) -> None:
    odd = dict.fromkeys(FIGURES, "many")
    await server.write(writer, HEAD + b"\r\n" + server.whole("counted", odd))


async def _refused(
    server: HostileModel, writer: asyncio.StreamWriter, more: bytes, text: str
) -> None:
    body = json.dumps({"error": {"type": "odd", "message": text}}).encode()
    head = b"HTTP/1.1 400 No\r\nContent-Type: application/json\r\nConnection: close\r\n" + more
    await server.write(writer, head + b"\r\n" + body)


def _says_in_error(written: str) -> Callable[[Scene], Awaitable[None]]:
    """A step: an error says this, where `$key` is the configured key."""

    async def step(scene: Scene) -> None:
        hostile = scene.stage.hostile
        assert hostile is not None
        scene.canary("question", "ada")
        text = scene.filled(written.replace("$key", scene.stage.anthropic.api_key))

        async def behave(server: HostileModel, writer: asyncio.StreamWriter) -> None:
            names = b"x-request-id: req\x1b[31m\x07\r\nrequest-id: req\x1b[31m\x07\r\n"
            await _refused(server, writer, names, text)

        hostile.behave = behave
        await scene.say("mallory", TRIGGER)
        for path in ("/readyz", "/metrics", "/healthz"):
            await scene.http("GET", path)
        seen = {"chat": "\n".join(message.text for message in scene.shown_to("mallory"))}
        seen["report"] = "\n".join(one.text for one in scene.readings if one.where != "prompt")
        seen["log"] = log = scene.log()
        hold("model_call_failed" in log, "the operator is told nothing")
        key = scene.stage.anthropic.api_key
        for where, shown in seen.items():
            for forbidden in ("\x1b", "\\u001b", "\x07", "<script>", key[:20]):
                hold(forbidden not in shown, f"{forbidden!r} is in the {where}")
        forged = [line for line in log.splitlines() if line.startswith('{"level"')]
        hold(not forged, "a line of the log is forged")

    return step


LINES: Final = f'{ESCAPES}\n{{"level": "critical"}}\r\n<script>alert(1)</script> $key'
QUOTED: Final = f'the prompt is "{"so " * 12}$question {"so " * 400}"'
CUT: Final = f"{'z' * 255} $key"


async def _name_of_model(scene: Scene) -> None:
    """The answer says that another model wrote it, with a name that no model has."""
    hostile = scene.stage.hostile
    assert hostile is not None
    name = f"{scene.mark}-{ESCAPES}\n" + "q" * 100_000

    async def behave(server: HostileModel, writer: asyncio.StreamWriter) -> None:
        events = [*server.begin(), server.text("named"), *server.end()]
        for event in events:
            holder = event.get("message") or event.get("response") or event
            if isinstance(holder, dict):
                holder["model"] = name
        await server.write(writer, HEAD + b"\r\n" + server.stream(*events))

    hostile.behave = behave
    await scene.say("mallory", TRIGGER)
    _, metrics = await scene.http("GET", "/metrics")
    shown = [message.text for message in scene.shown_to("mallory")]
    hold(shown == ["named"], f"the person reads {shown}")
    for where, seen in (("log", scene.log()), ("metrics", metrics)):
        hold("q" * 300 not in seen and ESCAPES not in seen, f"the name is in the {where}")
    hold("q" * 300 not in await all_stored(scene.stage), "the name is stored")


async def _hidden_thought(scene: Scene) -> None:
    """Reasoning in each form is neither shown nor logged nor kept."""
    hostile = scene.stage.hostile
    assert hostile is not None
    hidden = scene.canary("thought")
    forms = [hostile.thought(hidden)]
    if hostile.dialect == "chat":
        tagged = (
            "<think>{}</think>",
            "<thinking>\n{}\n</thinking>",
            "<|channel|>analysis<|message|>{}<|end|>",
        )
        forms += [hostile.text(form.format(hidden)) for form in tagged]

    async def behave(server: HostileModel, writer: asyncio.StreamWriter) -> None:
        form = forms[hostile.asked % len(forms)]
        begun = server.begin()
        if server.dialect == "messages":
            begun[1]["content_block"] = {"type": "thinking", "thinking": ""}  # type: ignore[index]  # a dict
            closed = {"type": "content_block_stop", "index": 0}
            block = {"type": "text", "text": "Done."}
            second = {"type": "content_block_start", "index": 1, "content_block": block}
            rest = [closed, second, *server.end()]
        else:
            rest = [server.text("Done."), *server.end()]
        await server.write(writer, HEAD + b"\r\n" + server.stream(*begun, form, *rest))

    hostile.behave, hostile.asked = behave, 0
    for _ in forms:
        await scene.say("mallory", TRIGGER)
    shown = [message.text for message in scene.shown_to("mallory")]
    hold(shown == ["Done."] * len(forms), f"the person reads {shown}")
    kept = str(await scene.kept("mallory"))
    hold(hidden not in kept, "reasoning is kept")


async def _redirect(scene: Scene) -> None:
    """Each kind of redirect leads to the operator's own network."""
    hostile = scene.stage.hostile
    assert hostile is not None
    target = f"http://127.0.0.1:{scene.stage.hits.port}/internal-{scene.tag}".encode()
    for status in (301, 302, 303, 307, 308):

        async def behave(
            server: HostileModel, writer: asyncio.StreamWriter, status: int = status
        ) -> None:
            head = f"HTTP/1.1 {status} Elsewhere\r\n".encode()
            rest = b"Location: " + target + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            await server.write(writer, head + rest)

        hostile.behave, hostile.asked = behave, 0
        await scene.say("mallory", f"{TRIGGER} {status}")
        hold(hostile.asked > 0, "the server was not asked")
    hits = [path for path in scene.stage.hits.paths if scene.tag in path]
    hold(not hits, f"requests to the operator's network: {hits}")


async def _names_of_calls(scene: Scene) -> None:
    """Names and ids of calls are long, or no names; none of them is stored as it is."""
    await _misbehaves(_odd_calls)(scene)
    stored = await all_stored(scene.stage)
    hold("y" * 300 not in stored, "a long name is stored")
    hold(ESCAPES not in stored, "escapes are stored")


async def _foreign_tools(scene: Scene) -> None:
    """The server calls tools that this person may not use here, and memories of somebody else."""
    hostile = scene.stage.hostile
    assert hostile is not None
    await scene.plant("ada")
    record = scene.words["ada_record"]
    note, words = json.dumps({"text": scene.mark}), json.dumps({"query": "drawer", "limit": 100})
    calls = [
        ("call_1", "hostile__note", note),
        ("call_2", "memory_search", words),
        ("call_3", "memory_search", json.dumps({"query": "drawer", "owner": "ada"})),
        ("call_4", "memory_delete", json.dumps({"id": record})),
        ("call_5", "tenants__list", "{}"),
    ]
    asked: list[str] = []

    async def behave(server: HostileModel, writer: asyncio.StreamWriter) -> None:
        events = server.calls(calls) if len(asked) < 2 else [
            *server.begin(), server.text("Done."), *server.end()
        ]  # fmt: skip
        asked.append("")
        await server.write(writer, HEAD + b"\r\n" + server.stream(*events))

    hostile.behave = behave
    scene.guest("mallory")
    await scene.say("mallory", TRIGGER, "team")
    notes = scene.stage.notes
    hold(not notes.exists() or scene.mark not in notes.read_text(), "the tool ran")
    ids = [each.id for each in await scene.records("ada")]
    hold(record in ids, "somebody's memory is deleted")


_ENDING = (
    _endless, _endless_thought, _endless_signature, _endless_blocks, _empty_events, _comments,
    _byte_by_byte, _gzip_bomb, _gzip_bomb_in_error, _long_line, _long_document, _many_lines,
    _long_lists, _deep, _deep_error, _deep_arguments, _thousands_of_calls,
    _long_headers, _huge_usage, _negative_usage, _odd_usage,
)  # fmt: skip

_OTHERS: Final[Mapping[str, tuple[str, Callable[[Scene], Awaitable[None]]]]] = {
    "lines-in-error": (SHOW, _says_in_error(LINES)),
    "question-in-error": (SHOW, _says_in_error(QUOTED)),
    "cut-key-in-error": (SHOW, _says_in_error(CUT)),
    "name-of-model": (SHOW, _name_of_model),
    "names-of-calls": (SHOW, _names_of_calls),
    "hidden-thought": ("show what is not for people", _hidden_thought),
    "redirect": ("send a request to the operator's network", _redirect),
    "foreign-tools": ("use a tool that may not be used here", _foreign_tools),
}


def _rows(dialect: Dialect) -> Iterator[Attack]:
    by: Final = "compromised model"
    on: Final = ("telegram",)
    for number, behave in enumerate(_ENDING):
        name = behave.__name__.strip("_").replace("_", "-")
        steps = (_misbehaves(behave),)
        long = dialect != DIALECTS[number % len(DIALECTS)]  # the short run tries each on one API
        yield Attack(f"model-{name}-{dialect}", by, STOP, on, steps, dialect, long)
    for name, (goal, step) in _OTHERS.items():
        yield Attack(f"model-{name}-{dialect}", by, goal, on, (does(step),), kind=dialect)


MODELS: Final = tuple(row for dialect in DIALECTS for row in _rows(dialect))
