"""Every step that the tables of both databases went through, in order."""

from collections.abc import Collection
from typing import Final

from gateway.errors import StoreUnavailable
from gateway.storage.migrations.step import Migration
from gateway.storage.migrations.steps import (
    briefs_frozen,
    conversation_notes,
    dead_letters,
    feedback,
    hot_state,
    links_confirmed,
    long_lived_state,
    memory,
    memory_audit,
    memory_choices,
    memory_people,
    memory_recall,
    memory_shelved_words,
    person_tokens,
    quarantine,
    refusals_bounded,
    reviews_settled,
    seen_lately,
    sends_begun,
    settled_once,
    shown_material,
    spending_forgotten,
    waiting_turns,
)

MIGRATIONS: Final = (
    hot_state.STEP,
    long_lived_state.STEP,
    settled_once.STEP,
    memory.STEP,
    memory_people.STEP,
    spending_forgotten.STEP,
    dead_letters.STEP,
    memory_audit.STEP,
    waiting_turns.STEP,
    memory_recall.STEP,
    conversation_notes.STEP,
    reviews_settled.STEP,
    person_tokens.STEP,
    memory_shelved_words.STEP,
    sends_begun.STEP,
    briefs_frozen.STEP,
    quarantine.STEP,
    links_confirmed.STEP,
    seen_lately.STEP,
    refusals_bounded.STEP,
    shown_material.STEP,
    memory_choices.STEP,
    feedback.STEP,
)


def missing(done: Collection[int]) -> list[Migration]:
    """The steps that a database still has to take, in order.

    `done` holds the versions it has taken. Raises `StoreUnavailable` when one of them is unknown:
    a newer program wrote there, and this one would break it.
    """
    unknown = set(done) - {migration.version for migration in MIGRATIONS}
    if unknown:
        raise StoreUnavailable(
            f"the database was written by a newer version of Parley (step {max(unknown)}); "
            "update the program, or restore a backup made before the update"
        )
    return [migration for migration in MIGRATIONS if migration.version not in done]
