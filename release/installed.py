"""Uses an installed Parley as somebody without a checkout does: from an empty folder, with nothing
but the installation."""

import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

from release.steps import Failed, require, run

LINK: Final = re.compile(r"""(?:src|href)=["']([^"'#:]+)["']|from ["'](\.[^"']+)["']""")
PAGES: Final = ("/", "/chat/")
START_SECONDS: Final = 60.0
INTERRUPTED: Final = 130
MAX_FILES: Final = 200


class Installed:
    """One installation, and an empty folder where its commands run."""

    def __init__(self, environment: Path, folder: Path) -> None:
        """`environment` is the virtual environment with Parley."""
        self._command = environment / "bin" / "parley"
        self._folder = folder
        self._root = environment
        self._files = _times(environment)

    @property
    def _environment(self) -> Mapping[str, str]:
        home = str(self._folder)
        return {"PATH": "/usr/bin:/bin", "HOME": home, "TMPDIR": home, "COLUMNS": "100"}

    def parley(self, *arguments: str) -> str:
        """Return the output of a command. Raises `Failed` unless it ends with 0."""
        return run([self._command, *arguments], cwd=self._folder, env=self._environment)

    def check_files(self) -> None:
        """Raises `Failed` if the commands left files, or wrote to the installation."""
        left = [str(path.relative_to(self._folder)) for path in self._folder.rglob("*")]
        require(not left, f"the commands left {', '.join(left[:10])}")
        changed = {path for path, _ in self._files ^ _times(self._root)}
        require(not changed, f"the commands wrote {', '.join(map(str, sorted(changed)[:10]))}")

    def check_example(self) -> None:
        """Raises `Failed` unless `check-config` accepts what `example-config` prints."""
        example = self._folder / "parley.yaml"
        example.write_text(self.parley("example-config"), encoding="utf-8")
        example.chmod(0o644)
        printed = self.parley("check-config", "--config", example.name)
        require("parley.yaml is valid." in printed, f"check-config printed {printed!r}")
        example.unlink()

    def check_pages(self) -> int:
        """Serve the demo and load its pages with all files that they name; returns their number.

        Raises `Failed` when one is missing."""
        with self._serving() as base:
            waiting, loaded = [urljoin(base, page) for page in PAGES], set[str]()
            while waiting and len(loaded) < MAX_FILES:
                url = waiting.pop()
                if url not in loaded:
                    loaded.add(url)
                    links = (a or b for a, b in LINK.findall(_loaded(url)))
                    waiting += [urljoin(url, link) for link in links]
        require(not waiting, f"the pages name more than {MAX_FILES} files")
        return len(loaded)

    @contextmanager
    def _serving(self) -> Iterator[str]:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = subprocess.Popen(
            [self._command, "demo", "--port", str(port)],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            base = f"http://127.0.0.1:{port}"
            _wait_for(base, process)
            yield base
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=START_SECONDS)
            status = process.returncode
            require(status in {0, INTERRUPTED}, f"the demo ended with {status}: {errors!r}")
        finally:
            process.kill()
            process.wait()


def _times(folder: Path) -> set[tuple[Path, int]]:
    """The files below a folder with the times of their last change, in nanoseconds, without
    Python's own caches."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {(path, path.stat().st_mtime_ns) for path in files if "__pycache__" not in path.parts}


def _wait_for(base: str, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            _loaded(base)
        except Failed:
            time.sleep(0.1)
        else:
            return
    raise Failed(f"the demo serves no page at {base}")


def _loaded(url: str) -> str:
    """The text at an address. Raises `Failed`."""
    try:
        with urllib.request.urlopen(url, timeout=START_SECONDS) as response:
            return str(response.read().decode("utf-8"))
    except (OSError, urllib.error.URLError, UnicodeDecodeError) as error:
        raise Failed(f"{url} cannot be loaded: {error}") from error
