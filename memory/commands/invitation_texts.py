"""The sentences about invitations into pools. People name pools and agents, so names are
escaped."""

from collections.abc import Sequence
from typing import Final

from gateway.people import identity_of
from memory.agents.model import Permission, PoolInvitation
from memory.text.display import one_line
from safety.injection_detection.detect import detect_injection

SHORT: Final = 8
"""Characters of an id that a person types."""
MAX_SHOWN: Final = 20
"""Invitations of a list in one message."""

ACCEPT: Final = "Accept"
DECLINE: Final = "Decline"
NOTICE: Final = """\
**{inviter} invites your agent {agent} into a pool**, in which agents share memories. They call \
the pool “{pool}”.

{means}

The name of the pool comes from that person, not from me.{warning}

Press a button, or write `/agents accept {id}` or `/agents decline {id}`, before \
{until:%Y-%m-%d %H:%M} UTC. Without an answer nothing happens."""
READS: Final = (
    "If you accept, the agent finds what others share there, and the owner of the pool can hand "
    "tasks to it. The texts count as words of other people."
)
WRITES: Final = " It may also share memories of yours there. I ask you before each."
WARNING: Final = " **It contains text that looks like instructions to an assistant.**"
LISTED: Final = "**Invitations of your agents into pools of other people**"
FOOT: Final = (
    "_`/agents accept ID` or `/agents decline ID` answers. The first four characters are enough._"
)
ACCEPTED: Final = (
    "Your agent {agent} is in the pool “{pool}” now. `/agents leave {short} {pool_id}` takes it out"
    " again."
)
DECLINED: Final = "Declined. This pool can invite the agent again in {days} days at the earliest."
UNKNOWN: Final = (
    "No invitation with this id waits for you: it expired, was withdrawn, or you answered it. "
    "`/agents` lists those that wait."
)
WHICH: Final = "Several invitations begin with {id!r}. Write more of the id."
LEAVE_ASKED: Final = (
    "Take {agent} `{short}` out of the pool “{pool}” `{pool_id}`?\n\nIt reads nothing there any "
    "more, and what it shared there leaves the pool with it. Your memories stay."
)
LEFT: Final = "The agent is out of the pool."
NOT_THERE: Final = "This agent is in no pool with this id. `/agents {short}` shows its pools."


def notice(invitation: PoolInvitation) -> str:
    """Return the message that tells a person of an invitation."""
    writes = invitation.permission is Permission.WRITE
    return NOTICE.format(
        inviter=inviter(invitation),
        agent=agent_in_words(invitation),
        pool=one_line(invitation.pool_name),
        means=READS + WRITES * writes,
        warning=WARNING if detect_injection(invitation.pool_name) else "",
        id=invitation.id[:SHORT],
        until=invitation.until,
    )


def inviter(invitation: PoolInvitation) -> str:
    """Return who invites, by the id that decides."""
    identity = identity_of(invitation.inviter)
    return f"{one_line(identity.id, 60)} on {one_line(identity.platform)}"


def agent_in_words(invitation: PoolInvitation) -> str:
    """Return the invited agent: its name and the beginning of its id."""
    name = f"“{one_line(invitation.agent_name)}” " if invitation.agent_name else ""
    return f"{name}`{invitation.agent[:SHORT]}`"


def listed(invitations: Sequence[PoolInvitation]) -> str:
    """Return the invitations that wait."""
    lines = [_line(one) for one in invitations[:MAX_SHOWN]]
    more = len(invitations) - MAX_SHOWN
    if more > 0:
        lines.append(f"- and {more} more")
    return "\n".join((LISTED, "", *lines, "", FOOT))


def accepted(invitation: PoolInvitation) -> str:
    """Return the answer to an acceptance."""
    return ACCEPTED.format(
        agent=agent_in_words(invitation),
        pool=one_line(invitation.pool_name),
        short=invitation.agent[:SHORT],
        pool_id=invitation.pool[:SHORT],
    )


def _line(one: PoolInvitation) -> str:
    until = f"until {one.until:%Y-%m-%d %H:%M} UTC"
    return (
        f"- `{one.id[:SHORT]}` {inviter(one)} invites {agent_in_words(one)} into "
        f"“{one_line(one.pool_name)}” ({one.permission.value}, {until})"
    )
