"""`parley quarantine list | show | retry | discard`: work that stopped the program."""

import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, get_args

import typer

from gateway.errors import UsageError
from gateway.inbound.crash_loop_guard import CRASHES, MAX_LISTED, CrashCounts
from gateway.ports.work_guard import Quarantined, WorkItem, WorkKind
from parley.cli.options import Config
from parley.cli.stores import settings_with_database, with_storage
from parley.cli.terminal import print_lines, printable, second_of
from parley.wiring.storage import Storage

Key = Annotated[str, typer.Argument(help="A key as `parley quarantine list` shows it.")]
Keys = Annotated[list[str], typer.Argument(help="Keys as `parley quarantine list` shows them.")]

MEANINGS: Final[Mapping[WorkKind, str]] = {
    "message": "A message. Its author was notified if possible, and its text is deleted.",
    "waiting_turn": "A turn that memory could not store. The conversation itself holds it.",
    "send": "An answer that could not be sent. `parley outbox list` shows it too.",
    "chore": "A housekeeping task. It is tried again after a day.",
    "heartbeat": "The figures of a project. They are fetched again after a day.",
    "embedding": "The vector of a memory, or the model for it. It is tried again after a day.",
    "payload": "A delivery of a platform. It was acknowledged without being read.",
}
ONCE: Final[tuple[WorkKind, ...]] = ("message",)
"""Kinds whose content is deleted, so that they cannot be tried again."""


def show(
    config: Config = None,
    limit: Annotated[
        int, typer.Option(min=1, max=1_000, help="Number of entries, the newest first.")
    ] = 50,
) -> int:
    """Print the latest entries, newest first."""
    entries = with_storage(
        settings_with_database(config, hot=True), lambda storage: storage.quarantine.listed(limit)
    )
    print_lines([_describe(entry) for entry in entries] or ["The quarantine is empty."])
    return 0


def explain(key: Key, config: Config = None) -> int:
    """Print one entry with its meaning; 1 when there is none with this key."""
    item = _item_of(key)
    entries = with_storage(
        settings_with_database(config, hot=True),
        lambda storage: storage.quarantine.listed(MAX_LISTED),
    )
    for entry in entries:
        if WorkItem(entry.kind, entry.id) == item:
            steps = f"    to delete it: parley quarantine discard {key}\n"
            if entry.kind not in ONCE:
                steps = f"    after an update: parley quarantine retry {key}\n{steps}"
            sys.stdout.write(f"{_describe(entry)}\n    {MEANINGS[entry.kind]}\n{steps}")
            return 0
    sys.stderr.write(f"{key} is not in quarantine; see `parley quarantine list`\n")
    return 1


def retry(keys: Keys, config: Config = None) -> int:
    """Try entries again; 1 when one is not in quarantine, or cannot be tried again."""
    return _remove(keys, config, discard=False)


def discard(keys: Keys, config: Config = None) -> int:
    """Delete entries; 1 when one is not in quarantine."""
    return _remove(keys, config, discard=True)


def _remove(keys: Sequence[str], config: Config, *, discard: bool) -> int:
    items = [_item_of(key) for key in dict.fromkeys(keys)]
    without_text = [] if discard else [item for item in items if item.kind in ONCE]
    for item in without_text:
        sys.stderr.write(
            f"{item.key}: not retried, because its text is deleted; discard it instead.\n"
        )

    async def job(storage: Storage) -> int:
        crashes = CrashCounts(storage.stores.states.of(*CRASHES))
        removed = 0
        for item in items:
            if item in without_text:
                continue
            if await storage.quarantine.remove(item.kind, item.id, discard=discard):
                removed += 1
                if not discard:
                    await crashes.put(item, 0)
        return removed

    removed = with_storage(settings_with_database(config, hot=True), job)
    sys.stdout.write(f"{'discarded' if discard else 'to be tried again'}: {removed}\n")
    missing = len(items) - len(without_text) - removed
    if missing:
        sys.stderr.write(f"not in quarantine: {missing}; see `parley quarantine list`\n")
    return int(removed < len(items))


def _describe(entry: Quarantined) -> str:
    """One entry as an operator reads it: the work, its time, owner and place."""
    at, owner = second_of(entry.at), entry.owner
    person = f"person {owner.person}" if owner.person else ""
    place = f"place {owner.place}" if owner.place else ""
    parts = [f"{entry.kind}:{entry.id}", at, person, place, f"weight {entry.weight}"]
    return "  ".join(printable(part) for part in parts if part)


def _item_of(key: str) -> WorkItem:
    kind, _, id_ = key.partition(":")
    for known in get_args(WorkKind):
        if kind == known and id_:
            return WorkItem(known, id_)
    raise UsageError(f"{key[:80]!r}: a key is KIND:ID, as `parley quarantine list` shows it.")
