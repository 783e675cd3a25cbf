"""Full members of the bot's workspace, as `users.info` tells them."""

from typing import Final

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.errors import code_of, delivery_errors
from adapters.slack.event_context import is_guest
from adapters.slack.json_readers import Raw, as_mapping, identifier, mapping

NOT_THERE: Final = frozenset({"user_not_found", "user_not_visible", "users_not_found"})


async def is_member(client: AsyncWebClient, team_id: str, space: str, user: str) -> bool:
    """True when a person is a full member of the workspace `space`, which is the bot's own or none
    that can be asked about. Raises a `DeliveryError`."""
    if space != team_id:
        return False
    with delivery_errors(sends=False):
        try:
            answer = await client.users_info(user=user)
        except SlackApiError as error:
            if code_of(error) in NOT_THERE:
                return False
            raise
    return is_full_member(mapping(as_mapping(answer.data), "user"), team_id)


def is_full_member(user: Raw, team_id: str) -> bool:
    """True for the user object of somebody who works in this team: not deactivated, no guest,
    and of no other company. On Enterprise Grid a person is in several teams."""
    if user.get("deleted") is True or is_guest(user):
        return False
    teams = mapping(user, "enterprise_user").get("teams")
    several = teams if isinstance(teams, list) else []
    return bool(team_id) and (identifier(user, "team_id") == team_id or team_id in several)
