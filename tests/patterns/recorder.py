"""Records every pattern that is compiled while the whole program is imported and used. It runs as a
process of its own, because imported modules compile nothing again. Prints one JSON list: pattern,
flags, file and line of the call.
"""

import importlib
import json
import pkgutil
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any, Final

PACKAGES: Final = ("db", "safety", "gateway", "adapters", "memory", "parley", "simulators")
_RE: Final = str(Path(re.__file__).parent)
_NOT_IMPORTED: Final = ("__main__",)


def _caller() -> FrameType | None:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_RE):
        frame = frame.f_back
    return frame


class Recorder:
    """Stands in front of the function that all of `re` compiles with."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int, str], dict[str, Any]] = {}
        module: Any = re
        self._compile = module._compile
        module._compile = self

    def __call__(self, pattern: Any, flags: Any) -> Any:
        compiled = self._compile(pattern, flags)
        frame = _caller()
        if frame is not None and not isinstance(pattern, re.Pattern):
            text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
            place = (frame.f_code.co_filename, frame.f_lineno)
            self.found.setdefault(
                (*place, text),
                {
                    "file": place[0],
                    "line": place[1],
                    "pattern": text,
                    "flags": int(flags),
                    "bytes": isinstance(pattern, bytes),
                },
            )
        return compiled


def _import_all() -> None:
    for package in PACKAGES:
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, f"{package}."):
            if module.name.rpartition(".")[2] not in _NOT_IMPORTED:
                importlib.import_module(module.name)


def main() -> None:
    """Import, use, print."""
    recorder = Recorder()
    _import_all()
    importlib.import_module("tests.patterns.representative").use_everything()
    print(json.dumps(list(recorder.found.values())))  # noqa: T201 - this is its output


if __name__ == "__main__":
    main()
