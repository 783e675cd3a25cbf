"""Facts that a person told the offline model about themselves, and their questions about them."""

import re
from collections.abc import Sequence
from typing import Final

UNTOLD: Final = "You have not told me"
_MY: Final = re.compile(
    r"\b(?:what(?:'s|’s| is| was| are| were)|who(?:'s|’s| is)|which is|"
    r"(?:do|can) you (?:know|remember|tell me)(?: what)?|tell me(?: what)?) "
    r"(?P<what>my (?P<thing>[\w' -]{1,60}?))(?: is| are)?[\s?!.]*$",
    re.IGNORECASE,
)
_DO_I: Final = re.compile(
    r"\b(?:where|what|when|who|which [\w ]{1,30}) do i (?P<verb>[a-z]{2,20})\b", re.IGNORECASE
)
_TOLD: Final = re.compile(
    r"^\W*my (?P<thing>[\w' -]{1,60}?)(?P<verb>'s|’s| is| are)(?: now)? "
    r"(?P<value>[^\n.!?;]{1,200})$",
    re.IGNORECASE,
)
_CALLED: Final = r"\b(?:call me|i am called|i'm called) (?P<value>[^\n.,!?;]{1,60})"


def own_topic(question: str) -> str:
    """Return the thing of the person that a question asks for ("my dog"), empty for none."""
    asked = _MY.search(question)
    return asked["what"].strip() if asked else ""


def answer_about_person(question: str, before: Sequence[str]) -> str:
    """Return the answer to a question about the person from their earlier messages (oldest first),
    or to a statement; empty for any other text."""
    asked = _MY.search(question)
    if asked is not None:
        return _recalled(asked["thing"].strip(), before)
    doing = _DO_I.search(question)
    if doing is not None:
        return _said_of(doing["verb"], before)
    told = _TOLD.search(question.rstrip(" \n\t.!"))
    if told is not None:
        verb = "are" if told["verb"] == " are" else "is"
        return f"Noted: your {told['thing'].strip()} {verb} {told['value'].strip()}."
    return ""


def _recalled(thing: str, before: Sequence[str]) -> str:
    """Find the latest statement about something of the person's."""
    forms = [
        rf"\bmy {_spelled(thing)}(?:'s|’s| is| was)(?: now)? (?P<value>[^\n.!?;]{{1,200}})",
        rf"\bmy {_spelled(thing)}(?P<many> are| were)(?: now)? (?P<value>[^\n.!?;]{{1,200}})",
    ]
    if thing.lower() == "name":
        forms.append(_CALLED)
    for text in reversed(before):
        for form in forms:
            statement = re.search(form, text, re.IGNORECASE)
            if statement is not None:
                verb = "are" if "many" in statement.groupdict() else "is"
                return f"Your {thing} {verb} {statement['value'].strip()}, you said."
    return f"{UNTOLD} your {thing}."


def _said_of(verb: str, before: Sequence[str]) -> str:
    """Find the latest sentence that says what the person does."""
    form = re.compile(rf"\bI {re.escape(verb)}\b[^\n.!?;]{{1,200}}", re.IGNORECASE)
    for text in reversed(before):
        statement = None if _DO_I.search(text) else form.search(text)
        if statement is not None:
            return f"You said: “{statement[0].strip()}”"
    return f"{UNTOLD} that."


def _spelled(thing: str) -> str:
    """Return a pattern for a name in British and American spelling."""
    return re.sub(r"(?<=[lvb])ou?r", "ou?r", re.escape(thing).replace(r"\ ", r"\s+"))
