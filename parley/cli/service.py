"""`parley service`: a service of one user, without root, at systemd or launchd."""

import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from gateway.errors import StartError, UsageError
from parley.cli.chosen_configuration import DEFAULT_CONFIG, base_folder, own_configuration
from parley.cli.file_writing import write_beside
from parley.cli.options import Config

NAME: Final = "parley"
LABEL: Final = "org.parley.gateway"
SECONDS: Final = 60.0
MAX_SAID: Final = 2_000
NO_CONFIG: Final = (
    "There is no configuration for the service. Run `parley init` first, or name one with --config."
)
NO_MANAGER: Final = (
    "No service manager for one user was found: systemd (`systemctl --user`) on Linux, launchd on "
    "macOS. `parley docs how-to/run-as-a-service` describes other ways."
)
TEMPORARY: Final = (
    "{command} is in a cache that may be emptied: install Parley with `uv tool install` or `pipx "
    "install`, then run this command again."
)
UNWRITABLE: Final = (
    "A service cannot use the path {path!r}: it has a control character, ends with a backslash or a"
    " space, or is not UTF-8, or a program's path has a quote. Rename the folder."
)
NO_PROGRAM: Final = frozenset("\"'\\")
MAX_SHOWN: Final = 500
MAX_FOLDERS: Final = 100
SYSTEM_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")
UNIT: Final = """\
# Written by `parley service install`.
[Unit]
Description=Parley, one assistant on Discord, Slack, Telegram and WhatsApp
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
WatchdogSec=60
ExecStart={command}
WorkingDirectory={folder}
Environment=PYTHONUNBUFFERED=1
Environment={path}
UMask=0077
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2 3
TimeoutStopSec=40
NoNewPrivileges=yes

[Install]
WantedBy=default.target
"""


class Manager(Protocol):
    """A service manager. Each method prints nothing, and raises `StartError` where the manager
    refuses."""

    def install(self, command: Sequence[str], folder: Path) -> str:
        """Start the command now and at each login or boot; return what to know about it."""
        ...

    def status(self) -> tuple[bool, str]:
        """Return True if the service runs, and the words of the manager."""
        ...

    def remove(self) -> str:
        """Stop the service and delete its file; return what was done."""
        ...


class Systemd(Struct, frozen=True):
    """The user instance of systemd. `home` has the folder of the units."""

    home: Path

    @property
    def file(self) -> Path:
        """The unit (systemd.unit(5): units of the user)."""
        return self.home / ".config" / "systemd" / "user" / f"{NAME}.service"

    def install(self, command: Sequence[str], folder: Path) -> str:
        """Write the unit and start it, also without a login where that is allowed."""
        program, *arguments = command
        # systemd fills variables into the arguments only.
        words = (_quoted(program), *(_quoted(one.replace("$", "$$")) for one in arguments))
        line = " ".join(words)
        write_beside(
            self.file,
            UNIT.format(
                command=line, folder=_unit_path(folder), path=_quoted(f"PATH={search_path()}")
            ),
        )
        run("systemctl", "--user", "daemon-reload")
        run("systemctl", "--user", "enable", f"{NAME}.service")
        run("systemctl", "--user", "restart", f"{NAME}.service")
        lingers, said = _tried("loginctl", "enable-linger")
        note = "" if lingers else (
            f"It ends with your login, because lingering is not allowed ({said})."
            " `sudo loginctl enable-linger $USER` allows it.\n"
        )  # fmt: skip
        return f"{note}Log: journalctl --user -u {NAME}"

    def status(self) -> tuple[bool, str]:
        """Ask systemd."""
        runs, _ = _tried("systemctl", "--user", "is-active", f"{NAME}.service")
        _, said = _tried("systemctl", "--user", "--no-pager", "status", f"{NAME}.service")
        return runs, said

    def remove(self) -> str:
        """Disable and stop the unit."""
        if not self.file.exists():
            return "There is no service."
        run("systemctl", "--user", "disable", "--now", f"{NAME}.service")
        self.file.unlink()
        run("systemctl", "--user", "daemon-reload")
        return f"The service is removed, and {self.file} deleted. Configuration and data stay."


