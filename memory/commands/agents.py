"""`/agents`: a person lists their agents and answers invitations of them, unregisters them, and
takes back what they gave."""

from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import Reply
from gateway.people import Audience
from gateway.ports import CommandSpec
from gateway.ports.memory import Caller
from gateway.ports.rights import IN_CHAT
from gateway.text import Text, described, label, verbatim
from memory.agents.overview import LEAST, AgentOverview, Origins
from memory.agents.registry import EVER, AgentRegistry
from memory.agents.stores.direct_places import NamesOf
from memory.commands import agent_texts, invitation_texts, texts
from memory.commands.invitations import InvitationCommands
from memory.commands.open_questions import VALID_FOR, Action, OpenQuestion, Questions
from memory.model.scope import RequestScope, channel_of
from memory.text.display import paragraphs

SPEC: Final = CommandSpec(
    "agents",
    described("List your agents, answer their invitations, take back what they gave"),
    True,
    "what",
    True,
    described("ID; accept ID, decline ID, leave ID POOL, unregister ID, take-back ID; or: all"),
    deletes=True,
    allowed=IN_CHAT,
)
LEAVE: Final = label("Leave the pool")
UNREGISTER: Final = label("Unregister")
TAKE_BACK: Final = label("Take back")
ACTIONS: Final = ("unregister_agent", "take_back_agent", "leave_pool")


class AgentCommands(Struct, frozen=True):
    """The command, in direct messages only. Raises `BadInput` and `NotFound` with words for the
    person."""

    registry: AgentRegistry
    origins: Origins
    overview: AgentOverview
    invitations: InvitationCommands
    questions: Questions
    names: NamesOf
    """The display names of people."""

    async def run(self, request: RequestScope, caller: Caller, text: str) -> Reply:
        """`/agents`, `/agents ID`, `/agents accept ID`, `/agents decline ID`, `/agents leave ID
        POOL`, `/agents unregister ID`, `/agents take-back ID [DATE]`, `/agents all`."""
        if caller.place.audience is not Audience.DIRECT:
            raise BadInput(texts.ONLY_PRIVATE)
        what, _, rest = text.strip().partition(" ")
        match what.casefold():
            case "":
                return await self._listed(request)
            case "all":
                return await self._all_listed(request)
            case "accept" | "decline" as answer:
                return await self.invitations.answer(request, answer, rest)
            case "leave":
                return await self._ask_to_leave(request, caller, rest)
            case "unregister":
                return await self._ask_to_unregister(request, caller, _id(rest))
            case "take-back":
                return await self._ask_to_take_back(request, caller, rest)
            case _ if not rest:
                agent = await self.overview.named(request, _id(what))
                return Reply(agent_texts.page(await self.overview.page(request, agent)))
            case _:
                raise BadInput(agent_texts.USAGE)

    async def press(self, request: RequestScope, caller: Caller, value: str) -> Reply:
        """Handle a button under an invitation."""
        return await self.invitations.press(request, caller, value)

    def owns(self, question: OpenQuestion) -> bool:
        """True for a question that this command asked."""
        return question.action in ACTIONS

    async def settle(self, request: RequestScope, question: OpenQuestion) -> Reply:
        """Do what the person confirmed."""
        agent_id, _, since = question.target.partition(" ")
        if question.action == "leave_pool":
            return await self.invitations.leave(request, since, agent_id)
        if question.action == "unregister_agent":
            gone = await self.registry.unregister_agent(request, agent_id)
            return Reply(agent_texts.unregistered(agent_id) if gone else agent_texts.GONE)
        from_then = datetime.fromisoformat(since) if since else EVER
        taken = await self.origins.take_back(request, agent_id, from_then)
        return Reply(agent_texts.taken_back(taken))

    async def _listed(self, request: RequestScope) -> Reply:
        """Return the agents, below the invitations that wait."""
        shown = agent_texts.listed(await self.overview.agents(request))
        waits = await self.invitations.waiting(request)
        return (
            Reply(shown)
            if waits is None
            else replace(waits, markdown=paragraphs(waits.markdown, shown))
        )

    async def _all_listed(self, request: RequestScope) -> Reply:
        """Return the agents of everybody, for operators."""
        agents = await self.overview.all_agents(request)
        shown = [one.agent.owner for one in agents[: agent_texts.MAX_SHOWN] if one.agent]
        names = await self.names(request.principal.tenant, sorted(set(shown)))
        return Reply(agent_texts.all_listed(agents, names))

    async def _ask_to_leave(self, request: RequestScope, caller: Caller, rest: str) -> Reply:
        agent_id, _, pool_id = rest.strip().partition(" ")
        agent, pool_id = await self.overview.named(request, _id(agent_id)), _id(pool_id)
        pools = (await self.overview.page(request, agent)).memberships
        found = [one for one in pools if len(pool_id) >= LEAST and one.pool.startswith(pool_id)]
        if len(found) != 1:
            raise BadInput(
                invitation_texts.NOT_THERE.of(short=verbatim(agent.id[: agent_texts.SHORT]))
            )
        text = agent_texts.leave_asked(agent, found[0])
        target = f"{agent.id} {found[0].pool}"
        return await self._ask(caller, "leave_pool", target, LEAVE, text)

    async def _ask_to_unregister(
        self, request: RequestScope, caller: Caller, agent_id: str
    ) -> Reply:
        agent = await self.overview.named(request, agent_id)
        if agent.agent is None:
            raise BadInput(agent_texts.GONE)
        text = agent_texts.unregister_asked(agent)
        return await self._ask(caller, "unregister_agent", agent.id, UNREGISTER, text)

    async def _ask_to_take_back(self, request: RequestScope, caller: Caller, rest: str) -> Reply:
        agent_id, _, date = rest.strip().partition(" ")
        since = _day(date.strip())
        agent = await self.overview.to_take_back(request, _id(agent_id))
        text = agent_texts.take_back_asked(agent, since)
        target = agent.id if since is None else f"{agent.id} {since.isoformat()}"
        return await self._ask(caller, "take_back_agent", target, TAKE_BACK, text)

    async def _ask(
        self, caller: Caller, action: Action, target: str, yes: Text, text: Text
    ) -> Reply:
        person, channel = str(caller.principal.person), channel_of(caller.place)
        question = OpenQuestion(action, person, channel=channel, target=target)
        buttons = await self.questions.ask(caller.id, question, yes)
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
        raise BadInput(agent_texts.NO_DAY.of(text=verbatim(text[:40]))) from None
