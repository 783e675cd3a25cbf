"""`parley memory people | list | search | clear | forget`."""

import sys
from collections.abc import Mapping
from typing import Annotated, Final, Literal

import typer

from memory.model.recollection import Recollection
from memory.model.record import Tier
from memory.ports.memories import Filter
from memory.ports.recall import Query
from memory.service.deletion_topics import TopicMatches
from memory.service.handle import MemoryHandle
from parley.cli.memory_access import PersonOptions, people_with_memories, with_memory
from parley.cli.memory_table import plain, print_json, show_people, show_records
from parley.cli.options import AsJson, Config, Person, QueryText, SearchLimit, confirmed
from parley.config import Settings

What = Literal["episodic", "semantic", "all"]

TIERS: Final[Mapping[What, tuple[Tier, ...]]] = {
    "episodic": (Tier.EPISODIC,),
    "semantic": (Tier.SEMANTIC,),
    "all": (Tier.WORKING, Tier.EPISODIC, Tier.SEMANTIC),
}
NO_MEMORIES: Final = "There are no memories."

Superseded = Annotated[
    bool, typer.Option("--superseded", help="Include memories that were replaced.")
]
Yes = Annotated[
    int,
    typer.Option(
        "--yes",
        "-y",
        count=True,
        help="Do not ask for confirmation; give it twice for two questions.",
    ),
]


def people(
    tenant: Annotated[
        str, typer.Option(help="Only this tenant, if the program serves several.")
    ] = "",
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Print the people with memories, with counts only."""
    show_people(people_with_memories(config, tenant), as_json=as_json)
    return 0


def list_newest(
    person: Person = "",
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum of memories.")] = 50,
    superseded: Superseded = False,
    tier: Annotated[
        Literal["working", "episodic", "semantic"] | None,
        typer.Option("--tier", help="Only this tier; `working` is the current conversations."),
    ] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Print the person's own memories, the newest first."""

    async def job(handle: MemoryHandle, _: Settings) -> None:
        if tier == "working":
            records = (await handle.read.working())[:limit]
        else:
            tiers = (Tier(tier),) if tier else ()
            own = Filter(own_only=True, superseded=superseded, limit=limit, tiers=tiers)
            records = [match.record for match in await handle.read.search(own)]
        show_records(records, as_json=as_json, nothing=NO_MEMORIES)

    with_memory(PersonOptions(person, config, as_json), job)
    return 0


def search(
    query: QueryText,
    person: Person = "",
    limit: SearchLimit = 20,
    superseded: Superseded = False,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Print the person's own memories that match, best first, as recall finds them."""

    async def job(handle: MemoryHandle, _: Settings) -> Recollection:
        own = Filter(own_only=True, superseded=superseded)
        return await handle.read.recall(Query(query, handle.request.at, limit, filters=own))

    recollection = with_memory(PersonOptions(person, config, as_json), job, load_models=True)
    records = [one.record for one in recollection.results]
    show_records(records, as_json=as_json, nothing="No memory matches.")
    if recollection.left_out and not as_json:
        sys.stdout.write(f"and {recollection.left_out} more with weaker matches\n")
    return 0


def clear(
    what: Annotated[What, typer.Argument(help="Which memories.")],
    person: Person = "",
    yes: Yes = 0,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Delete all memories of this identity in a tier, or in all, after confirmation. Memories of
    linked identities stay; these identities are named."""
    memories = "every memory" if what == "all" else f"every {what} memory"
    questions = [f"Delete {memories} of {person}?"]
    if what == "all":
        questions.append("Really all of it? This cannot be undone.")

    async def job(handle: MemoryHandle, _: Settings) -> int | None:
        for other in await handle.privacy.linked():
            line = f"{other.side.person} is linked with it and keeps its own memories.\n"
            sys.stderr.write(line)
        return await handle.privacy.clear(TIERS[what]) if confirmed(questions, yes) else None

    return _report(with_memory(PersonOptions(person, config, as_json), job), as_json=as_json)


def forget(
    topic: Annotated[str, typer.Argument(help="A topic, or the id of a memory.")],
    person: Person = "",
    yes: Yes = 0,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Show what is stored about a topic, pending memories and conversations included, and delete it
    after confirmation."""

    async def job(handle: MemoryHandle, _: Settings) -> int | None:
        matches = await handle.privacy.matches(topic)
        if not matches.items:
            return 0
        if not as_json:
            _show(matches)
        if not confirmed([f"Forget {len(matches.items)} of {person}?"], yes):
            return None
        # Only the shown items are deleted, not those that were stored meanwhile.
        bound = [item.refs for item in matches.items]
        return (await handle.privacy.forget(bound, handle.privacy.sealed(topic))).items

    return _report(with_memory(PersonOptions(person, config, as_json), job), as_json=as_json)


def _show(matches: TopicMatches) -> None:
    records = [item.record for item in matches.items if item.record is not None]
    show_records(records, as_json=False, nothing="No memory.")
    for words in (item.spoken for item in matches.items if item.spoken is not None):
        text = "" if words.kind == "summary" else plain(words.text)
        sys.stdout.write(f"{words.at:%Y-%m-%d} {words.kind} of a conversation  {text}\n")
    if matches.beyond:
        sys.stdout.write(f"{matches.beyond} more are not deleted now: run the command again.\n")


def _report(deleted: int | None, *, as_json: bool) -> int:
    """Print how many were deleted; 1 where the user did not confirm."""
    if deleted is None:
        return 1
    if as_json:
        print_json([{"deleted": deleted}])
    else:
        sys.stdout.write(f"{deleted} deleted.\n")
    return 0
