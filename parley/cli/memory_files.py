"""`parley memory export | import`."""

import getpass
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final

import typer

from gateway.errors import LibraryMissing, UsageError
from memory.model.outcome import IngestionTier, ValidationResult
from memory.service.handle import MemoryHandle
from memory.transfer.encryption import MAX_KEY, check_key
from memory.transfer.exporter import ExportOptions, Form, export
from memory.transfer.importer import LineOutcome, LineReport, bring_in, needs_key
from memory.write.validate import INPUT_KINDS
from parley.cli.memory_access import check_person, with_memory
from parley.cli.options import AsJson, Config, Person
from parley.cli.terminal import show
from parley.config import Settings
from parley.python_environment import missing

KEY_VARIABLE: Final = "PARLEY_EXPORT_KEY"
NO_KEY: Final = f"No terminal to ask for the key: use --key-file FILE, or set {KEY_VARIABLE}."
FAILED: Final = frozenset({LineOutcome.REFUSED, LineOutcome.UNREADABLE})

KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", help="The file that holds the key of an encrypted file."),
]


def export_memories(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    person: Person = "",
    form: Annotated[Form, typer.Option("--format", help="The file's format.")] = "jsonl",
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="Encrypt it with your own key.")
    ] = False,
    key_file: KeyFile = None,
    embeddings: Annotated[
        bool, typer.Option("--with-embeddings", help="Include the vectors, if there are any.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an older file.")] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Write the person's own memories to a file."""
    check_person(person)
    if form == "parquet" and (absent := missing("parquet")):
        raise LibraryMissing("--format parquet", absent, "parquet")
    key = _read_key(key_file, twice=True) if encrypt or key_file else ""
    wish = ExportOptions(file, form, key, embeddings, force)

    async def job(handle: MemoryHandle, _: Settings) -> int:
        return await export(handle, wish)

    count = with_memory(person, config, job)
    access = (
        "encrypted, readable with the key only" if key else "not encrypted, readable to you only"
    )
    values = {"file": str(file), "memories": count, "encrypted": bool(key)}
    show([values], [f"{count} memories are in {file} ({access})."], as_json=as_json)
    return 0


def import_memories(
    file: Annotated[Path, typer.Argument(help="A file written by `parley memory export`.")],
    person: Person = "",
    key_file: KeyFile = None,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Add the memories of a file, each as if the person had asked for it, and print the result of
    each line; 1 when one was not stored."""
    check_person(person)
    key = _read_key(key_file, twice=False) if needs_key(file) else ""
    counts: Counter[LineOutcome] = Counter()

    async def job(handle: MemoryHandle, settings: Settings) -> None:
        async for line in bring_in(handle, file, key, turns=settings.memory.episodic):
            counts[line.outcome] += 1
            _print_line(line, as_json=as_json)

    try:
        with_memory(person, config, job, allow_unknown=True)
    finally:
        if counts and not as_json:
            sums = ", ".join(
                f"{count} {outcome.value}" for outcome, count in sorted(counts.items())
            )
            sys.stdout.write(f"{counts.total()} memories: {sums}.\n")
    return int(any(counts[outcome] for outcome in FAILED))


def _read_key(key_file: Path | None, *, twice: bool) -> str:
    """The key of an encrypted file: from a file, the environment, or the terminal."""
    if key_file is not None:
        try:
            with key_file.open(encoding="utf-8") as opened:
                return check_key(opened.read(MAX_KEY + 10))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read the key in {key_file}: {error}") from error
    if os.environ.get(KEY_VARIABLE):
        return check_key(os.environ[KEY_VARIABLE])
    if not sys.stdin.isatty():
        raise UsageError(NO_KEY)
    key = check_key(getpass.getpass("Key (12 characters or more): "))
    if twice and getpass.getpass("The same again: ") != key:
        raise UsageError("The two keys differ.")
    return key


def _print_line(line: LineReport, *, as_json: bool) -> None:
    why = line.reason.english
    outcome, reason = line.outcome.value, f": {why}" if why else ""
    values = {"line": line.line, "outcome": outcome, "reason": why, "id": line.id}
    show([values], [f"line {line.line}: {outcome}{reason}"], as_json=as_json)


MEANINGS: Final[Mapping[IngestionTier, str]] = {
    IngestionTier.AUTO_APPROVE: "stored at once",
    IngestionTier.FLAG_REVIEW: "waits for the person's decision",
    IngestionTier.BLOCK: "not stored",
}


def validate(
    text: Annotated[str, typer.Argument(help="The text to remember.")],
    person: Person = "",
    memory_type: Annotated[
        str, typer.Option("--type", help="preference, fact, instruction, correction, decision …")
    ] = "fact",
    source: Annotated[
        str, typer.Option(help=f"The origin of the text: {', '.join(INPUT_KINDS)}.")
    ] = "ai_synthesis",
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Print the tier, the reason and every check; 0 only where the text would be stored at once."""

    async def job(handle: MemoryHandle, _: Settings) -> ValidationResult:
        if source not in INPUT_KINDS:
            raise UsageError(f"--source: {source[:40]!r} is not one of {', '.join(INPUT_KINDS)}")
        return await handle.write.try_out(text, memory_type, source)

    result = with_memory(person, config, job, allow_unknown=True)
    show([_as_values(result)], _as_lines(result), as_json=as_json)
    return int(not result.approved)


def _as_values(result: ValidationResult) -> dict[str, object]:
    return {
        "tier": result.tier.value,
        "approved": result.approved,
        "code": result.code.value,
        "reason": result.reason.english,
        "confidence": result.evidence.confidence,
        "confidence_name": result.evidence.confidence_name,
        "source_id": result.evidence.source_id,
        "checks_passed": list(result.checks_passed),
        "checks_failed": list(result.checks_failed),
        "similarity": result.similarity,
        "conflicting_id": result.conflicting_id,
    }


def _as_lines(result: ValidationResult) -> Iterator[str]:
    yield f"{result.tier.value}, {MEANINGS[result.tier]}: {result.reason.english}"
    yield f"confidence {result.evidence.confidence_name} ({result.evidence.confidence:.1f})"
    yield from (f"passed: {check}" for check in result.checks_passed)
    yield from (f"failed: {check}" for check in result.checks_failed)
    if result.conflicting_id:
        yield f"like {result.conflicting_id}: {result.similarity or 0:.2f}"
