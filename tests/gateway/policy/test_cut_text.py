"""Which messages are pieces of one text, and how their texts join."""

from datetime import timedelta

import pytest

from gateway.immutable import replace
from gateway.message import Attachment, ChatMessage, TextCut
from gateway.policy.cut_text import (
    MAX_GAP,
    MAX_PIECES,
    awaits_rest,
    continues,
    may_be_first,
    seam,
    texts_of,
)
from tests.support.messages import AT, direct, message, place

TELEGRAM = TextCut((4_096,), shortest=0.5)
DISCORD = TextCut((2_000, 4_000))
FULL = "w" * 4_096


def later(text: str = "the rest", *, by: timedelta = timedelta(), **rest: object) -> ChatMessage:
    return message(text, message_id="m2", timestamp=AT + by, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("length", "cut", "waits"),
    [
        (4_096, TELEGRAM, True),
        (3_800, TELEGRAM, True),
        (3_600, TELEGRAM, False),
        (40, TELEGRAM, False),
        (2_000, DISCORD, True),
        (3_990, DISCORD, True),
        (2_500, DISCORD, False),
        (4_096, None, False),
    ],
)
def test_only_a_nearly_full_message_waits(length: int, cut: TextCut | None, waits: bool) -> None:
    assert awaits_rest(message("x" * length), cut) is waits


def test_the_length_is_that_of_the_sent_text_in_utf_16() -> None:
    assert awaits_rest(message("😀" * 2_048), TELEGRAM)
    assert not awaits_rest(message("😀" * 1_000), TELEGRAM)
    assert awaits_rest(replace(message("x" * 3_000), units=4_096), TELEGRAM)
    assert not awaits_rest(replace(message("x" * 4_000), units=900), TELEGRAM)


def test_a_client_that_looks_for_the_end_of_a_paragraph_cuts_earlier() -> None:
    paragraph = message("x" * 2_500)
    assert may_be_first(paragraph, TELEGRAM)
    assert not awaits_rest(paragraph, TELEGRAM)
    assert continues([paragraph], later(), TELEGRAM)
    assert not continues([message("x" * 1_500)], later(), TELEGRAM)


def test_the_next_message_of_the_same_author_continues_a_full_one() -> None:
    assert continues([message(FULL)], later(by=MAX_GAP), TELEGRAM)


@pytest.mark.parametrize(
    "other",
    [
        later(author="eve"),
        later(by=MAX_GAP + timedelta(seconds=1)),
        later(by=-timedelta(seconds=1)),
        later(at=place()),
        later(at=replace(direct(), thread_id="t1")),
        later(mentions_bot=True),
        later(""),
        replace(later(), reply_to_id="m0"),
        replace(later(), attachments=(Attachment("image", "ref"),)),
    ],
)
def test_any_other_message_is_one_of_its_own(other: ChatMessage) -> None:
    assert not continues([message(FULL)], other, TELEGRAM)


def test_the_pieces_of_a_reply_may_reply_to_the_same_message() -> None:
    first = replace(message(FULL), reply_to_id="m0")
    assert continues([first], replace(later(), reply_to_id="m0"), TELEGRAM)


def test_the_number_and_the_size_of_pieces_are_limited() -> None:
    pieces = [message(FULL, message_id=str(n)) for n in range(MAX_PIECES + 5)]
    assert [len(text) for text in texts_of(pieces, TELEGRAM)] == [MAX_PIECES, 5]
    whatsapp = [message("x" * 65_536, message_id=str(n)) for n in range(3)]
    assert [len(text) for text in texts_of(whatsapp, TextCut((65_536,)))] == [1, 1, 1]


def test_messages_of_their_own_stay_so() -> None:
    texts = texts_of([message("one"), message(FULL), later(), later("two")], TELEGRAM)
    assert [[one.content for one in text] for text in texts] == [
        ["one"],
        [FULL, "the rest"],
        ["two"],
    ]


PROSE = "The whale swims in the sea. " * 200
LINES = "def one(): pass\n" * 300
HAN = "鲸鱼在海里游泳。" * 800


def cut_like(text: str, *ends: str, searched: int = 300, limit: int = 4_096) -> tuple[str, str]:
    """Cut as a client does: at the last of the preferred ends in the last characters before the
    limit; both pieces are trimmed."""
    for end in ends:
        at = text.rfind(end, limit - searched, limit)
        if at >= 0:
            return text[: at + len(end)].strip(), text[at + len(end) :].strip()
    return text[:limit].strip(), text[limit:].strip()


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (PROSE, (" ",)),
        (PROSE, (".",)),
        (PROSE, ()),
        ("x" * 9_000, ()),
        (HAN, ()),
        (LINES, ("\n",)),
        ("def one(): pass.\n" * 300, ("\n",)),
        (HAN[:4_000] + "\n" + HAN, ("\n",)),
        ("😀" * 3_000, ()),
    ],
    ids=["prose", "sentences", "hard", "word", "han", "lines", "stops", "han_lines", "emoji"],
)
def test_pieces_join_as_their_author_wrote_them(text: str, ends: tuple[str, ...]) -> None:
    text = text.strip()
    before, after = cut_like(text, *ends, limit=2_048 if "😀" in text else 4_096)
    assert f"{before}{seam(message(before), message(after), TELEGRAM)}{after}" == text


def test_a_paragraph_that_a_client_cut_early_stays_a_line_of_its_own() -> None:
    before = "The whale swims. " * 150
    assert seam(message(before.strip()), message("The tuna too."), TELEGRAM) == "\n"
