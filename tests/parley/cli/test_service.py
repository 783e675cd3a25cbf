"""`parley service`: the files for systemd and launchd, and the commands of their programs."""

import plistlib
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from gateway.errors import BadInput, StartError
from parley.cli.service import LABEL, Launchd, Systemd, _refuse_unwritable, install, search_path

COMMAND = [
    "/opt/a folder/100%/$x/python",
    "-m",
    "parley",
    "run",
    "--config",
    "/srv/my config.yaml",
    "$HOME",
]


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs that note their command line and end with the status in the file `status`."""
    programs, log = tmp_path / "bin", tmp_path / "calls"
    programs.mkdir()
    for name in ("systemctl", "loginctl", "launchctl"):
        script = f'#!/bin/sh\necho "{name} $*" >> {log}\n[ -f {tmp_path}/fails ] && exit 1\n'
        (programs / name).write_text(f"{script}echo 'state = running'\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return log


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_accepts_the_unit(tmp_path: Path, called: Path) -> None:
    systemd = Systemd(tmp_path)
    folder, programs = tmp_path / "50% of \"a\" $x \\ 'b'", tmp_path / "50% of $x"
    folder.mkdir()
    programs.mkdir()
    program = programs / "true"
    shutil.copy("/bin/true", program)
    systemd.install([str(program), "a b", "100%", "$HOME"], folder)
    verify = ["systemd-analyze", "verify", "--user", str(systemd.file)]
    env = {"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}
    ended = subprocess.run(verify, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert systemd.file.name not in ended.stderr  # it may complain about units of others
    systemd.file.write_text(systemd.file.read_text().replace("ExecStart=", "ExecStrat="))
    broken = subprocess.run(verify, env=env, capture_output=True, text=True, check=False)
    assert "ExecStrat" in broken.stderr


def test_a_unit_is_installed_asked_for_and_removed(tmp_path: Path, called: Path) -> None:
    systemd = Systemd(tmp_path)
    assert "journalctl --user -u parley" in systemd.install(COMMAND, tmp_path)
    text = systemd.file.read_text()
    assert 'ExecStart="/opt/a folder/100%%/$x/python" "-m" "parley" "run"' in text
    assert '"/srv/my config.yaml" "$$HOME"' in text
    assert "Restart=on-failure" in text
    assert systemd.status()[0]
    assert "is removed" in systemd.remove()
    assert not systemd.file.exists()
    assert systemd.remove() == "There is no service."
    calls = called.read_text().splitlines()
    assert calls[:4] == [
        "systemctl --user daemon-reload",
        "systemctl --user enable parley.service",
        "systemctl --user restart parley.service",
        "loginctl enable-linger",
    ]
    assert "systemctl --user disable --now parley.service" in calls


@pytest.mark.parametrize(
    "name",
    ["a\nExecStartPre=/bin/false", "a\rb", "a\x00b", "a\u2028b", "a\udcff", "a\\", "a "],
    ids=ascii,
)
def test_a_path_that_would_change_the_unit_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="cannot use the path") as refused:
        _refuse_unwritable("/bin/true", (f"/srv/{name}",))
    assert str(refused.value).isprintable()


def test_only_a_program_may_have_no_quotes() -> None:
    path = "/srv/a b/100%/$x/\"é\"'ü'/日本"
    _refuse_unwritable("/srv/a b/100%/$x/日本", (path,))
    with pytest.raises(BadInput, match="cannot use the path"):
        _refuse_unwritable(path, ())


def test_an_agent_is_installed_asked_for_and_removed(tmp_path: Path, called: Path) -> None:
    launchd = Launchd(tmp_path, 501)
    launchd.install(COMMAND, tmp_path)
    job = plistlib.loads(launchd.file.read_bytes())
    assert (job["Label"], job["ProgramArguments"]) == (LABEL, COMMAND)
    assert job["KeepAlive"] == {"SuccessfulExit": False}
    assert launchd.status()[0]
    launchd.remove()
    assert not launchd.file.exists()
    assert f"launchctl bootstrap gui/501 {launchd.file}" in called.read_text()
    assert called.read_text().splitlines()[-1] == f"launchctl bootout gui/501/{LABEL}"


def test_a_manager_that_refuses_is_named(tmp_path: Path, called: Path) -> None:
    (tmp_path / "fails").touch()
    with pytest.raises(StartError, match="systemctl --user daemon-reload"):
        Systemd(tmp_path).install(COMMAND, tmp_path)
    assert not Systemd(tmp_path).status()[0]
    assert stat.S_IMODE(Systemd(tmp_path).file.stat().st_mode) == 0o644


def test_nothing_is_written_for_a_refused_folder(
    tmp_path: Path, called: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a\nUMask=0000"
    folder.mkdir()
    (folder / "parley.yaml").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(BadInput, match="cannot use the path"):
        install(folder / "parley.yaml")
    assert not called.exists()


def test_a_service_finds_the_programs_of_the_shell_that_installs_it(
    tmp_path: Path, called: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = '/home/a b/50%/.local/"bin"'
    path = f"{tmp_path / 'bin'}:{own}:.:relative::/a\nUMask=0:{own}:/usr/bin"
    monkeypatch.setenv("PATH", path)
    expected = f"{tmp_path / 'bin'}:{own}:/usr/bin:/usr/local/bin:/bin"
    assert search_path() == expected
    systemd, launchd = Systemd(tmp_path), Launchd(tmp_path, 501)
    systemd.install(COMMAND, tmp_path)
    launchd.install(COMMAND, tmp_path)
    written = expected.replace("%", "%%").replace('"', '\\"')
    assert f'\nEnvironment="PATH={written}"\n' in systemd.file.read_text()
    job = plistlib.loads(launchd.file.read_bytes())
    assert job["EnvironmentVariables"]["PATH"] == expected