class Launchd(Struct, frozen=True):
    """The agents of launchd (launchd.plist(5), launchctl(1)) in the domain of a user's session."""

    home: Path
    user: int

    @property
    def file(self) -> Path:
        """The property list."""
        return self.home / "Library" / "LaunchAgents" / f"{LABEL}.plist"

    @property
    def log(self) -> Path:
        """The file of output and errors."""
        return self.home / "Library" / "Logs" / f"{NAME}.log"

    def install(self, command: Sequence[str], folder: Path) -> str:
        """Write the property list and load it; an earlier one is unloaded."""
        job = {
            "Label": LABEL,
            "ProgramArguments": list(command),
            "WorkingDirectory": str(folder),
            "EnvironmentVariables": {"PYTHONUNBUFFERED": "1", "PATH": search_path()},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 10,
            "ExitTimeOut": 40,
            "Umask": 0o077,
            "StandardOutPath": str(self.log),
            "StandardErrorPath": str(self.log),
        }
        self.log.parent.mkdir(parents=True, exist_ok=True)
        write_beside(self.file, plistlib.dumps(job).decode())
        _tried("launchctl", "bootout", f"gui/{self.user}/{LABEL}")
        run("launchctl", "bootstrap", f"gui/{self.user}", str(self.file))
        return f"It runs while you are logged in. Log: {self.log}"

    def status(self) -> tuple[bool, str]:
        """Ask launchd."""
        is_loaded, said = _tried("launchctl", "print", f"gui/{self.user}/{LABEL}")
        return is_loaded and "state = running" in said, said

    def remove(self) -> str:
        """Unload the agent."""
        if not self.file.exists():
            return "There is no service."
        _tried("launchctl", "bootout", f"gui/{self.user}/{LABEL}")
        self.file.unlink()
        return f"The service is removed, and {self.file} deleted. Configuration and data stay."


def manager() -> Manager:
    """The service manager of this machine. Raises `BadInput`."""
    home = Path.home()
    if sys.platform == "darwin" and shutil.which("launchctl"):
        return Launchd(home, os.getuid())
    if sys.platform == "linux" and shutil.which("systemctl"):
        return Systemd(home)
    raise UsageError(NO_MANAGER)


def install(config: Config = None) -> int:
    """Start Parley as a service of this user. Raises `BadInput`, `StartError`."""
    path = own_configuration(config) or DEFAULT_CONFIG
    if not path.is_file():
        raise UsageError(NO_CONFIG)
    command = Path(sys.executable).with_name("parley")
    if {"archive-v0", "environments-v2"} & set(command.parts):
        raise UsageError(TEMPORARY.format(command=command))
    words = [sys.executable, "-m", "parley", "run", "--config", str(path.absolute())]
    folder = base_folder(path)
    _refuse_unwritable(words[0], (*words[1:], str(folder.absolute())))
    said = manager().install(words, folder)
    sys.stdout.write(f"Parley runs as a service, and starts again after a failure.\n{said}\n")
    return 0


def status() -> int:
    """Print the state; 1 if the service does not run."""
    runs, said = manager().status()
    sys.stdout.write(f"The service {'runs' if runs else 'does not run'}.\n{said}\n")
    return 0 if runs else 1


def remove() -> int:
    """Stop the service and delete its file."""
    sys.stdout.write(f"{manager().remove()}\n")
    return 0


def run(*command: str) -> None:
    """Run a command of the manager. Raises `StartError` with its words."""
    succeeded, said = _tried(*command)
    if not succeeded:
        raise StartError(f"`{' '.join(command)}` failed: {said}.", "`parley run` works without it.")


def _tried(*command: str) -> tuple[bool, str]:
    try:
        ended = subprocess.run(  # noqa: S603 - a fixed program of the service manager
            command, capture_output=True, text=True, timeout=SECONDS, check=False,
            errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, type(error).__name__
    return ended.returncode == 0, (ended.stdout + ended.stderr).strip()[:MAX_SAID]


def search_path() -> str:
    """The folders in which this shell finds programs: service managers have fewer, and MCP servers
    are started with programs such as `uvx` and `npx`. A relative folder is left out."""
    folders = (*os.environ.get("PATH", "").split(os.pathsep)[:MAX_FOLDERS], *SYSTEM_PATH)
    usable = (one for one in folders if one.startswith("/") and one.isprintable())
    return os.pathsep.join(dict.fromkeys(usable))


def _quoted(word: str) -> str:
    """A word of ExecStart or Environment (systemd.service(5), command lines): quoted, without
    specifiers."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{plain}"'


def _unit_path(folder: Path) -> str:
    return str(folder.absolute()).replace("%", "%%")


def _refuse_unwritable(program: str, paths: Sequence[str]) -> None:
    """Raises `BadInput` for a path that a line of a service's file cannot hold: with a line break,
    which would begin another setting, or with an end that is not taken as a part of the path.
    systemd takes no program with a quote or a backslash."""
    for path in (program, *paths):
        unquotable = path is program and NO_PROGRAM.intersection(path)
        if unquotable or not path.isprintable() or path != path.strip() or path.endswith("\\"):
            raise UsageError(UNWRITABLE.format(path=path[:MAX_SHOWN]))
