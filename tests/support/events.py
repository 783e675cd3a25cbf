"""Generated events of every kind, for property tests."""

from datetime import UTC, datetime

from hypothesis import strategies as st

from gateway.message import (
    Attachment,
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    Extras,
    InboundEvent,
    InlineQueried,
    MembershipChanged,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Place,
    Quote,
    ReactionChanged,
)
from gateway.people import Audience

# Lone surrogates are no text: adapters replace them at the edge.
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
ids = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
numbers = st.floats(-180, 180, allow_nan=False)
instants = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone

places = st.builds(Place, ids, ids, ids, st.sampled_from(Audience), words, words)
authors = st.builds(MessageAuthor, ids, words, st.booleans(), st.lists(ids, max_size=2).map(tuple))
attachments = st.builds(
    Attachment,
    st.sampled_from(["image", "audio", "video", "document", "sticker", "other"]),
    ids,
    words,
    words,
    st.none() | st.integers(0, 10**12),
)
extras = st.none() | st.builds(
    Extras,
    st.dictionaries(words, words | st.booleans() | st.lists(ids, max_size=2), max_size=3),
    words,
)
messages = st.builds(
    ChatMessage,
    ids,
    words,
    authors,
    places,
    instants,
    st.none() | ids,
    st.none() | st.builds(Quote, ids, words, ids, words, st.booleans()),
    st.lists(attachments, max_size=2).map(tuple),
    st.booleans(),
    st.booleans(),
    extras,
)


def events() -> st.SearchStrategy[InboundEvent]:
    """Any event that an adapter may hand over."""
    return st.one_of(
        st.builds(MessageReceived, ids, messages),
        st.builds(MessageEdited, ids, messages),
        st.builds(MessageDeleted, ids, places, st.lists(ids, max_size=3).map(tuple)),
        st.builds(ButtonPressed, ids, places, authors, words, words, words, words),
        st.builds(CommandInvoked, ids, places, authors, ids, words, st.none() | messages),
        st.builds(ReactionChanged, ids, places, authors, ids, words, st.booleans()),
        st.builds(MembershipChanged, ids, places, authors, st.booleans(), st.booleans()),
        st.builds(InlineQueried, ids, places, authors, words),
    )
