"""A bare echo bot for WhatsApp with aiohttp: a webhook, and a request for each answer."""

import json
import sys

import aiohttp
from aiohttp import web

from adapters.shared.signatures import verify_whatsapp
from adapters.whatsapp.manifest import API_VERSION


class Echo:
    """Answers Meta's requests. `section` is `platforms.whatsapp`."""

    def __init__(self, section: dict[str, str], session: aiohttp.ClientSession) -> None:
        self._section = section
        self._session = session
        number = section["phone_number_id"]
        self._url = f"{section['base_url']}/{API_VERSION}/{number}/messages"

    async def handshake(self, request: web.Request) -> web.Response:
        """Repeat the challenge."""
        if request.query.get("hub.verify_token") != self._section["verify_token"]:
            return web.Response(status=403)
        return web.Response(text=request.query["hub.challenge"])

    async def receive(self, request: web.Request) -> web.Response:
        """Repeat each message of a signed request, then confirm the request."""
        body = await request.read()
        signature = request.headers.get("X-Hub-Signature-256", "")
        if not verify_whatsapp(body, signature, self._section["app_secret"]):
            return web.Response(status=401)
        for entry in json.loads(body)["entry"]:
            for change in entry["changes"]:
                for message in change["value"].get("messages", ()):
                    await self._send(message["from"], message["text"]["body"])
        return web.Response()

    async def _send(self, to: str, text: str) -> None:
        answer = {
            "messaging_product": "whatsapp",
            "to": to,
            "type": "text",
            "text": {"body": text},
        }
        async with self._session.post(self._url, json=answer) as response:
            response.raise_for_status()
            await response.read()


async def application(section: dict[str, str]) -> web.Application:
    """The webhook, at the address where Parley has its own."""
    token = section["access_token"]
    session = aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"})
    echo = Echo(section, session)
    app = web.Application()
    app.router.add_get("/webhook/whatsapp", echo.handshake)
    app.router.add_post("/webhook/whatsapp", echo.receive)
    return app


def main() -> None:
    """Command line."""
    section, port = json.loads(sys.argv[1]), int(sys.argv[2])
    web.run_app(
        application(section), host="127.0.0.1", port=port, access_log=None, print=lambda _: None
    )


if __name__ == "__main__":
    main()
