"""`/agents`: a person lists their agents, unregisters them, and takes back what they gave."""

from datetime import UTC, datetime
from typing import Final

from gateway.errors import BadInput
from gateway.message import Button, Reply
from gateway.people import Audience
from gateway.ports import CommandSpec
from gateway.ports.memory import Caller
from gateway.ports.rights import IN_CHAT
from memory.agents.model import AgentSummary
from memory.agents.origins import Origins
from memory.agents.overview import AgentOverview
from memory.agents.registry import EVER, AgentRegistry
from memory.commands import agent_texts, texts
from memory.commands.open_questions import VALID_FOR, Action, Question, Questions
from memory.model.scope import RequestScope, channel_of

SPEC: Final = CommandSpec(
    "agents",
    "List my agents and take back what they gave",
    True,
    "what",
    True,
    "ID, unregister ID, take-back ID, or: all",
    deletes=True,
    allowed=IN_CHAT,
)
ACTIONS: Final = ("unregister_agent", "take_back_agent")


class AgentCommands:
    """The command, in direct messages only. Raises `BadInput` and `NotFound` with words for the
    person."""

    def __init__(
        self,
        registry: AgentRegistry,
        origins: Origins,
        overview: AgentOverview,
        questions: Questions,
    ) -> None:
        self._registry = registry
        self._origins = origins
        self._overview = overview
        self._questions = questions

    async def run(self, request: RequestScope, caller: Caller, text: str) -> Reply:
        """`/agents`, `/agents ID`, `/agents unregister ID`, `/agents take-back ID [DATE]`,
        `/agents all`."""
        if caller.place.audience is not Audience.DIRECT:
            raise BadInput(texts.ONLY_PRIVATE)
        what, _, rest = text.strip().partition(" ")
        match what.casefold():
            case "":
                return Reply(agent_texts.listed(await self._overview.agents(request)))
            case "all":
                return Reply(agent_texts.all_listed(await self._overview.all_agents(request)))
            case "unregister":
                return await self._ask_to_unregister(request, caller, _id(rest))
            case "take-back":
                return await self._ask_to_take_back(request, caller, rest)
            case _ if not rest:
                agent = await self._overview.named(request, _id(what))
                return Reply(agent_texts.page(await self._overview.page(request, agent)))
            case _:
                raise BadInput(agent_texts.USAGE)

    def owns(self, question: Question) -> bool:
        """True for a question that this command asked."""
        return question.action in ACTIONS

    async def settle(self, request: RequestScope, question: Question) -> Reply:
        """Do what the person confirmed."""
        agent_id, _, since = question.target.partition(" ")
        if question.action == "unregister_agent":
            gone = await self._registry.unregister_agent(request, agent_id)
            return Reply(agent_texts.unregistered(agent_id) if gone else agent_texts.GONE)
        from_then = datetime.fromisoformat(since) if since else EVER
        taken = await self._origins.take_back(request, agent_id, from_then)
        return Reply(agent_texts.taken_back(taken))

    async def _ask_to_unregister(
        self, request: RequestScope, caller: Caller, agent_id: str
    ) -> Reply:
        agent = await self._overview.named(request, agent_id)
        if agent.agent is None:
            raise BadInput(agent_texts.GONE)
        text = agent_texts.unregister_asked(agent)
        return await self._ask(caller, "unregister_agent", agent, "Unregister", text)

    async def _ask_to_take_back(self, request: RequestScope, caller: Caller, rest: str) -> Reply:
        agent_id, _, date = rest.strip().partition(" ")
        since = _day(date.strip())
        agent = await self._overview.to_take_back(request, _id(agent_id))
        text = agent_texts.take_back_asked(agent, since)
        return await self._ask(caller, "take_back_agent", agent, "Take back", text, since)

    async def _ask(
        self,
        caller: Caller,
        action: Action,
        agent: AgentSummary,
        yes: str,
        text: str,
        since: datetime | None = None,
    ) -> Reply:
        target = agent.id if since is None else f"{agent.id} {since.isoformat()}"
        person, channel = str(caller.principal.person), channel_of(caller.place)
        question = Question(action, person, channel=channel, target=target)
        buttons: tuple[Button, Button] = await self._questions.ask(caller.id, question, yes)
        return Reply(text, buttons, buttons_until=caller.at + VALID_FOR)


def _id(text: str) -> str:
    given = text.strip().strip("`")
    if not given or " " in given:
        raise BadInput(agent_texts.USAGE)
    return given


def _day(text: str) -> datetime | None:
    """Return the beginning of a day, None for no text. Raises `BadInput`."""
    if not text:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise BadInput(agent_texts.NO_DAY.format(text=text[:40])) from None
