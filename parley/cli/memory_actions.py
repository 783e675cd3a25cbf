"""`parley memory list | search | clear | forget | people`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from memory.model.recollection import Recollection
from memory.model.record import Tier
from memory.ports.memories import Filter
from memory.ports.recall import Query
from memory.service.deletion_topics import TopicMatches
from memory.service.handle import MemoryHandle
from parley.cli.confirm import confirmed
from parley.cli.memory_access import PersonOptions, people, with_memory
from parley.cli.memory_table import plain, print_json, show_people, show_records
from parley.config import Settings

What = Literal["episodic", "semantic", "all"]

TIERS: Final[Mapping[What, tuple[Tier, ...]]] = {
    "episodic": (Tier.EPISODIC,),
    "semantic": (Tier.SEMANTIC,),
    "all": (Tier.WORKING, Tier.EPISODIC, Tier.SEMANTIC),
}
NOTHING: Final = "Nothing is remembered."


def known(config: Path | None, env: Mapping[str, str], tenant: str, *, as_json: bool) -> int:
    """Who is known, with counts only."""
    show_people(people(config, env, tenant), as_json=as_json)
    return 0


def newest(wanted: PersonOptions, limit: int, tier: str | None, *, superseded: bool) -> int:
    """Print the person's own memories, the newest first; of one tier, where it is named."""

    async def job(handle: MemoryHandle, _: Settings) -> None:
        if tier == Tier.WORKING:
            records = (await handle.read.working())[:limit]
        else:
            tiers = (Tier(tier),) if tier else ()
            asked = Filter(own_only=True, superseded=superseded, limit=limit, tiers=tiers)
            records = [match.record for match in await handle.read.search(asked)]
        show_records(records, as_json=wanted.as_json, nothing=NOTHING)

    with_memory(wanted, job)
    return 0


def found(wanted: PersonOptions, query: str, limit: int, *, superseded: bool) -> int:
    """Print those of the person's own memories that fit, best first, as recall finds them."""

    async def job(handle: MemoryHandle, _: Settings) -> Recollection:
        own = Filter(own_only=True, superseded=superseded)
        return await handle.read.recall(Query(query, handle.request.at, limit, filters=own))

    recollection = with_memory(wanted, job, by_meaning=True)
    records = [one.record for one in recollection.results]
    show_records(records, as_json=wanted.as_json, nothing="Nothing fits.")
    if recollection.left_out and not wanted.as_json:
        sys.stdout.write(f"and {recollection.left_out} more that fit less\n")
    return 0


def clear(wanted: PersonOptions, what: What, confirmations: int) -> int:
    """Delete everything of this identity's own in a tier, or in all, once that is confirmed. What
    linked identities wrote stays; they are named."""
    questions = [f"Delete {_named(what)} of {wanted.person}?"]
    if what == "all":
        questions.append("Really all of it? This cannot be undone.")

    async def job(handle: MemoryHandle, _: Settings) -> int | None:
        for other in await handle.privacy.linked():
            told = f"{other.side.person} is linked with it and keeps its own memories.\n"
            sys.stderr.write(told)
        return (
            await handle.privacy.clear(TIERS[what]) if confirmed(questions, confirmations) else None
        )

    gone = with_memory(wanted, job)
    if gone is None:
        return 1
    _tell(wanted, gone)
    return 0


def forget(wanted: PersonOptions, topic: str, confirmations: int) -> int:
    """Show what is about a topic, what waits for a decision and what conversations keep included,
    and delete it once that is confirmed."""

    async def job(handle: MemoryHandle, _: Settings) -> int | None:
        found = await handle.privacy.matches(topic)
        if not found.items:
            return 0
        if not wanted.as_json:
            _show(found)
        if not confirmed([f"Forget {len(found.items)} of {wanted.person}?"], confirmations):
            return None
        # Only what was shown goes, whatever was stored meanwhile.
        bound = [item.refs for item in found.items]
        return (await handle.privacy.forget(bound, handle.privacy.sealed(topic))).items

    gone = with_memory(wanted, job)
    if gone is None:
        return 1
    _tell(wanted, gone)
    return 0


def _show(found: TopicMatches) -> None:
    records = [item.record for item in found.items if item.record is not None]
    show_records(records, as_json=False, nothing="No memory.")
    texts = [item.spoken for item in found.items if item.spoken is not None]
    for said in texts:
        text = "" if said.kind == "summary" else plain(said.text)
        sys.stdout.write(f"{said.at:%Y-%m-%d} {said.kind} of a conversation  {text}\n")
    if found.beyond:
        sys.stdout.write(f"{found.beyond} more are not deleted now: run the command again.\n")


def _named(what: What) -> str:
    return "every memory" if what == "all" else f"every {what} memory"


def _tell(wanted: PersonOptions, gone: int) -> None:
    if wanted.as_json:
        print_json([{"deleted": gone}])
    else:
        sys.stdout.write(f"{gone} deleted.\n")
