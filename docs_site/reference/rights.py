"""The reference of rights, made from what each route, operation, tool and command declares."""

from collections.abc import Iterable, Iterator
from typing import Final

from docs_site.reference.tables import code, table
from gateway.commands.catalogue import APPROVE, CATCHUP, COMMANDS, CONSOLE
from gateway.people import Role
from gateway.ports.action import Action
from gateway.ports.rights import AGENT_READS, LOCAL_PAGES, OPEN, Allowed, Credential, in_person
from memory.actions import agents, documents, memories, pools, privacy, reviews
from memory.commands.command_set import SPECS
from memory.knowledge.skills.agent_skills import read_skills
from memory.mcp.names import PREFIX as MCP
from memory.mcp.resources import LISTED, TEMPLATES
from memory.mcp.server import ALL_TOOLS, PROMPTS
from parley.console.routes import ROUTES
from parley.console.sessions import PREFIX as CONSOLE_PATH
from parley.http.api import PREFIX as API
from parley.http.api import personal_data
from parley.http.api.addresses import OPERATIONS
from parley.http.api.app import DESCRIPTION
from parley.http.api.events import PATH as EVENTS

AREAS: Final = {
    "documents": documents,
    "memories": memories,
    "reviews": reviews,
    "privacy": privacy,
    "personal_data": personal_data,
    "agents": agents,
    "pools": pools,
}
"""The modules with actions."""
_HEAD: Final = """\
# Rights

Who may call what: each row is what the program declares, and what it checks before anything of a
request acts. What has no declaration is not served. A test of the running program calls each of
them with each kind of credential.
[Give a program a token](../how-to/give-a-program-a-token.md#tokens) explains tokens.

- **session**: a browser in which a person
  [signed in to the console](../how-to/open-the-console.md#sign-in). A request that changes
  something also needs the token of the session's own forms.
- **token**: a token of a person (`parley token`), with the scope in the table: `read` or `write`.
- **agent**: a token of one agent (`parley token --agent`), with the scope of the row and the
  capability beside it. Where it is not named, a token of an agent is refused.
- **chat**: a message of a person, which their platform vouches for.
- **local**: `server.token` or its cookie; without a configured token, a request from this machine.
- **everybody**: whoever reaches the port.

The role is the least one: an owner may do what an operator may. Where there is none,
every person with the credential may.
"""
_ACTIONS: Final = """
## Actions

An action is a use case that several interfaces offer. It declares its rights once and checks them
itself; an address of it, in the tables below, can take fewer credentials, and no others.
"""
_CONSOLE: Final = """
## Console

The pages below `/console` take a session, and no token. The same paths below `/api/v1/console`
answer as JSON, and take what the table says; there, the token of the forms is in the header
`X-CSRF-Token`. A request that has a token as well as a session counts as one with a token.
"""
_API: Final = f"""
## HTTP API

Below `{API}`, except `{EVENTS}`.
"""
_MCP: Final = f"""
## MCP

`{MCP}` takes the token of a person or of an agent; any scope may list tools, resources and prompts.
A tool that an agent calls, with its own token or under its id, also needs the capability.
"""
_CHAT: Final = """
## Commands

A command is a message of a person in a chat. Some commands have a rule of their own for what they
change: the notes of a project, for example, are a proposal of somebody who is no operator.
"""
_PAGES: Final = """
## Local pages

The other paths of the local listener.
"""
_HOOKS: Final = """
## Webhooks

The public listener serves these paths. A platform proves itself by the header, which is checked
against the body or the configured secret; a GET is the handshake of the platform.
"""
_FIXED: Final = (
    ("GET /console/", OPEN, "Leads to the overview"),
    ("GET /console/sign-in", OPEN, "The page of a login link"),
    ("POST /console/sign-in", OPEN, "Uses a login link"),
    ("POST /console/sign-out", OPEN, "Ends the session of this browser"),
    ("GET /console/events", in_person(Role.GUEST), "Which topics of the open page changed"),
    (
        "GET /console/conversations/{id}/pictures/{number}",
        in_person(Role.GUEST),
        "A picture of a message whose text the person may read",
    ),
    (
        "GET /console/person/picture",
        in_person(Role.GUEST),
        "The picture of a person whose name the person may see",
    ),
    ("GET /console/static/…", OPEN, "Scripts, styles and pictures of the pages"),
)
_LOCAL: Final = (
    ("GET /", OPEN, "Leads to the console, or else to the web page"),
    ("GET /docs", OPEN, "Leads to the documentation"),
    ("GET /docs/", OPEN, "The first page of the documentation"),
    ("GET /docs/{a}", OPEN, "A page, a picture or the style of the documentation"),
    ("GET /docs/{a}/{b}", OPEN, "The same in a folder"),
    ("GET /docs/{a}/{b}/{c}", OPEN, "The same in a folder below it"),
    ("GET /healthz", OPEN, "Is the process alive"),
    ("GET /readyz", OPEN, "Is the program ready; the parts only with access"),
    ("GET /metrics", LOCAL_PAGES, "Metrics"),
    ("POST /page-links", LOCAL_PAGES, "New login links of the local pages (`parley page`)"),
    ("GET /log-in", OPEN, "The page of a login link, where there is a token"),
    ("GET /log-in/log_in.js", OPEN, "Its script"),
    ("POST /log-in", OPEN, "Uses a login link"),
    ("GET /chat", LOCAL_PAGES, "The web page"),
    ("GET /chat/", LOCAL_PAGES, "The web page"),
    ("GET /chat/assets/{name}", LOCAL_PAGES, "Scripts and styles of the web page"),
    ("GET /chat/api/chats", LOCAL_PAGES, "Conversations of this browser"),
    ("GET /chat/api/history", LOCAL_PAGES, "Messages of this browser"),
    ("GET /chat/api/events", LOCAL_PAGES, "New messages"),
    ("POST /chat/api/actions", LOCAL_PAGES, "Writes a message"),
    ("POST /chat/api/files", LOCAL_PAGES, "Sends a file"),
    ("GET /chat/api/files/{id}", LOCAL_PAGES, "A file of this browser"),
)
_HEADERS: Final = (
    ("/webhook/slack", "X-Slack-Signature"),
    ("/webhook/telegram", "X-Telegram-Bot-Api-Secret-Token"),
    ("/webhook/whatsapp", "X-Hub-Signature-256"),
)


