"""The sentences about linking accounts. Names of other people are cleaned and escaped in them."""

from collections.abc import Sequence
from typing import Final

from gateway.people import identity_of
from memory.ports.people import Linked, LinkRequest, LinkSide
from memory.text.display import one_line

MAX_ID: Final = 100
_TITLES: Final = {"whatsapp": "WhatsApp", "web": "the web page"}

YES: Final = "Yes, link both"
NO: Final = "No"
MEANS: Final = (
    "Once both accounts have confirmed, each of them can see, use, change and delete what I "
    "remember of the other. Both count as one person in limits, budgets and blocks. "
    "`/privacy erase` still erases only the account that it is written from."
)
OFFER: Final = """\
To link this account with one of yours on another platform, write me there, in a direct \
message, within ten minutes: `/link {code}`

After that I show each of the two accounts the other one and ask both to confirm. Nothing is \
shared before both have confirmed. Give this code to nobody else."""
QUESTION: Final = """\
**Link this account with the following one?**

{side}{group}

{means}

Confirm only if that account is yours: its user can read everything I remember of you. Press a \
button, or write `/link confirm {id}` or `/link cancel {id}`, before {until:%H:%M} UTC."""
GROUP: Final = """\


That account is linked already, and you would be linked with these too:

{sides}"""
ASKED: Final = """\
You have confirmed. Now I ask the other account, in its direct message with me: {side}.

Nothing is shared unless it confirms before {until:%H:%M} UTC. If the question does not arrive \
there, write `/link` in that direct message. To refuse after all, write `/link cancel`."""
NOT_YET: Final = """\
Your code was entered by {side}. That account has not confirmed yet. As soon as it has, I ask you. \
If this is not your account, write `/link cancel`."""
ENDED: Final = (
    "The link with another account was not completed and has ended. Nothing new is shared. "
    "`/link` begins a new link."
)
CANCELLED: Final = (
    "Nothing new is linked. The code and its questions are no longer valid. `/link` begins a new "
    "link."
)
NOTHING_OPEN: Final = (
    "No link waits for your confirmation. A code and each question are valid for ten minutes. "
    "`/link` begins a new link."
)
OWN_CODE: Final = (
    "This is your own code. Enter it on the other platform, in a direct message with me."
)
BUSY: Final = (
    "Another link waits for a confirmation, by you or by the account that made this code. `/link` "
    "shows yours, `/link cancel` ends it. Then enter the code again."
)
ALREADY: Final = "These two accounts are linked already. `/link` shows all that are."
SAME_ACCOUNT: Final = (
    "I link accounts of different platforms only. Two of these accounts are on the same platform "
    "and use the same bot, so I treat them as two people. Nothing is linked, and the code is no "
    "longer valid. To link another account, write `/link` for a new code."
)
TOO_MANY: Final = (
    "Together these would be more than ten accounts, and I link ten at most. Nothing is linked. "
    "Write `/link off` from an account that you no longer need, then begin again with `/link`."
)
DONE: Final = """\
**Linked since {at:%Y-%m-%d %H:%M} UTC.** These accounts are one person for me now:

{sides}

`/link off`, in a direct message from one of them, separates that account again. If you did not \
want this link, write `/link off` now."""
LINKED: Final = """\
This account is linked with:

{sides}

`/link off` separates this account from them."""
SEPARATED: Final = """\
This account is separated from:

{sides}

Each account keeps what was remembered for it. `/link` links them again."""
LEFT: Final = """\
Since {at:%Y-%m-%d %H:%M} UTC this account is no longer linked with {side}. Each account keeps \
what was remembered for it. `/link` links them again."""
NOT_LINKED: Final = "This account is not linked with any other account. `/link` begins a link."
ERASE_ASKED: Final = """\
Erase **everything** I keep about this account? This cannot be undone.{linked}"""
ERASE_LINKED: Final = """\


This account is linked with the following ones. After the erasure they are no longer linked with \
it and keep their own data. I then ask each of them, in its own direct message, whether to erase \
that too:

{sides}"""
ERASED: Final = """\
Done. Everything is erased: {entries}. I keep nothing about this account any more, and this \
answer is not kept either.{records} If you write to me again, we begin anew."""
RECORDS_STAY: Final = (
    " One thing stays: if you read private text of other people as an operator, took their"
    " conversations over or decided about their proposals, they keep the record of it, with your"
    " id."
)
ERASED_ELSEWHERE: Final = """\
The account {side} has erased everything I kept about it, and is no longer linked with this one. \
What I keep about this account is still here.

Erase that too? Press a button within a day, or write `/privacy erase` at any time."""


def question(request: LinkRequest, other: LinkSide, group: Sequence[Linked]) -> str:
    """Return the question about a link with `other` and its linked accounts, `group`."""
    shown = GROUP.format(sides=listed(group)) if group else ""
    return QUESTION.format(
        side=described(other), group=shown, means=MEANS, id=request.id, until=request.until
    )


def erased(count: int, *, operated: bool) -> str:
    """Return the confirmation, with the number of deleted entries. `operated`: they are an
    operator, so that other people may keep records of what they did."""
    entries = f"{count} entr{'y' if count == 1 else 'ies'}"
    return ERASED.format(entries=entries, records=RECORDS_STAY if operated else "")


def described(side: LinkSide) -> str:
    """Return platform, account, name and id, one per line."""
    identity = identity_of(side.person)
    name = f"“{one_line(side.name)}”" if side.name else "not known"
    return f"- Platform: {_platform(side)}\n- Name: {name}\n- Id: {_code(identity.id)}"


def in_short(side: LinkSide) -> str:
    """Return the same in one line."""
    name = f", “{one_line(side.name)}”" if side.name else ""
    return f"{_platform(side)}{name}, id {_code(identity_of(side.person).id)}"


def listed(group: Sequence[Linked]) -> str:
    """Return linked identities, one per line, with the day of the link."""
    return "\n".join(
        f"- {in_short(one.side)}" + (f", since {one.since.date()}" if one.since else "")
        for one in group
    )


def _platform(side: LinkSide) -> str:
    """Return a platform, with its account unless it is the only one or "main"."""
    identity = identity_of(side.person)
    title = _TITLES.get(identity.platform) or one_line(identity.platform.title())
    return (
        title if identity.account == "main" else f"{title} (account {one_line(identity.account)})"
    )


def _code(text: str) -> str:
    shown = "".join(char for char in text if char.isprintable() and char != "`")[:MAX_ID]
    return f"`{shown}`"
