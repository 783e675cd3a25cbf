"""`parley memory list | search | clear | forget | people`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from memory.handle import MemoryHandle
from memory.recall.provenance import Recollection
from memory.recall.query import Query
from memory.record import Tier
from memory.store.ports import Filter
from parley.cli.asking import agreed
from parley.cli.memory_access import Wanted, people, with_memory
from parley.cli.memory_shown import print_json, show_people, show_records
from parley.settings import Settings

What = Literal["episodic", "semantic", "all"]

TIERS: Final[Mapping[What, tuple[Tier, ...]]] = {
    "episodic": (Tier.EPISODIC,),
    "semantic": (Tier.SEMANTIC,),
    "all": (Tier.WORKING, Tier.EPISODIC, Tier.SEMANTIC),
}
NOTHING: Final = "Nothing is remembered."
SHOWN: Final = 20
"""Memories that are listed before one is asked whether they shall go."""


def known(config: Path | None, env: Mapping[str, str], tenant: str, *, as_json: bool) -> int:
    """Who is known, with counts only."""
    show_people(people(config, env, tenant), as_json=as_json)
    return 0


def newest(wanted: Wanted, limit: int, *, superseded: bool) -> int:
    """Print the person's own memories, the newest first."""

    async def job(handle: MemoryHandle, _: Settings) -> None:
        asked = Filter(own_only=True, superseded=superseded, limit=limit)
        records = [match.record for match in await handle.search(asked)]
        show_records(records, as_json=wanted.as_json, nothing=NOTHING)

    with_memory(wanted, job)
    return 0


def found(wanted: Wanted, query: str, limit: int, *, superseded: bool) -> int:
    """Print those of the person's own memories that fit, best first, as recall finds them."""

    async def job(handle: MemoryHandle, _: Settings) -> Recollection:
        own = Filter(own_only=True, superseded=superseded)
        return await handle.look_up(Query(query, handle.occasion.at, limit, wanted=own))

    recollection = with_memory(wanted, job, by_meaning=True)
    records = [one.record for one in recollection.results]
    show_records(records, as_json=wanted.as_json, nothing="Nothing fits.")
    if recollection.left_out and not wanted.as_json:
        sys.stdout.write(f"and {recollection.left_out} more that fit less\n")
    return 0


def clear(wanted: Wanted, what: What, said_yes: int) -> int:
    """Delete everything of this identity's own in a tier, or in all, once that is confirmed. What
    linked identities wrote stays; they are named."""
    questions = [f"Delete {_named(what)} of {wanted.person}?"]
    if what == "all":
        questions.append("Really all of it? This cannot be undone.")

    async def job(handle: MemoryHandle, _: Settings) -> int | None:
        for other in await handle.linked():
            told = f"{other.side.person} is linked with it and keeps its own memories.\n"
            sys.stderr.write(told)
        return await handle.clear(TIERS[what]) if agreed(questions, said_yes) else None

    gone = with_memory(wanted, job)
    if gone is None:
        return 1
    _tell(wanted, gone)
    return 0


def forget(wanted: Wanted, topic: str, said_yes: int) -> int:
    """Show what is about a topic, what waits for a decision included, and delete it once that is
    confirmed."""

    async def job(handle: MemoryHandle, _: Settings) -> int | None:
        records = await handle.about(topic)
        records += [pending.record for pending in await handle.waiting_about(topic)]
        if not records:
            return 0
        if not wanted.as_json:
            show_records(records[:SHOWN], as_json=False, nothing=NOTHING)
            if len(records) > SHOWN:
                sys.stdout.write(f"and {len(records) - SHOWN} more\n")
        if not agreed([f"Forget {len(records)} of {wanted.person}?"], said_yes):
            return None
        # Only what was shown goes, whatever was stored meanwhile.
        return await handle.forget(topic, [record.id for record in records])

    gone = with_memory(wanted, job)
    if gone is None:
        return 1
    _tell(wanted, gone)
    return 0


def _named(what: What) -> str:
    return "every memory" if what == "all" else f"every {what} memory"


def _tell(wanted: Wanted, gone: int) -> None:
    if wanted.as_json:
        print_json([{"deleted": gone}])
    else:
        sys.stdout.write(f"{gone} deleted.\n")
