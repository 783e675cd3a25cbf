"""`parley memory people | list | search | clear | forget | review`, and `parley recall`."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal

import typer

from gateway.errors import UsageError
from memory.model.outcome import Outcome
from memory.model.record import MAX_DOCUMENT, Tier
from memory.ports.memories import Filter
from memory.ports.recall import Query, Recalled, Recollection
from memory.service.deletion_topics import TopicMatches
from memory.service.handle import MemoryHandle
from memory.stores.reviews import ReviewItem
from parley.cli.memory_access import people_with_memories, with_memory
from parley.cli.memory_table import show_decided, show_people, show_records, show_waiting
from parley.cli.options import (
    AsJson,
    Config,
    Person,
    QueryText,
    SearchLimit,
    Tenant,
    choice,
    confirmed,
)
from parley.cli.terminal import plain, show
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
        show_default=False,
        help="Do not ask for confirmation; give it twice for two questions.",
    ),
]

MAX_WAITING: Final = 100
MIN_ID: Final = 8
"""Characters from which the beginning of an id is enough, when it is the only one."""
NOTHING: Final = "No memory matches."
NOTES: Final[Mapping[str, str]] = {
    "no_model": "by words only: there is no model for vectors, `parley doctor` says why",
    "model_failed": "by words only: the model for vectors failed, see above",
    "model_slow": "by words only: the model for vectors took too long",
    "model_paused": "by words only: the model for vectors is paused after a failure",
    "exact": "by words only: the question asks for exact words",
    "reranker_failed": "without the reranker, which failed",
    "unrelated": "no memory is about the subject of the question",
}


def people(tenant: Tenant = "", config: Config = None, as_json: AsJson = False) -> int:
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

    with_memory(person, config, job)
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

    async def job(handle: MemoryHandle, settings: Settings) -> Recollection:
        own = Filter(own_only=True, superseded=superseded)
        return await handle.read.recall(_query(query, limit, handle, settings, own))

    recollection = with_memory(person, config, job, load_models=True)
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
        return await handle.erasure.clear(TIERS[what]) if confirmed(questions, yes) else None

    return _report(with_memory(person, config, job), as_json=as_json)


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
        matches = await handle.erasure.matches(topic)
        if not matches.items:
            return 0
        if not as_json:
            _show(matches)
        if not confirmed([f"Forget {len(matches.items)} of {person}?"], yes):
            return None
        # Only the shown items are deleted, not those that were stored meanwhile.
        bound = [item.refs for item in matches.items]
        return (await handle.erasure.forget(bound, handle.erasure.hashed(topic))).items

    return _report(with_memory(person, config, job), as_json=as_json)


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
    show([{"deleted": deleted}], [f"{deleted} deleted."], as_json=as_json)
    return 0


def review(
    person: Person = "",
    approve: Annotated[
        list[str] | None, typer.Option("--approve", metavar="ID", help="Keep this one.")
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option("--reject", metavar="ID", help="Do not keep this one.")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Show past decisions, without the text.")
    ] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Decide the named ones, or each one by one; without a terminal they are only shown."""

    async def job(handle: MemoryHandle, _: Settings) -> int:
        if history:
            show_decided(await handle.review.decided(MAX_WAITING), as_json=as_json)
            return 0
        waiting = await handle.review.waiting(MAX_WAITING)
        if approve or reject:
            return await _decide_named(handle, waiting, approve or (), reject or (), as_json)
        if as_json or not waiting or not (sys.stdin.isatty() and sys.stdout.isatty()):
            show_waiting(waiting, as_json=as_json)
            return 0
        return await _ask_each(handle, waiting)

    return with_memory(person, config, job)


async def _decide_named(
    handle: MemoryHandle,
    waiting: Sequence[ReviewItem],
    approve: Sequence[str],
    reject: Sequence[str],
    as_json: bool,
) -> int:
    decided = [(_one(waiting, name), True) for name in approve]
    decided += [(_one(waiting, name), False) for name in reject]
    if len({pending.id for pending, _ in decided}) < len(decided):
        raise UsageError("One memory is named twice.")
    status = 0
    for pending, keep in decided:
        done, result = await _decide(handle, pending, keep=keep)
        status = status if done else 1
        values = {"id": pending.id, "kept": keep and done, "result": result}
        show([values], [f"{pending.id}  {result}"], as_json=as_json)
    return status


