"""The sentences about invitations into pools. People name pools and agents, so names are
escaped."""

from collections.abc import Mapping, Sequence
from typing import Final

from gateway.text import Moment, Text, counted, label, text, verbatim
from memory.agents.model import Permission, PoolInvitation
from memory.commands.link_texts import person_by_name, platform_of
from memory.text.display import bullets, one_line, paragraphs
from safety.injection_detection.detect import detect_injection

SHORT: Final = 8
"""Characters of an id that a person types."""
MAX_SHOWN: Final = 20
"""Invitations of a list in one message."""

ACCEPT: Final = label("Accept")
DECLINE: Final = label("Decline")
TYPED_ACCEPT: Final = label("accept")
TYPED_DECLINE: Final = label("decline")
"""What a person writes instead of pressing a button."""
NOTICE: Final = text(
    "**{inviter} invites your agent {agent} into a pool**, in which agents share memories. They "
    "call the pool “{pool}”."
)
READS: Final = text(
    "If you accept, the agent finds what others share there, and the owner of the pool can "
    "hand tasks to it. I treat their texts as words of other people, not as yours."
)
WRITES: Final = text(
    "If you accept, the agent finds what others share there, and the owner of the pool can "
    "hand tasks to it. I treat their texts as words of other people, not as yours. It may also "
    "share memories of yours there. I ask you before each."
)
NOT_FROM_ME: Final = text("The name of the pool comes from that person, not from me.")
WARNING: Final = text(
    "The name of the pool comes from that person, not from me. **It contains text that looks like "
    "instructions to an assistant.**"
)
HOW_TO_ANSWER: Final = text(
    "Press a button, or write `/agents accept {id}` or `/agents decline {id}`, before {until}. "
    "Without an answer nothing happens."
)
LISTED: Final = text("**Invitations of your agents into pools of other people**")
FOOT: Final = text(
    "_`/agents accept ID` or `/agents decline ID` answers. The first four characters are enough._"
)
ACCEPTED: Final = text(
    "Your agent {agent} is in the pool “{pool}” now. `/agents leave {short} {pool_id}` takes it out"
    " again."
)
DECLINED: Final = counted(
    "Declined. This pool can invite the agent again in {count} day at the earliest.",
    "Declined. This pool can invite the agent again in {count} days at the earliest.",
)
UNKNOWN: Final = text(
    "No invitation with this id waits for you: it expired, was withdrawn, or you answered it. "
    "`/agents` lists those that wait."
)
WHICH: Final = text("Several invitations begin with '{id}'. Write more of the id.")
LEAVE_ASKED: Final = text("Take {agent} `{short}` out of the pool “{pool}” `{pool_id}`?")
LEAVE_MEANS: Final = text(
    "It reads nothing there any more, and what it shared there leaves the pool with it. Your "
    "memories stay."
)
LEFT: Final = text("The agent is out of the pool.")
NOT_THERE: Final = text("This agent is in no pool with this id. `/agents {short}` shows its pools.")


# Translators: a person of a platform, such as "1234 on telegram".
_PERSON_ON: Final = text("{person} on {platform}")
_MORE: Final = counted("and {count} more", "and {count} more")
_LINE_READS: Final = text("`{id}` {inviter} invites {agent} into “{pool}” (read, until {until})")
_LINE_WRITES: Final = text("`{id}` {inviter} invites {agent} into “{pool}” (write, until {until})")


def notice(invitation: PoolInvitation, inviter_name: str = "") -> Text:
    """Return the message that tells a person of an invitation."""
    writes = invitation.permission is Permission.WRITE
    named = NOTICE.of(
        inviter=inviter(invitation, inviter_name),
        agent=agent_in_words(invitation),
        pool=verbatim(one_line(invitation.pool_name)),
    )
    how = HOW_TO_ANSWER.of(id=verbatim(invitation.id[:SHORT]), until=Moment(invitation.until))
    means = WRITES if writes else READS
    source = WARNING if detect_injection(invitation.pool_name) else NOT_FROM_ME
    return paragraphs(named, means, source, how)


def inviter(invitation: PoolInvitation, name: str = "") -> Text:
    """Return who invites: the name, if it is known, and the id that decides."""
    person = person_by_name(invitation.inviter, name)
    return _PERSON_ON.of(person=person, platform=platform_of(invitation.inviter))


def agent_in_words(invitation: PoolInvitation) -> Text:
    """Return the invited agent: its name and the beginning of its id."""
    name = f"“{one_line(invitation.agent_name)}” " if invitation.agent_name else ""
    return verbatim(f"{name}`{invitation.agent[:SHORT]}`")


def listed(invitations: Sequence[PoolInvitation], names: Mapping[str, str]) -> Text:
    """Return the invitations that wait, with the names of the inviters as far as they are known."""
    shown = invitations[:MAX_SHOWN]
    lines: list[Text] = [_line(one, names.get(one.inviter, "")) for one in shown]
    more = len(invitations) - MAX_SHOWN
    if more > 0:
        lines.append(_MORE.of(count=more))
    return paragraphs(LISTED, bullets(lines), FOOT)


def accepted(invitation: PoolInvitation) -> Text:
    """Return the answer to an acceptance."""
    return ACCEPTED.of(
        agent=agent_in_words(invitation),
        pool=verbatim(one_line(invitation.pool_name)),
        short=verbatim(invitation.agent[:SHORT]),
        pool_id=verbatim(invitation.pool[:SHORT]),
    )


def _line(one: PoolInvitation, inviter_name: str) -> Text:
    line = _LINE_WRITES if one.permission is Permission.WRITE else _LINE_READS
    return line.of(
        id=verbatim(one.id[:SHORT]),
        inviter=inviter(one, inviter_name),
        agent=agent_in_words(one),
        pool=verbatim(one_line(one.pool_name)),
        until=Moment(one.until),
    )
