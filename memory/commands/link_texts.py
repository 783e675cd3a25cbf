"""The sentences about linking accounts. Names of other people are cleaned and escaped in them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from gateway.people import identity_of
from gateway.text import Moment, Text, counted, label, text, verbatim
from memory.ports.people import Linked, LinkRequest, LinkSide
from memory.text.display import bullets, one_line, paragraphs

MAX_ID: Final = 100
_TITLES: Final[Mapping[str, Text]] = {"whatsapp": verbatim("WhatsApp"), "web": text("the web page")}

YES: Final = label("Yes, link both")
NO: Final = label("No")
MEANS: Final = text(
    "Once both accounts have confirmed, each of them can see, use, change and delete what I "
    "remember of the other. Both count as one person in limits, budgets and blocks. "
    "`/privacy erase` still erases only the account that it is written from."
)
OFFER: Final = text(
    "To link this account with one of yours on another platform, write me there, in a direct "
    "message, within ten minutes: `/link {code}`"
)
OFFER_MEANS: Final = text(
    "After that I show each of the two accounts the other one and ask both to confirm. Nothing is "
    "shared before both have confirmed. Give this code to nobody else."
)
QUESTION: Final = text("**Link this account with the following one?**")
HOW_TO_ANSWER: Final = text(
    "Confirm only if that account is yours: its user can read everything I remember of you. Press "
    "a button, or write `/link confirm {id}` or `/link cancel {id}`, before {until}."
)
GROUP: Final = text("That account is linked already, and you would be linked with these too:")
ASKED: Final = text(
    "You have confirmed. Now I ask the other account, in its direct message with me: {side}."
)
ASKED_UNTIL: Final = text(
    "Nothing is shared unless it confirms before {until}. If the question does not arrive there, "
    "write `/link` in that direct message. To refuse after all, write `/link cancel`."
)
NOT_YET: Final = text(
    "Your code was entered by {side}. That account has not confirmed yet. As soon as it has, I ask "
    "you. If this is not your account, write `/link cancel`."
)
ENDED: Final = text(
    "The link with another account was not completed and has ended. Nothing new is shared. "
    "`/link` begins a new link."
)
CANCELLED: Final = text(
    "Nothing new is linked. The code and its questions are no longer valid. `/link` begins a new "
    "link."
)
NOTHING_OPEN: Final = text(
    "No link waits for your confirmation. A code and each question are valid for ten minutes. "
    "`/link` begins a new link."
)
OWN_CODE: Final = text(
    "This is your own code. Enter it on the other platform, in a direct message with me."
)
BUSY: Final = text(
    "Another link waits for a confirmation, by you or by the account that made this code. `/link` "
    "shows yours, `/link cancel` ends it. Then enter the code again."
)
ALREADY: Final = text("These two accounts are linked already. `/link` shows all that are.")
SAME_ACCOUNT: Final = text(
    "I link accounts of different platforms only. Two of these accounts are on the same platform "
    "and use the same bot, so I treat them as two people. Nothing is linked, and the code is no "
    "longer valid. To link another account, write `/link` for a new code."
)
TOO_MANY: Final = text(
    "Together these would be more than ten accounts, and I link ten at most. Nothing is linked. "
    "Write `/link off` from an account that you no longer need, then begin again with `/link`."
)
DONE: Final = text("**Linked since {at}.** These accounts are one person for me now:")
DONE_MEANS: Final = text(
    "`/link off`, in a direct message from one of them, separates that account again. If you did "
    "not want this link, write `/link off` now."
)
LINKED: Final = text("This account is linked with:")
LINKED_MEANS: Final = text("`/link off` separates this account from them.")
SEPARATED: Final = text("This account is separated from:")
SEPARATED_MEANS: Final = text(
    "Each account keeps what was remembered for it. `/link` links them again."
)
LEFT: Final = text(
    "Since {at} this account is no longer linked with {side}. Each account keeps what was "
    "remembered for it. `/link` links them again."
)
NOT_LINKED: Final = text(
    "This account is not linked with any other account. `/link` begins a link."
)
ERASE_ASKED: Final = text("Erase **everything** I keep about this account? This cannot be undone.")
ERASE_LINKED: Final = text(
    "This account is linked with the following ones. After the erasure they are no longer linked "
    "with it and keep their own data. I then ask each of them, in its own direct message, whether "
    "to erase that too:"
)
ERASED: Final = counted(
    "Done. Everything is erased: {count} entry. I keep nothing about this account any more, and "
    "this answer is not kept either. If you write to me again, we start from the beginning.",
    "Done. Everything is erased: {count} entries. I keep nothing about this account any more, and "
    "this answer is not kept either. If you write to me again, we start from the beginning.",
)
ERASED_OF_OPERATOR: Final = counted(
    "Done. Everything is erased: {count} entry. I keep nothing about this account any more, and "
    "this answer is not kept either. One thing stays: if you read private text of other people as "
    "an operator, took their conversations over or decided about their proposals, they keep the "
    "record of it, with your id. If you write to me again, we start from the beginning.",
    "Done. Everything is erased: {count} entries. I keep nothing about this account any more, and "
    "this answer is not kept either. One thing stays: if you read private text of other people as "
    "an operator, took their conversations over or decided about their proposals, they keep the "
    "record of it, with your id. If you write to me again, we start from the beginning.",
)
APPROVAL_GOES: Final = text(
    "Your approval goes with it: where I answer only people who are approved, you need a new "
    "one afterwards. If you became owner with an owner code, you need a new code too."
)
APPROVAL_GONE: Final = text(
    "Your approval is gone too: where I answer only people who are approved, you need a new "
    "one. If you became owner with an owner code, you need a new code."
)
ERASED_ELSEWHERE: Final = text(
    "The account {side} has erased everything I kept about it, and is no longer linked with this "
    "one. What I keep about this account is still here."
)
ERASE_THAT_TOO: Final = text(
    "Erase that too? Press a button within a day, or write `/privacy erase` at any time."
)
# Translators: an account in a list. {platform} is such as "Telegram", {id} is the account's id.
_SIDE: Final = text("{platform}, “{name}”, id {id}")
_SIDE_UNNAMED: Final = text("{platform}, id {id}")
_SINCE: Final = text("{side}, since {at}")
# Translators: the person who asks through an agent. {name} is what they call themselves.
_NAMED: Final = text("{name} (name not verified, id {id})")
_PLATFORM: Final = text("Platform: {platform}")
_NAME: Final = text("Name: “{name}”")
_NAME_UNKNOWN: Final = text("Name: not known")
_ID: Final = text("Id: {id}")
_ACCOUNT: Final = text("{platform} (account {account})")


def offer(code: str) -> Text:
    """Return the way to link another account."""
    return paragraphs(OFFER.of(code=verbatim(code)), OFFER_MEANS)


def question(request: LinkRequest, other: LinkSide, group: Sequence[Linked]) -> Text:
    """Return the question about a link with `other` and its linked accounts, `group`."""
    shown = paragraphs(GROUP, listed(group)) if group else None
    how = HOW_TO_ANSWER.of(id=verbatim(request.id), until=Moment(request.until, "clock"))
    return paragraphs(QUESTION, described(other), shown, MEANS, how)


def asked(request: LinkRequest, other: LinkSide) -> Text:
    """Return the answer to a person whose other account is asked now."""
    until = ASKED_UNTIL.of(until=Moment(request.until, "clock"))
    return paragraphs(ASKED.of(side=in_short(other)), until)


def done(at: datetime, sides: Sequence[Linked]) -> Text:
    """Return the confirmation of a new link."""
    return paragraphs(DONE.of(at=Moment(at)), listed(sides), DONE_MEANS)


def linked(sides: Sequence[Linked]) -> Text:
    """Return the accounts with which this one is linked."""
    return paragraphs(LINKED, listed(sides), LINKED_MEANS)


def separated(sides: Sequence[Linked]) -> Text:
    """Return the accounts with which this one is no longer linked."""
    return paragraphs(SEPARATED, listed(sides), SEPARATED_MEANS)


def erase_asked(others: Sequence[Linked], *, approved: bool) -> Text:
    """Return the question before everything is erased; `others` are linked accounts. `approved`:
    an approval is among what is erased."""
    linked = (ERASE_LINKED, listed(others)) if others else ()
    return paragraphs(ERASE_ASKED, APPROVAL_GOES if approved else None, *linked)


def erased_elsewhere(side: LinkSide) -> Text:
    """Return the question to an account that was linked with an erased one."""
    return paragraphs(ERASED_ELSEWHERE.of(side=in_short(side)), ERASE_THAT_TOO)


def erased(count: int, *, operated: bool, approved: bool) -> Text:
    """Return the confirmation, with the number of deleted entries. `operated`: they are an
    operator, so that other people may keep records of what they did; `approved`: an approval was
    among the entries."""
    done = (ERASED_OF_OPERATOR if operated else ERASED).of(count=count)
    return paragraphs(done, APPROVAL_GONE if approved else None)


def described(side: LinkSide) -> Text:
    """Return platform, account, name and id, one per line."""
    identity = identity_of(side.person)
    name = _NAME.of(name=verbatim(one_line(side.name))) if side.name else _NAME_UNKNOWN
    return bullets((_PLATFORM.of(platform=_platform(side)), name, _ID.of(id=_code(identity.id))))


def in_short(side: LinkSide) -> Text:
    """Return the same in one line."""
    platform, id_ = _platform(side), _code(identity_of(side.person).id)
    if not side.name:
        return _SIDE_UNNAMED.of(platform=platform, id=id_)
    return _SIDE.of(platform=platform, name=verbatim(one_line(side.name)), id=id_)


def person_by_name(person: str, name: str) -> Text:
    """Return the words for a `str(PersonId)`: their name, which nobody verified, with the id that
    decides; the id alone without a name."""
    id_ = identity_of(person).id
    if not one_line(name):
        return verbatim(one_line(id_, 60))
    return _NAMED.of(name=verbatim(one_line(name, 60)), id=_code(id_))


def platform_of(person: str) -> Text:
    """Return the title of a person's platform."""
    platform = identity_of(person).platform
    return _TITLES.get(platform) or verbatim(one_line(platform.title()))


def listed(group: Sequence[Linked]) -> Text:
    """Return linked identities, one per line, with the day of the link."""
    return bullets(
        _SINCE.of(side=in_short(one.side), at=Moment(one.since, "day"))
        if one.since
        else in_short(one.side)
        for one in group
    )


def _platform(side: LinkSide) -> Text:
    """Return a platform, with its account unless it is the only one or "main"."""
    identity = identity_of(side.person)
    title = _TITLES.get(identity.platform) or verbatim(one_line(identity.platform.title()))
    if identity.account == "main":
        return title
    return _ACCOUNT.of(platform=title, account=verbatim(one_line(identity.account)))


def _code(written: str) -> Text:
    shown = "".join(char for char in written if char.isprintable() and char != "`")[:MAX_ID]
    return verbatim(f"`{shown}`")
