"""`parley models`: installed models, downloads, and the report of the doctor."""

import asyncio
import hashlib
import json
import os
import pty
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from gateway.ports.clock import SystemClock
from memory.embeddings.catalogue import EMBEDDING
from memory.model.record import Embedding
from memory.ports.memories import TextVector
from parley.cli.models import DownloadFailed, pull
from parley.config import from_mapping
from parley.wiring.storage import Storage
from tests.parley.cli.kit import PROGRAM, environment, parley, parley_alone
from tests.parley.cli.test_memory import filled
from tests.support.patience import LAUNCH

BIG = b"weights " * 100_000


async def test_missing_models_are_listed_and_doctor_gives_advice(tmp_path: Path) -> None:
    listed = await parley_alone("models", "list", cwd=tmp_path)
    assert listed.status == 0
    assert "all-MiniLM-L6-v2          missing, 91 MB" in listed.out
    assert "Vectors: There is no database at data/parley.db yet" in listed.out
    ended = await parley("doctor", cwd=tmp_path)
    assert "note    recall: memories are found by their words only" in ended.out
    assert "Run `parley models pull`, or set memory.embedding_provider to none." in ended.out


async def test_an_installed_model_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "models" / EMBEDDING.name
    folder.mkdir(parents=True)
    for name in EMBEDDING.files:
        (folder / name).write_text("{}", "utf-8")
    listed = await parley("models", "list", "--json", cwd=tmp_path)
    rows = [json.loads(line) for line in listed.out.splitlines()]
    assert rows[0] == {"model": EMBEDDING.name, "missing": []}
    assert rows[-1]["model"] in ("", EMBEDDING.name)
    ended = await parley("doctor", cwd=tmp_path)
    assert "ok      recall: all-MiniLM-L6-v2 is installed" in ended.out


async def test_after_a_change_of_the_model_the_progress_of_the_vectors_is_shown(
    tmp_path: Path,
) -> None:
    folder = await filled(tmp_path, "sqlite:///parley.db")
    models = folder / "models" / EMBEDDING.name
    models.mkdir(parents=True)
    for name in EMBEDDING.files:
        (models / name).write_text("{}", "utf-8")
    url = f"sqlite:///{folder}/parley.db"
    storage = Storage(from_mapping({"database": {"url": url}}), SystemClock())
    await storage.start()

    async def embed(model: str, limit: int, *vector: float) -> int:
        memories, vector = storage.memory.memories, vector or (1.0, 0.0)
        some = await memories.unembedded(model, limit, dimension=len(vector))
        return await memories.embed(
            [TextVector(one.id, one.text, Embedding(model, vector)) for one in some]
        )

    async def told() -> str:
        return (await parley("models", "list", cwd=folder)).out.splitlines()[-1]

    every = await embed("the one before", 100)
    assert every > 2
    assert await told() == f"Vectors of {EMBEDDING.name}: 0 of {every} memories (0 %)."
    assert await embed(EMBEDDING.name, 2) == 2
    assert f": 2 of {every} memories" in await told()
    assert await embed(EMBEDDING.name, 100) == every - 2
    assert await told() == f"Vectors of {EMBEDDING.name}: {every} of {every} memories (100 %)."
    assert await embed(EMBEDDING.name, 1, 1.0, 0.0, 0.0) == 1
    assert f"different dimensions ({every - 1} with 2, 1 with 3): the model gives" in await told()
    await storage.stop()


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("pull", "--from", "http://127.0.0.1:9"), 1, "127.0.0.1 cannot be reached"),
        (("pull", "gpt"), 2, "There is no model gpt."),
    ],
)
async def test_a_failed_download_is_reported(
    tmp_path: Path, arguments: tuple[str, ...], status: int, text: str
) -> None:
    ended = await parley("models", *arguments, cwd=tmp_path)
    assert (ended.status, ended.out) == (status, "")
    assert text in ended.err