def rights() -> str:
    """The page as Markdown."""
    return "\n".join([_HEAD, *_actions(), *_http(), *_mcp(), *_chat(), *_listeners()]) + "\n"


def _actions() -> Iterator[str]:
    yield _ACTIONS
    rows = [
        (code(f"{area}.{one.name}"), _by(one.allowed), _role(one.allowed), one.effect, one.summary)
        for area, actions in AREAS.items()
        for one in vars(actions).values()
        if isinstance(one, Action)
    ]
    yield from table(("Action", "Credentials", "Role", "Effect", "Purpose"), rows)


def _http() -> Iterator[str]:
    yield from (_CONSOLE, *_requests(_FIXED))
    yield ""
    yield from _requests(
        (f"{one.method} {CONSOLE_PATH}{one.path}", one.allowed, str(one.summary)) for one in ROUTES
    )
    yield _API
    operations = [(f"{one.method} {API}{one.path}", one.allowed, one.summary) for one in OPERATIONS]
    yield from _requests(
        [
            *operations,
            (f"GET {API}/openapi.json", DESCRIPTION, "The description of the API"),
            (f"GET {EVENTS}/", AGENT_READS, "Events of agents"),
        ]
    )


def _mcp() -> Iterator[str]:
    yield _MCP
    rows = [
        (code(one.name), *_by_token(one.allowed), one.allowed.capability, one.title)
        for one in ALL_TOOLS
    ]
    names = ("Scope", "Token of an agent", "Capability of the agent")
    yield from table(("Tool", *names, "Purpose"), rows)
    yield ""
    resources = [
        (code(one.uri), *_by_token(one.allowed), one.allowed.capability, one.title)
        for one in (*LISTED, *TEMPLATES)
    ]
    yield from table(("Resource", *names, "Content"), resources)
    yield ""
    prompts = [(code(one.name), *_by_token(PROMPTS), "", one.title) for one in read_skills()]
    yield from table(("Prompt", *names, "Content"), prompts)


def _chat() -> Iterator[str]:
    yield _CHAT
    commands = (*COMMANDS, CATCHUP, APPROVE, *SPECS, CONSOLE)
    rows = [(code(f"/{one.name}"), _role(one.allowed), str(one.description)) for one in commands]
    yield from table(("Command", "Role", "Purpose"), rows)


def _listeners() -> Iterator[str]:
    yield from (_PAGES, *_requests(_LOCAL))
    yield _HOOKS
    yield from table(("Path", "Header"), [(code(path), code(name)) for path, name in _HEADERS])


def _requests(rows: Iterable[tuple[str, Allowed, str]]) -> list[str]:
    shown = [(code(name), _by(allowed), _role(allowed), text) for name, allowed, text in rows]
    return table(("Request", "Credentials", "Role", "Purpose"), shown)


def _by(allowed: Allowed) -> str:
    names = {
        Credential.SESSION: "session",
        Credential.TOKEN: f"token (`{allowed.scope}`)",
        Credential.AGENT: f"agent (`{allowed.capability}`)" if allowed.capability else "agent",
        Credential.CHAT: "chat",
        Credential.LOCAL: "local",
        Credential.NONE: "everybody",
    }
    return ", ".join(text for credential, text in names.items() if credential in allowed.by)


def _by_token(allowed: Allowed) -> tuple[str, str]:
    """The scope that a token needs, and if a token of an agent is enough."""
    return code(allowed.scope or ""), "yes" if Credential.AGENT in allowed.by else "no"


def _role(allowed: Allowed) -> str:
    return "" if allowed.role is Role.GUEST else allowed.role.value
