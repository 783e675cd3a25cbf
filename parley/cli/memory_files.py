"""`parley memory export | import`."""

import getpass
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gateway.errors import BadInput
from memory.service.handle import MemoryHandle
from memory.transfer.encryption import MAX_KEY, check_key
from memory.transfer.exporter import ExportOptions, Form, export
from memory.transfer.importer import LineOutcome, LineReport, bring_in, needs_key
from parley.cli.memory_access import PersonOptions, with_memory
from parley.cli.memory_table import print_json
from parley.config import Settings

KEY_VARIABLE: Final = "PARLEY_EXPORT_KEY"
NO_KEY: Final = f"There is nobody to ask for the key: --key-file FILE, or {KEY_VARIABLE}."
FAILED: Final = frozenset({LineOutcome.REFUSED, LineOutcome.UNREADABLE})


def export_memories(
    wanted: PersonOptions,
    file: Path,
    form: Form,
    *,
    sealed: bool,
    key_file: Path | None,
    embeddings: bool,
    force: bool,
) -> int:
    """Write the person's own memories into a file."""
    key = key_from(wanted.env, key_file, twice=True) if sealed or key_file else ""
    wish = ExportOptions(file, form, key, embeddings, force)

    async def job(handle: MemoryHandle, _: Settings) -> int:
        return await export(handle, wish)

    count = with_memory(wanted, job)
    if wanted.as_json:
        print_json([{"file": str(file), "memories": count, "sealed": bool(key)}])
    else:
        how = "sealed, readable with the key only" if key else "not sealed, readable to you only"
        sys.stdout.write(f"{count} memories are in {file} ({how}).\n")
    return 0


def import_memories(wanted: PersonOptions, file: Path, key_file: Path | None) -> int:
    """Bring in a file, and say of each line what became of it; 1 when one was not taken."""
    key = key_from(wanted.env, key_file, twice=False) if needs_key(file) else ""
    counts: Counter[LineOutcome] = Counter()

    async def job(handle: MemoryHandle, settings: Settings) -> None:
        async for told in bring_in(handle, file, key, turns=settings.memory.episodic):
            counts[told.fate] += 1
            _tell(wanted, told)

    try:
        with_memory(wanted, job, stranger=True)
    finally:
        if counts and not wanted.as_json:
            sums = ", ".join(f"{count} {fate.value}" for fate, count in sorted(counts.items()))
            sys.stdout.write(f"{counts.total()} memories: {sums}.\n")
    return int(any(counts[fate] for fate in FAILED))


def key_from(env: Mapping[str, str], key_file: Path | None, *, twice: bool) -> str:
    """The key of a sealed file: from a file, the environment, or whoever sits here."""
    if key_file is not None:
        try:
            with key_file.open(encoding="utf-8") as opened:
                return check_key(opened.read(MAX_KEY + 10))
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"cannot read the key in {key_file}: {error}") from error
    if env.get(KEY_VARIABLE):
        return check_key(env[KEY_VARIABLE])
    if not sys.stdin.isatty():
        raise BadInput(NO_KEY)
    key = check_key(getpass.getpass("Key (12 characters or more): "))
    if twice and getpass.getpass("The same again: ") != key:
        raise BadInput("That was not the same.")
    return key


def _tell(wanted: PersonOptions, told: LineReport) -> None:
    if wanted.as_json:
        values = {"line": told.line, "fate": told.fate.value, "reason": told.reason, "id": told.id}
        print_json([values])
    else:
        why = f": {told.reason}" if told.reason else ""
        sys.stdout.write(f"line {told.line}: {told.fate.value}{why}\n")