@dataclass
class Hub:
    """Small files it gives out itself, with git's checksum; the large one is elsewhere."""

    url: str = ""
    weights: bytes = BIG
    announced: bytes = BIG
    absent: bool = False
    breaks_off: bool = False
    asked: list[str] = field(default_factory=list)

    async def resolve(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        self.asked.append(name)
        if self.absent:
            return web.Response(status=404)
        if name.endswith("model.onnx"):
            checksum = hashlib.sha256(self.announced).hexdigest()
            linked = {"X-Linked-ETag": f'"{checksum}"', "X-Linked-Size": str(len(self.announced))}
            raise web.HTTPFound(f"{self.url}/elsewhere", headers=linked)
        text = f"{name} {len(name)}".encode()
        tag = hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest()
        return web.Response(body=text, headers={"ETag": f'"{tag}"'})

    async def elsewhere(self, request: web.Request) -> web.StreamResponse:
        if self.breaks_off:
            half = web.StreamResponse(headers={"Content-Length": str(len(self.weights))})
            await half.prepare(request)
            await half.write(self.weights[: len(self.weights) // 2])
            assert request.transport is not None
            request.transport.close()
            return half
        return web.Response(body=self.weights, headers={"ETag": '"of-the-mirror"'})


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    served, application = Hub(), web.Application()
    application.router.add_get(f"/{EMBEDDING.repository}/resolve/main/{{name:.+}}", served.resolve)
    application.router.add_get("/elsewhere", served.elsewhere)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield served
    await runner.cleanup()


async def fetched(hub: Hub, models: Path) -> tuple[list[str], dict[str, tuple[int, int]]]:
    seen: dict[str, tuple[int, int]] = {}

    def told(name: str, came: int, size: int) -> None:
        seen[name] = (came, size)

    return await asyncio.to_thread(pull, EMBEDDING, models, told, hub.url), seen


def left(models: Path) -> set[str]:
    return {path.name for path in models.rglob("*") if path.is_file()}


async def test_missing_files_are_downloaded_completely(hub: Hub, tmp_path: Path) -> None:
    names, seen = await fetched(hub, tmp_path)
    assert names == list(EMBEDDING.files)
    assert EMBEDDING.missing(tmp_path) == []
    assert (tmp_path / EMBEDDING.name / "model.onnx").read_bytes() == BIG
    assert seen["model.onnx"] == (len(BIG), len(BIG))
    assert left(tmp_path) == set(EMBEDDING.files)
    (tmp_path / EMBEDDING.name / "config.json").unlink()
    assert (await fetched(hub, tmp_path))[0] == ["config.json"]
    assert (await fetched(hub, tmp_path))[0] == []


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        (BIG[:-1], "instead of 800,000"),
        (BIG[:-1] + b"x", "differs from what was published"),
        (b"", "instead of 800,000"),
    ],
)
async def test_a_file_with_another_checksum_is_deleted(
    hub: Hub, tmp_path: Path, weights: bytes, reason: str
) -> None:
    hub.weights = weights
    with pytest.raises(DownloadFailed, match=reason):
        await fetched(hub, tmp_path)
    assert left(tmp_path) == set()


async def test_an_interrupted_download_leaves_nothing_and_starts_again(
    hub: Hub, tmp_path: Path
) -> None:
    hub.breaks_off = True
    with pytest.raises(DownloadFailed, match=r"model\.onnx was interrupted .*Try again"):
        await fetched(hub, tmp_path)
    assert left(tmp_path) == set()
    hub.breaks_off = False
    assert (await fetched(hub, tmp_path))[0] == list(EMBEDDING.files)


async def test_the_next_download_deletes_the_leftovers_of_a_killed_one(
    hub: Hub, tmp_path: Path
) -> None:
    folder = tmp_path / EMBEDDING.name
    folder.mkdir()
    killed, running = folder / ".model.onnx.4711.part", folder / ".model.onnx.4712.part"
    for part in (killed, running):
        part.write_bytes(b"half")
    an_hour_ago = time.time() - 3_600
    os.utime(killed, (an_hour_ago, an_hour_ago))
    await fetched(hub, tmp_path)
    assert left(tmp_path) == {*EMBEDDING.files, running.name}


async def test_an_error_of_the_server_is_reported(hub: Hub, tmp_path: Path) -> None:
    hub.absent = True
    with pytest.raises(DownloadFailed, match=r"127\.0\.0\.1 answers 404 for http"):
        await fetched(hub, tmp_path)
    assert len(hub.asked) == 1


async def test_without_a_network_the_alternative_is_reported(tmp_path: Path) -> None:
    hub = Hub(url="http://127.0.0.1:9")
    with pytest.raises(DownloadFailed, match=r"cannot be reached.*copy the result to"):
        await fetched(hub, tmp_path)


async def test_a_folder_that_cannot_be_written_is_reported(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / EMBEDDING.name).write_text("a file", "utf-8")
    with pytest.raises(DownloadFailed, match="cannot be written"):
        await fetched(hub, tmp_path)


async def test_every_file_has_a_progress_bar_on_a_terminal(hub: Hub, tmp_path: Path) -> None:
    terminal, inside = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        *("models", "pull", EMBEDDING.name, "--from", hub.url, "--folder", str(tmp_path)),
        cwd=tmp_path,
        env=environment({"TERM": "xterm", "COLUMNS": "120"}),
        stdout=asyncio.subprocess.PIPE,
        stderr=inside,
    )
    os.close(inside)
    async with asyncio.timeout(LAUNCH):
        shown = await asyncio.to_thread(_everything, terminal)
        out, _ = await process.communicate()
    assert process.returncode == 0, shown
    assert all(name in shown for name in EMBEDDING.files)
    assert "━" in shown
    assert "downloaded" in out.decode()


def _everything(terminal: int) -> str:
    """Return the output on a terminal until the last process closes it."""
    pieces: list[bytes] = []
    with suppress(OSError):  # how Linux says that the other end is closed
        while piece := os.read(terminal, 65_536):
            pieces.append(piece)
    os.close(terminal)
    return b"".join(pieces).decode(errors="replace")
