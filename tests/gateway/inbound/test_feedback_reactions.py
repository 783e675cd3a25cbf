"""A rating of an answer is stored with it; other reactions are ignored."""

from collections.abc import Sequence

import pytest

from gateway.extensions import ExtensionRegistry
from gateway.inbound.feedback_reactions import FeedbackReactions
from gateway.inbound.screening import Screening
from gateway.message import MessageAuthor, Place, ReactionChanged
from gateway.people import PersonId
from gateway.policy.access import AccessPolicy
from gateway.policy.decision import Decision
from gateway.ports.queues import message_key
from gateway.stores.feedback import Thumbs, rating_of
from gateway.turn.services import Policies
from tests.support.for_each import for_each
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, place, received

THUMBS = {"👍": 1, "👎": -1, "👍🏽": 1, "👎🏿": -1, "👍\ufe0f": 1}


@for_each("emoji", [*THUMBS, "❤️", "", "👍👍", ":thumbsup:", "👎👍", "🏽"])
def test_a_thumb_of_any_skin_tone_is_a_rating_and_other_reactions_are_not(emoji: str) -> None:
    assert rating_of(emoji) == THUMBS.get(emoji)


def reaction(
    emoji: str = "👍",
    *,
    message_id: str = "sent-1",
    author: MessageAuthor | None = None,
    at: Place | None = None,
    added: bool = True,
) -> ReactionChanged:
    who = author or MessageAuthor("ada", "Ada")
    return ReactionChanged(f"r-{emoji}{added}", at or direct(), who, message_id, emoji, added)


async def thumbs(g: Gateway, *events: ReactionChanged) -> Thumbs:
    """Return the stored feedback of these reactions under the answer to "hello"."""
    await g.take(received("hello"))
    assert g.texts == ["answer"]
    await g.take(*events)
    kept = await g.services.stores.feedback.of([trace.id for trace in g.traces])
    assert len(kept) <= 1
    return next(iter(kept.values()), Thumbs())


@pytest.mark.parametrize(
    ("events", "kept"),
    [
        ([reaction("👍")], Thumbs(1, 0)),
        ([reaction("👎")], Thumbs(0, 1)),
        ([reaction("👍"), reaction("👍")], Thumbs(1, 0)),
        ([reaction("👍"), reaction("👎")], Thumbs(0, 1)),
        ([reaction("👍"), reaction("👍", added=False)], Thumbs()),
        ([reaction("👍"), reaction("👎", added=False)], Thumbs(1, 0)),
        ([reaction("👍"), reaction("", added=False)], Thumbs()),
        ([reaction("👍"), reaction("👎", author=MessageAuthor("bob"))], Thumbs(1, 1)),
        ([reaction("❤️")], Thumbs()),
        ([reaction(author=MessageAuthor("b", is_bot=True))], Thumbs()),
        ([reaction(author=MessageAuthor("c", is_chat=True))], Thumbs()),
        ([reaction(message_id="m1")], Thumbs()),
        ([reaction(message_id="sent-2")], Thumbs()),
        ([reaction(at=direct("bob"))], Thumbs()),
    ],
)
async def test_the_current_ratings_are_stored(
    events: Sequence[ReactionChanged], kept: Thumbs
) -> None:
    async with gateway() as g:
        assert await thumbs(g, *events) == kept


async def test_reactions_of_people_without_access_are_ignored() -> None:
    policies = Policies(access=AccessPolicy(blocked_users=frozenset({"test:bob"})))
    async with gateway(policies=policies) as g:
        assert await thumbs(g, reaction("👎", author=MessageAuthor("bob"))) == Thumbs()


class NotBob:
    """A gate that serves everybody but Bob."""

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        return Decision("access", person.id != "bob", "not_bob")


async def test_reactions_refused_by_an_extension_are_ignored() -> None:
    async with gateway(extensions=ExtensionRegistry(access_controller=NotBob())) as g:
        both = reaction("👍"), reaction("👎", author=MessageAuthor("bob"))
        assert await thumbs(g, *both) == Thumbs(1, 0)


async def test_reactions_in_an_excluded_workspace_are_ignored() -> None:
    async with gateway() as g:
        there = place()
        await g.take(received("hello", at=there, mentions_bot=True))
        lists = AccessPolicy(blocked_workspaces=frozenset({"test:W1"}))
        g.services = g.services.under(Policies(access=lists))
        ratings = FeedbackReactions(g.services, Screening(g.services, g.intake._dispatcher))
        await ratings.take(reaction("👎", at=there))
        assert await g.services.stores.feedback.of([trace.id for trace in g.traces]) == {}


async def test_a_reaction_stores_nothing_else_and_is_not_answered() -> None:
    async with gateway() as g:
        await thumbs(g, reaction("👍"), reaction("🎉"))
        assert await g.stored_words() == ["hello"]
        assert g.texts == ["answer"]


def test_the_same_message_id_in_two_chats_is_two_messages() -> None:
    assert message_key(direct("ada"), "5") != message_key(direct("bob"), "5")
