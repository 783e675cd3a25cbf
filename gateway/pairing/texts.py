"""The sentences about admission and ownership. Names of other people are cleaned in them."""

from typing import Final

from gateway.people import identity_of
from gateway.policy.pairing import CODE_VALID
from safety.display_names import shown_name

MAX_ID: Final = 100
"""Characters of an id that are shown."""
UNNAMED: Final = "no name"

CODE: Final = """\
I answer only people whom my owner has approved. Your code is `{code}`.

Give it to the owner of this assistant, who can approve you within {minutes} minutes. I have not \
kept your message: please send it again after I tell you that you are approved."""
ROOM_HINT: Final = (
    "I answer only people whom my owner has approved. Write me a direct message to ask for that."
)
APPROVED: Final = "You are approved: you can write to me now. `/help` shows what I can do."
NOTE: Final = """\
**Somebody asks to write to me.**

{who}

Approve only if you know this person: compare the code that they tell you, and write `/approve \
CODE`. `/approve` lists everybody who waits. The request ends at {until:%H:%M} UTC."""
OWNER: Final = """\
Hello, you are the owner of **{assistant}** now.

{next}`/help` shows what I can do."""
OWNER_NEXT: Final = (
    "Somebody new who writes to me gets a code. I tell you about it, and `/approve` shows who "
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
