"""REST: who the bot is, its application and commands, where the gateway is, and the CDN."""

from collections.abc import Callable
from time import time

from aiohttp import web

from simulators.discord.announcer import Announcer
from simulators.discord.errors import (
    MISSING_ACCESS,
    UNKNOWN_APPLICATION,
    UNKNOWN_GUILD,
    UNKNOWN_MEMBER,
    UNKNOWN_USER,
    refuse,
)
from simulators.discord.payloads import application_json, member_json, user_json
from simulators.discord.requests import API, json_answer, read_json
from simulators.discord.validate import check_commands
from simulators.discord.world import World


class AccountRoutes:
    """Everything that is not a channel's."""

    def __init__(
        self,
        world: World,
        announcer: Announcer,
        message_content: Callable[[], bool],
        server_members: Callable[[], bool],
    ) -> None:
        self._world = world
        self._announcer = announcer
        self._message_content = message_content
        self._server_members = server_members

    def add_to(self, app: web.Application) -> None:
        """Serve the routes."""
        commands = API + "/applications/{app}/commands"
        guild_commands = API + "/applications/{app}/guilds/{guild}/commands"
        app.router.add_get(API + "/users/@me", self.me)
        app.router.add_get(API + "/users/@me/guilds", self.guilds)
        app.router.add_get(API + "/users/{user}", self.user)
        app.router.add_get(API + "/guilds/{guild}", self.guild)
        app.router.add_get(API + "/guilds/{guild}/members/{user}", self.member)
        app.router.add_get(API + "/oauth2/applications/@me", self.application)
        app.router.add_get(API + "/applications/@me", self.application)
        app.router.add_get(API + "/gateway", self.gateway)
        app.router.add_get(API + "/gateway/bot", self.gateway_bot)
        for path in (commands, guild_commands):
            app.router.add_get(path, self.show_commands)
            app.router.add_put(path, self.set_commands)
        app.router.add_get("/attachments/{channel}/{id}/{name}", self.attachment)
        app.router.add_get("/avatars/{user}/{name}", self.portrait)

    async def me(self, _: web.Request) -> web.Response:
        """GET /users/@me."""
        return json_answer(user_json(self._world.bot) | {"verified": True, "flags": 0})

    async def guilds(self, _: web.Request) -> web.Response:
        """GET /users/@me/guilds."""
        about = {"id": self._world.guild_id, "name": "Simulated server", "owner": False}
        return json_answer([about | {"permissions": str(self._world.bot_permissions)}])

    async def guild(self, request: web.Request) -> web.Response:
        """GET /guilds/{guild}."""
        if request.match_info["guild"] != self._world.guild_id:
            raise refuse(UNKNOWN_GUILD)
        about = {"id": self._world.guild_id, "name": "Simulated server"}
        described = {"description": self._world.description or None}
        return json_answer(about | described | {"owner_id": self._world.owner.id})

    async def user(self, request: web.Request) -> web.Response:
        """GET /users/{user}."""
        user = self._world.users.get(request.match_info["user"])
        if user is None:
            raise refuse(UNKNOWN_USER)
        return json_answer(user_json(user))

    async def portrait(self, request: web.Request) -> web.Response:
        """GET of the picture of a person on the CDN; nobody needs a token for it."""
        user = self._world.users.get(request.match_info["user"])
        if user is None or user.portrait is None:
            return web.Response(status=404)
        if request.match_info["name"] != f"{user.avatar}.png":
            return web.Response(status=404)
        return web.Response(body=user.portrait.data, content_type=user.portrait.mime)

    async def member(self, request: web.Request) -> web.Response:
        """GET /guilds/{guild}/members/{user}."""
        if request.match_info["guild"] != self._world.guild_id:
            raise refuse(UNKNOWN_GUILD)
        user = self._world.users.get(request.match_info["user"])
        if user is None:
            raise refuse(UNKNOWN_USER)
        if user.id in self._world.gone:
            raise refuse(UNKNOWN_MEMBER)
        return json_answer(member_json(self._world, user))

    async def application(self, _: web.Request) -> web.Response:
        """GET /oauth2/applications/@me."""
        content, members = self._message_content(), self._server_members()
        application = application_json(self._world, message_content=content, server_members=members)
        return json_answer(application)

    async def gateway(self, request: web.Request) -> web.Response:
        """GET /gateway."""
        return json_answer({"url": f"ws://{request.host}/gateway"})

    async def gateway_bot(self, request: web.Request) -> web.Response:
        """GET /gateway/bot."""
        limit = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
        url = f"ws://{request.host}/gateway"
        return json_answer({"url": url, "shards": 1, "session_start_limit": limit})

    async def show_commands(self, request: web.Request) -> web.Response:
        """GET of the commands, global or of one server."""
        return json_answer(self._commands(request))

    async def set_commands(self, request: web.Request) -> web.Response:
        """PUT: the given commands replace all others."""
        commands = self._commands(request)
        new = check_commands(await read_json(request))
        guild = request.match_info.get("guild")
        known = {command["name"]: command for command in commands}
        commands[:] = [
            {
                "id": known.get(c["name"], {}).get("id") or self._world.next_id(),
                "application_id": self._world.application_id,
                "version": self._world.next_id(),
                "type": 1,
                "default_member_permissions": None,
                "nsfw": False,
                "contexts": None if guild else [0, 1, 2],
                "integration_types": [0],
            }
            | c
            | ({"guild_id": guild} if guild else {})
            for c in new
        ]
        return json_answer(commands)

    def _commands(self, request: web.Request) -> list[dict[str, object]]:
        if request.match_info["app"] != self._world.application_id:
            raise refuse(UNKNOWN_APPLICATION)
        guild = request.match_info.get("guild")
        if guild is None:
            return self._world.commands
        if guild != self._world.guild_id:
            raise refuse(MISSING_ACCESS)
        return self._world.guild_commands

    async def attachment(self, request: web.Request) -> web.Response:
        """GET of a file on the CDN; nobody needs a token for it, and its address expires."""
        if int(request.query.get("ex", "0"), 16) <= time() + self._world.later:
            return web.Response(status=404, text="This content is no longer available.")
        channel = self._world.channels.get(request.match_info["channel"])
        for message in channel.messages.values() if channel else ():
            for file in message.files:
                if file.id == request.match_info["id"]:
                    return web.Response(body=file.data, content_type=file.mime.split(";")[0])
        return web.Response(status=404, text="This content is no longer available.")
