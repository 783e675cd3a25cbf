"""The sentences about admission and ownership. Names of other people are cleaned in them."""

from typing import Final

from gateway.people import identity_of
from gateway.policy.pairing_codes import CODE_VALID
from safety.unicode import shown_name

MAX_ID: Final = 100
"""Characters of an id that are shown."""
UNNAMED: Final = "no name"

CODE: Final = """\
I answer only people who are approved. Your code is `{code}`.

Give this code to the owner of this assistant, who can approve you with it. The code is valid for \
{minutes} minutes. I have not stored your message: please send it again after I tell you that you \
are approved."""
ROOM_HINT: Final = (
    "I answer only people who are approved. To ask for an approval, write me a direct message."
)
APPROVED: Final = "You are approved: you can write to me now. `/help` shows what I can do."
REQUEST_NOTICE: Final = """\
**A person asks for permission to write to me.**

{who}

Approve only a person whom you know. Ask them for their code and write `/approve CODE`: the code \
shows that this request is theirs. The buttons decide without the code. `/approve` lists everybody \
who waits. The request ends at {until:%H:%M} UTC."""
OWNER: Final = """\
Hello, you are the owner of **{assistant}** now.

{next}`/help` shows what I can do."""
OWNER_NEXT: Final = (
    "A new person who writes to me gets a code. I notify you, and `/approve` lists everybody who "
    "waits.\n\n"
)
WRONG_OWNER_CODE: Final = (
    "This owner code is not valid. It may be mistyped, used already, or older than 15 minutes. "
    "`parley access owner-code`, on the machine of this assistant, prints a new one."
)


def code_text(code: str) -> str:
    """Return the only message that a stranger gets."""
    return CODE.format(code=code, minutes=round(CODE_VALID.total_seconds() / 60))


def owner_text(assistant: str, *, approves: bool) -> str:
    """Return the greeting of a new owner; `approves`: others need an approval."""
    return OWNER.format(assistant=assistant, next=OWNER_NEXT if approves else "")


def described(person: str, name: str) -> str:
    """Return a person in one line for approvers: the name is what the person chose, the id is
    what the platform assures."""
    who = identity_of(person)
    named = code_span(shown_name(name)) if shown_name(name) else UNNAMED
    account = "" if who.account == "main" else f" ({code_span(who.account)})"
    return f"{named} (name not verified), {who.platform}{account}, id {code_span(who.id)}"


def code_span(text: str) -> str:
    """Return a text as inline code, in which no formatting, link or mention works."""
    return f"`{shown_name(text.replace('`', chr(39)), MAX_ID) or '?'}`"
