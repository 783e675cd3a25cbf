"""`parley run` as a process that can be killed, and its remaining files."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml

from gateway.outbound.live.answer import BEGUN, ENDED, memory_key
from gateway.ports.clock import SystemClock
from gateway.stores.codec import event_to_json, outbound_to_json
from gateway.turn.services import Stores
from parley.config import load
from parley.wiring.storage import Storage
from simulators.anthropic import AnthropicSimulator
from simulators.base import PlatformSimulator

READY_SECONDS: Final = 300.0
"""A start takes seconds; on a machine that others use up, minutes."""
STOP_SECONDS: Final = 60.0
MAX_UNSENT: Final = 10_000


class Program:
    """One life of a `parley run`; its log goes to the end of `log`."""

    def __init__(self, config: Path, log: Path, *arguments: str) -> None:
        self._command = ("-m", "parley", "run", "--config", str(config), *arguments)
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        """The id of the process that was started."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Begin; it is not ready yet."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, *self._command, stdout=asyncio.subprocess.PIPE, stderr=log
            )

    async def ready(self) -> None:
        """Return once it says so. Raises RuntimeError when it ended before, TimeoutError."""
        assert self._process is not None
        assert self._process.stdout is not None
        async with asyncio.timeout(READY_SECONDS):
            while b"ready gateway" not in (line := await self._process.stdout.readline()):
                if not line:
                    raise RuntimeError(f"parley ended before it was ready, see {self._log}")

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.communicate()

    async def stop(self) -> None:
        """SIGTERM, and wait until it is gone."""
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            try:
                async with asyncio.timeout(STOP_SECONDS):
                    await self._process.communicate()
            except TimeoutError:
                await self.kill()


def write_config(
    folder: Path,
    platform: PlatformSimulator,
    model: AnthropicSimulator,
    port: int,
    stores: Mapping[str, object],
) -> Path:
    """A configuration that limits nothing and answers every message on its own."""
    path = folder / "parley.yaml"
    unlimited = {"user_per_minute": 0, "channel_per_minute": 0, "workspace_per_minute": 0}
    choice = {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}
    settings = {
        "model": choice,
        "platforms": {platform.platform: platform.settings()},
        "limits": unlimited,
        "delivery": {"chat_per_second": 1000, "platform_per_second": 1000},
        "conversation": {"overlap": "queue"},
        "workers": {"concurrency": 16},
        "server": {"port": 0},
        "webhooks": {"port": port},
        **stores,
    }
    path.write_text(yaml.safe_dump(settings))
    return path


async def unsent(config: Path) -> list[str]:
    """Return the sends in the outbox of a killed program, and the questions whose answers it was
    about to show, as JSON. A file of SQLite is read from a copy, so that the next start finds it
    unchanged."""
    settings = load(config, {})
    url = settings.storage_url
    if not url.startswith("sqlite:///"):
        return await _waiting(config, {})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(url.removeprefix("sqlite:///"))
        for left in file.parent.glob(f"{file.name}*"):
            shutil.copy(left, folder)
        here = f"sqlite:///{folder}/{file.name}"
        return await _waiting(config, {"PARLEY_DATABASE__URL": here, "PARLEY_STORAGE__URL": here})


async def _waiting(config: Path, env: Mapping[str, str]) -> list[str]:
    storage = Storage(load(config, env), SystemClock())
    await storage.start(exclusive=False)
    try:
        waiting = await storage.stores.outbox.waiting(MAX_UNSENT)
        sends = [outbound_to_json(entry.outbound).decode() for entry in waiting]
        return sends + await _shown(storage.stores)
    finally:
        await storage.stop()


async def _shown(stores: Stores) -> list[str]:
    """The questions whose answers grew, or were about to, when nobody had written down where."""
    questions = []
    for entry in await stores.inbox.unfinished(MAX_UNSENT):
        place = entry.event.place
        state = stores.states.of(place.platform, place.account)
        if await state.get(memory_key(f"live:{entry.id}")) in (BEGUN, ENDED):
            questions.append(event_to_json(entry.event).decode())
    return questions
