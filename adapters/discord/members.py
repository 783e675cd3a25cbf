"""Membership of a server, asked of Discord.

GET /guilds/{guild}/members/{user} needs no privileged intent, unlike the event of a departure.
"""

from typing import Final

from discord.http import Route

from adapters.discord.api import Api, RequestRefused
from adapters.discord.json_readers import integer
from adapters.discord.message_text import GUEST

NOT_THERE: Final = frozenset({10_004, 10_007, 10_013, 50_001})
"""Unknown guild, unknown member, unknown user, missing access: the bot is not in the server."""


async def is_member(api: Api, guild_id: str, user_id: str) -> bool:
    """True when the person is a full member. Raises a `DeliveryError`."""
    if not (guild_id.isdecimal() and user_id.isdecimal()):
        return False
    route = Route("GET", "/guilds/{guild_id}/members/{user_id}", guild_id=guild_id, user_id=user_id)
    try:
        member = await api.call(route)
    except RequestRefused as refusal:
        if refusal.code in NOT_THERE:
            return False
        raise
    return not (integer(member.get("flags")) or 0) & GUEST