async def _ask_each(handle: MemoryHandle, waiting: Sequence[ReviewItem]) -> int:
    status = 0
    for number, pending in enumerate(waiting, 1):
        sys.stdout.write(
            f"\n{number} of {len(waiting)}, {pending.submitted_at.date()}: "
            f"{plain(pending.record.content, MAX_DOCUMENT)}\n({plain(pending.reason.english)})\n"
        )
        answer = choice("Keep it? [y]es [n]o [l]ater [q]uit", "ynlq")
        if answer == "q":
            break
        if answer in "yn":
            done, result = await _decide(handle, pending, keep=answer == "y")
            status = status if done else 1
            sys.stdout.write(f"{result}\n")
    return status


async def _decide(handle: MemoryHandle, pending: ReviewItem, *, keep: bool) -> tuple[bool, str]:
    if not keep:
        await handle.review.reject(pending.id)
        return True, "Not kept."
    result = await handle.review.approve(pending.id)
    return result.outcome is Outcome.STORED, result.reason.english


def _one(waiting: Sequence[ReviewItem], name: str) -> ReviewItem:
    matches = [one for one in waiting if one.id == name]
    if not matches and len(name) >= MIN_ID:
        matches = [one for one in waiting if one.id.startswith(name)]
    if len(matches) != 1:
        raise UsageError(f"No memory waits under {name[:80]!r}. It may have been decided already.")
    return matches[0]


def recall(
    query: QueryText,
    person: Person = "",
    limit: SearchLimit = 20,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Print the candidates, best first; 1 when there are none."""

    async def job(handle: MemoryHandle, settings: Settings) -> Recollection:
        return await handle.read.recall(_query(query, limit, handle, settings, Filter()))

    recollection = with_memory(person, config, job, load_models=True)
    show(map(_as_values, recollection.results), _as_lines(recollection), as_json=as_json)
    return 0 if recollection.results else 1


def _as_values(one: Recalled) -> Mapping[str, object]:
    return {
        "id": one.id,
        "score": round(one.score, 4),
        "source_scores": {search: round(score, 4) for search, score in one.source_scores.items()},
        "source_ranks": dict(one.source_ranks),
        "label": one.label,
        "at": one.record.provenance.at,
        "kind": one.record.kind.value,
        "content": one.record.content,
    }


def _as_lines(recollection: Recollection) -> Iterator[str]:
    """Two lines for each memory: its text, and its rank in each search. Then how recall worked."""
    for place, one in enumerate(recollection.results, 1):
        day = one.record.provenance.at.date().isoformat()
        role = one.record.role or one.record.kind.value
        yield f"{place:>3}. {one.score:.3f}  {day}  {role}  {plain(one.record.content)}"
        searches = [
            f"{search} #{rank} ({one.source_scores[search]:.3f})"
            for search, rank in sorted(one.source_ranks.items())
        ]
        trust = f"; {one.label}" if one.label else ""
        yield f"     {', '.join(searches) or 'beside another one'}{trust}"
    if not recollection.results:
        yield NOTHING
    yield _candidates(recollection)
    yield from (NOTES.get(note, note) for note in recollection.notes)
    stages = ", ".join(f"{stage.name} {stage.ms:.1f}" for stage in recollection.stages)
    yield f"{recollection.ms:.1f} ms: {stages}"


def _candidates(recollection: Recollection) -> str:
    """The number of candidates, and why some of them are not shown."""
    searches = " and ".join(recollection.searches) or "nowhere"
    text = f"{recollection.candidates} candidates from {searches}"
    if recollection.left_out:
        text += f", {recollection.left_out} beyond the limits"
    if recollection.repeats:
        text += f", {recollection.repeats} only repeat a question"
    return text


def _query(
    text: str, limit: int, handle: MemoryHandle, settings: Settings, filters: Filter
) -> Query:
    """Return a question in the time zone of the person and the language of the installation."""
    zone = handle.request.zone
    languages = (settings.languages.default,)
    return Query(text, handle.request.at, limit, filters=filters, zone=zone, languages=languages)
